//! `bidilel methods`: the zero-shot methods that `--method` names.

use anyhow::Result;
use bidilel::method::{Kind, METHODS, MethodInfo};
use bidilel_report::{Align, Format, Table};
use serde::Serialize;

use crate::output;

/// The object that scripts read.
#[derive(Serialize)]
struct Methods {
    methods: Vec<Method>,
}

#[derive(Serialize)]
struct Method {
    name: String,
    year: u16,
    kind: Kind,
    reference: &'static str,
    settings: Vec<&'static str>,
}

impl Method {
    fn new(info: &MethodInfo) -> Self {
        let MethodInfo { name, year, kind, reference } = *info;
        let settings = info.settings().map(|row| row.name).collect();
        Self { name: name.to_string(), year, kind, reference, settings }
    }
}

pub(super) fn run(format: Format) -> Result<()> {
    let methods: Vec<Method> = METHODS.iter().map(Method::new).collect();
    if format == Format::Json {
        return output::print_json(&Methods { methods });
    }
    let mut table = Table::new(&[
        ("method", Align::Left),
        ("year", Align::Right),
        ("kind", Align::Left),
        ("settings", Align::Left),
        ("reference", Align::Left),
    ]);
    for Method { name, year, kind, reference, settings } in methods {
        let kind = match kind {
            Kind::Inductive => "inductive",
            Kind::Transductive => "transductive",
        };
        let settings: Vec<String> = settings.iter().map(|name| name.replace('_', "-")).collect();
        table.push(vec![name, year.to_string(), kind.to_owned(), settings.join(", "), reference.to_owned()]);
    }
    output::print_table(&table, format)
}
