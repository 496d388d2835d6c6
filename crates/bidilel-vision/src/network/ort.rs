//! ONNX Runtime, from a shared library that is found while the program runs.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ort::environment::Environment;
use ort::session::{Session, SessionInputValue};
use ort::value::{Tensor as Owned, TensorRef, ValueType};

use super::tokens::Whole;
use super::{Engine, NetworkOptions, Runtime, Tensor};
use crate::error::{Error, Result};
use crate::guard::guarded;

/// The library, once it is loaded: a process has one.
#[derive(Clone)]
pub(super) struct Library {
    environment: Environment,
    version: String,
}

impl Library {
    pub(super) fn version(&self) -> &str {
        &self.version
    }
}

static LOADED: Mutex<Option<Library>> = Mutex::new(None);

/// Finds the library: where the options or `ORT_DYLIB_PATH` say, else where the system looks.
///
/// A library that is named must load. One that the system would have is left alone if it does not.
pub(super) fn library(options: &NetworkOptions) -> Result<Option<Library>> {
    let mut loaded = LOADED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if loaded.is_some() {
        return Ok(loaded.clone());
    }
    let variable = std::env::var_os("ORT_DYLIB_PATH").filter(|path| !path.is_empty()).map(PathBuf::from);
    let named = options.library.clone().or(variable);
    let required = named.is_some() || options.runtime == Runtime::Ort;
    let system =
        || format!("{}onnxruntime{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX).into();
    let path: PathBuf = named.unwrap_or_else(system);
    // A path without a slash is looked for by the system; one with a slash must be there.
    let start = || -> std::result::Result<Library, String> {
        let builder = ort::init_from(&path).map_err(|error| error.to_string())?;
        let environment = builder.with_telemetry(false).build().map_err(|error| error.to_string())?;
        Ok(Library { environment, version: version(&path, ort::info()) })
    };
    match guarded(start).and_then(std::convert::identity) {
        Ok(library) => {
            *loaded = Some(library);
            Ok(loaded.clone())
        }
        Err(_) if !required => Ok(None),
        Err(problem) => Err(Error::Library { problem: format!("`{}`: {problem}", path.display()) }),
    }
}

/// The version as the library's name has it (`libonnxruntime.so.1.31.1`), else the commit that it was built from.
fn version(path: &Path, info: &str) -> String {
    let name = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let digits = name.trim_matches(|c: char| !c.is_ascii_digit());
    if digits.contains('.') && digits.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return digits.to_owned();
    }
    let commit = info.split("git-commit-id=").nth(1).and_then(|rest| rest.split(',').next());
    commit.map_or_else(|| "of unknown version".to_owned(), |commit| format!("commit {commit}"))
}

pub(super) struct Ort {
    session: Session,
}

impl Ort {
    pub(super) fn load(
        library: &Library,
        bytes: &[u8],
        external: Option<&Path>,
        threads: usize,
    ) -> std::result::Result<Self, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string().replace('\n', " ");
        let mut builder = Session::builder(&library.environment)
            .map_err(|error| text(&error))?
            .with_intra_threads(threads)
            .map_err(|error| text(&error))?
            // The same bytes every time are worth more than the last few percent.
            .with_deterministic_compute(true)
            .map_err(|error| text(&error))?;
        if let Some(folder) = external {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            let key = "session.model_external_initializers_file_folder_path";
            builder =
                builder.with_config_entry(key, folder.to_string_lossy()).map_err(|error| text(&error))?;
        }
        let session = builder.commit_from_memory(bytes).map_err(|error| text(&error))?;
        Ok(Self { session })
    }
}

impl Engine for Ort {
    fn run(&mut self, shape: &[usize], data: &[f32]) -> std::result::Result<Tensor, String> {
        let input = TensorRef::from_array_view((shape, data)).map_err(|error| error.to_string())?;
        let outputs = self.session.run(ort::inputs![input]).map_err(|error| error.to_string())?;
        let (shape, data) = outputs[0].try_extract_tensor::<f32>().map_err(|error| error.to_string())?;
        let shape = shape.iter().map(|&size| usize::try_from(size).unwrap_or(0)).collect();
        Ok(Tensor { shape, data: data.to_vec() })
    }

    fn run_tokens(&mut self, inputs: &[Whole<'_>], shape: [usize; 2]) -> std::result::Result<Tensor, String> {
        let mut named: Vec<(String, SessionInputValue<'_>)> = Vec::with_capacity(inputs.len());
        for input in inputs {
            let value = if input.wide {
                Owned::from_array((shape, input.values.to_vec())).map(SessionInputValue::from)
            } else {
                let narrow: std::result::Result<Vec<i32>, _> =
                    input.values.iter().map(|&value| i32::try_from(value)).collect();
                let narrow =
                    narrow.map_err(|_| format!("a number of `{}` takes more than 32 bits", input.name))?;
                Owned::from_array((shape, narrow)).map(SessionInputValue::from)
            };
            named.push((input.name.to_owned(), value.map_err(|error| error.to_string())?));
        }
        let outputs = self.session.run(named).map_err(|error| error.to_string())?;
        let (shape, data) = outputs[0].try_extract_tensor::<f32>().map_err(|error| error.to_string())?;
        let shape = shape.iter().map(|&size| usize::try_from(size).unwrap_or(0)).collect();
        Ok(Tensor { shape, data: data.to_vec() })
    }

    fn shapes(&mut self, shape: &[usize], data: &[f32]) -> std::result::Result<Vec<Vec<usize>>, String> {
        let input = TensorRef::from_array_view((shape, data)).map_err(|error| error.to_string())?;
        let outputs = self.session.run(ort::inputs![input]).map_err(|error| error.to_string())?;
        let sizes = |value: &ort::value::DynValue| match value.dtype() {
            ValueType::Tensor { shape, .. } => {
                shape.iter().map(|&size| usize::try_from(size).unwrap_or(0)).collect()
            }
            _ => Vec::new(),
        };
        Ok((0..outputs.len()).map(|index| sizes(&outputs[index])).collect())
    }
}
