//! Failures of the library as exceptions, in the program's words.

use std::io;

use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyValueError};

/// What can go wrong in a computation.
#[derive(Debug)]
pub(crate) enum Failure {
    /// In the library.
    Library(bidilel::Error),
    /// In a file.
    Data(bidilel_data::Error),
    /// Where the program opens a dataset.
    Program(anyhow::Error),
}

impl From<bidilel::Error> for Failure {
    fn from(error: bidilel::Error) -> Self {
        Self::Library(error)
    }
}

impl From<bidilel_math::Error> for Failure {
    fn from(error: bidilel_math::Error) -> Self {
        Self::Program(error.into())
    }
}

impl From<bidilel_data::Error> for Failure {
    fn from(error: bidilel_data::Error) -> Self {
        Self::Data(error)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Program(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let error: anyhow::Error = match failure {
            Failure::Library(bidilel::Error::Cancelled) => return PyKeyboardInterrupt::new_err(()),
            // Python names settings as the library does, with underscores.
            Failure::Library(bidilel::Error::Setting { setting, expected, found }) => {
                return PyValueError::new_err(format!("{setting} must be {expected}, found {found}"));
            }
            Failure::Library(error) => {
                let hint = error.hint();
                return worded(&error.into(), hint);
            }
            Failure::Data(error) => error.into(),
            Failure::Program(error) => error,
        };
        let hint = bidilel_cli::hint(&error);
        worded(&error, hint)
    }
}

/// The exception that Python programs expect for it: of files that are not there or cannot be read, and of values.
fn worded(error: &anyhow::Error, hint: Option<String>) -> PyErr {
    let mut message = error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ");
    if let Some(hint) = hint {
        message.push_str("\nhint: ");
        message.push_str(&hint);
    }
    let missing = |cause: &(dyn std::error::Error + 'static)| {
        matches!(cause.downcast_ref(), Some(bidilel_data::Error::NotFound { .. }))
    };
    if error.chain().any(missing) {
        return PyFileNotFoundError::new_err(message);
    }
    if error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some()) {
        return PyOSError::new_err(message);
    }
    PyValueError::new_err(message)
}
