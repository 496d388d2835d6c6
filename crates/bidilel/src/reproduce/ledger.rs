//! Where finished computations are kept: values by the key of everything that they depend on.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, Result};

/// Finished computations. Methods may be called from several threads.
pub trait Ledger: Sync {
    /// What was kept under a key.
    fn recall(&self, key: &str) -> Option<Value>;

    /// Keeps a value.
    ///
    /// # Errors
    /// [`Error::Journal`] where it cannot be kept: going on would lose work.
    fn keep(&self, key: &str, value: &Value) -> Result<()>;
}

/// A ledger for as long as the program runs.
#[derive(Debug, Default)]
pub struct Memory {
    kept: Mutex<HashMap<String, Value>>,
}

impl Memory {
    /// A ledger that begins with these entries.
    pub fn with(entries: impl IntoIterator<Item = (String, Value)>) -> Self {
        Self { kept: Mutex::new(entries.into_iter().collect()) }
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.kept().len()
    }

    /// Whether nothing was kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All entries, for tests.
    #[cfg(test)]
    pub(super) fn kept_entries(&self) -> Vec<(String, Value)> {
        let mut all: Vec<(String, Value)> = self.kept().clone().into_iter().collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<String, Value>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ledger for Memory {
    fn recall(&self, key: &str) -> Option<Value> {
        self.kept().get(key).cloned()
    }

    fn keep(&self, key: &str, value: &Value) -> Result<()> {
        self.kept().insert(key.to_owned(), value.clone());
        Ok(())
    }
}

/// A value from the ledger, or computed and kept.
pub(super) fn known_or<T: Serialize + DeserializeOwned>(
    ledger: &dyn Ledger,
    key: &str,
    compute: impl FnOnce() -> Result<T>,
) -> Result<T> {
    // An entry of another form is of an older program: it is computed again.
    if let Some(known) = ledger.recall(key).and_then(|value| serde_json::from_value(value).ok()) {
        return Ok(known);
    }
    let found = compute()?;
    let value = serde_json::to_value(&found).map_err(|cause| Error::Unreadable { cause })?;
    ledger.keep(key, &value)?;
    // What a resumed run reads is what this one goes on with, bit by bit.
    serde_json::from_value(value).map_err(|cause| Error::Unreadable { cause })
}
