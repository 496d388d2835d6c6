//! The result of `methods`: every zero-shot method, with its settings and where it was published.

use bidilel::method::{Kind, METHODS, MethodInfo};
use serde::Serialize;

use crate::{Align, Table};

/// The object that `methods --format json` prints.
#[derive(Debug, Clone, Serialize)]
pub struct MethodList {
    /// Every method.
    pub methods: Vec<ListedMethod>,
}

/// One method.
#[derive(Debug, Clone, Serialize)]
pub struct ListedMethod {
    /// Its name.
    pub name: String,
    /// Year of publication.
    pub year: u16,
    /// Whether it uses the test instances as a batch.
    pub kind: Kind,
    /// Where it was published.
    pub reference: &'static str,
    /// Names of its settings.
    pub settings: Vec<&'static str>,
}

impl MethodList {
    /// Lists the methods of the library.
    #[expect(clippy::new_without_default, reason = "a list of constants has no default to differ from")]
    pub fn new() -> Self {
        let method = |info: &MethodInfo| {
            let MethodInfo { name, year, kind, reference } = *info;
            let settings = info.settings().map(|row| row.name).collect();
            ListedMethod { name: name.to_string(), year, kind, reference, settings }
        };
        Self { methods: METHODS.iter().map(method).collect() }
    }

    /// One row per method.
    pub fn table(&self) -> Table {
        let mut table = Table::new(&[
            ("method", Align::Left),
            ("year", Align::Right),
            ("kind", Align::Left),
            ("settings", Align::Left),
            ("reference", Align::Left),
        ]);
        for ListedMethod { name, year, kind, reference, settings } in &self.methods {
            let settings: Vec<String> = settings.iter().map(|name| name.replace('_', "-")).collect();
            table.push(vec![
                name.clone(),
                year.to_string(),
                kind.to_string(),
                settings.join(", "),
                (*reference).to_owned(),
            ]);
        }
        table
    }
}
