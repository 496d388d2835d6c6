//! What a column holds.

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::schema::types::ColumnDescriptor;

use crate::array::Element;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Numbers(Element),
    Strings,
    Other,
}

pub(super) fn content(column: &ColumnDescriptor) -> Content {
    let logical = column.logical_type_ref();
    let unsigned = matches!(
        column.converted_type(),
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
    ) || matches!(logical, Some(LogicalType::Integer(integer)) if !integer.is_signed);
    let plain = matches!(logical, None | Some(LogicalType::Integer(_)));
    let dated = matches!(
        column.converted_type(),
        ConvertedType::DECIMAL
            | ConvertedType::DATE
            | ConvertedType::TIME_MILLIS
            | ConvertedType::TIME_MICROS
            | ConvertedType::TIMESTAMP_MILLIS
            | ConvertedType::TIMESTAMP_MICROS
    );
    match column.physical_type() {
        Type::BOOLEAN => Content::Numbers(Element::Bool),
        Type::FLOAT => Content::Numbers(Element::F32),
        Type::DOUBLE => Content::Numbers(Element::F64),
        // Dates and prices are integers that mean something else.
        Type::INT32 if plain && !dated => {
            Content::Numbers(if unsigned { Element::U32 } else { Element::I32 })
        }
        Type::INT64 if plain && !dated => {
            Content::Numbers(if unsigned { Element::U64 } else { Element::I64 })
        }
        Type::FIXED_LEN_BYTE_ARRAY
            if column.type_length() == 2 && matches!(logical, Some(LogicalType::Float16)) =>
        {
            Content::Numbers(Element::F16)
        }
        Type::BYTE_ARRAY if matches!(logical, None | Some(LogicalType::String | LogicalType::Enum)) => {
            Content::Strings
        }
        _ => Content::Other,
    }
}
