//! What a dataset holds, by the type of its elements and by what MATLAB notes on it.

use hdf5_pure::{AttrValue, Dataset, Datatype, DatatypeByteOrder};

use crate::array::{ByteOrder, Element};

/// What is in a dataset or group, as far as it can be used here.
pub(super) enum Content {
    Numbers(Element, ByteOrder),
    /// HDF5's own strings.
    Strings,
    /// MATLAB's matrix of characters.
    Characters,
    /// MATLAB's cell array.
    Cells,
    Group,
    /// Not read here, and why.
    Other(String),
}

pub(super) fn content(datatype: &Datatype) -> Content {
    let other = |what: &str| Content::Other(what.to_owned());
    match datatype {
        Datatype::FixedPoint { size, byte_order, layout } => {
            let element = match (size, layout.signed) {
                _ if u64::from(layout.bit_precision) != 8 * u64::from(*size) => {
                    return other("an integer with unused bits");
                }
                (1, true) => Element::I8,
                (2, true) => Element::I16,
                (4, true) => Element::I32,
                (8, true) => Element::I64,
                (1, false) => Element::U8,
                (2, false) => Element::U16,
                (4, false) => Element::U32,
                (8, false) => Element::U64,
                _ => return other("an integer of an unusual size"),
            };
            numbers(element, *byte_order)
        }
        Datatype::FloatingPoint { size, byte_order, layout } => {
            match (size, layout.exponent_size, layout.mantissa_size) {
                (2, 5, 10) => numbers(Element::F16, *byte_order),
                (4, 8, 23) => numbers(Element::F32, *byte_order),
                (8, 11, 52) => numbers(Element::F64, *byte_order),
                _ => other("a float of an unusual size"),
            }
        }
        // The way in which h5py writes booleans.
        Datatype::Enumeration { size: 1, members, .. } if members.len() == 2 => {
            Content::Numbers(Element::Bool, ByteOrder::NATIVE)
        }
        Datatype::String { .. } | Datatype::VariableLength { is_string: true, .. } => Content::Strings,
        Datatype::Compound { .. } => other("an array of records or complex numbers"),
        Datatype::Reference { .. } => other("an array of references"),
        _ => other("an array of neither numbers nor strings"),
    }
}

fn numbers(element: Element, byte_order: DatatypeByteOrder) -> Content {
    match byte_order {
        DatatypeByteOrder::LittleEndian => Content::Numbers(element, ByteOrder::Little),
        DatatypeByteOrder::BigEndian => Content::Numbers(element, ByteOrder::Big),
        DatatypeByteOrder::Vax => Content::Other("a VAX number".to_owned()),
    }
}

/// The class that MATLAB notes on a dataset says more than the type of its elements.
pub(super) fn matlab_content(dataset: &Dataset) -> Result<Content, hdf5_pure::Error> {
    let attributes = dataset.attrs()?;
    let class = attributes.get("MATLAB_class").and_then(AttrValue::as_str);
    let plain = content(&dataset.datatype()?);
    Ok(match (class, plain) {
        (Some("char"), Content::Numbers(..)) => Content::Characters,
        (Some("cell"), _) => Content::Cells,
        (Some("logical"), Content::Numbers(Element::U8, order)) => Content::Numbers(Element::Bool, order),
        (
            None
            | Some(
                "double" | "single" | "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32"
                | "uint64" | "logical",
            ),
            plain,
        ) => plain,
        (Some(class), _) => Content::Other(format!("a MATLAB object of class `{class}`")),
    })
}

/// MATLAB stores the sizes of an empty array in its place.
pub(super) fn is_empty(dataset: &Dataset) -> Result<bool, hdf5_pure::Error> {
    Ok(dataset.attrs()?.contains_key("MATLAB_empty"))
}
