//! A network and the runtime that runs it.

mod input;
#[cfg(feature = "ort")]
mod ort;
mod pool;
mod record;
mod rten;
mod tokens;

use std::path::{Path, PathBuf};

pub use input::Input;
pub use pool::Pool;
pub use tokens::{Output, TokenBatch, TokenInput, TokenNetwork, TokenOutput};

use crate::error::{Error, Result};
use crate::guard::guarded;
use crate::onnx::Graph;
use crate::preprocess::Preprocess;
use tokens::Whole;

/// Which runtime is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Runtime {
    /// ONNX Runtime where its library is found, else rten.
    #[default]
    Auto,
    /// The one in this program.
    Rten,
    /// The shared library.
    Ort,
}

/// What to run and how.
#[derive(Debug, Clone, Default)]
pub struct NetworkOptions {
    /// Which runtime.
    pub runtime: Runtime,
    /// The shared library of ONNX Runtime; looked for if not given.
    pub library: Option<PathBuf>,
    /// The tensor that is wanted; the first output if not given.
    pub layer: Option<String>,
    /// Threads to use.
    pub threads: usize,
}

/// A tensor that came out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<f32>,
}

/// Something that runs a graph.
trait Engine: Send {
    fn run(&mut self, shape: &[usize], data: &[f32]) -> std::result::Result<Tensor, String>;
    /// The shapes of all outputs.
    fn shapes(&mut self, shape: &[usize], data: &[f32]) -> std::result::Result<Vec<Vec<usize>>, String>;
    /// Runs a graph of texts; the inputs are all texts x tokens.
    fn run_tokens(&mut self, inputs: &[Whole<'_>], shape: [usize; 2]) -> std::result::Result<Tensor, String>;
}

/// A network file, read but not loaded into a runtime.
#[derive(Debug)]
pub struct NetworkFile {
    path: PathBuf,
    bytes: Vec<u8>,
    graph: Graph,
}

/// A tensor that can be asked for.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Layer {
    /// The name to ask for it by.
    pub name: String,
    /// The operation that makes it.
    pub operator: String,
    /// Its shape for one picture.
    pub shape: Vec<usize>,
    /// Whether it is an output of the network.
    pub output: bool,
}

/// A network that is loaded.
pub struct Network {
    path: PathBuf,
    engine: Box<dyn Engine>,
    runtime: &'static str,
    version: String,
    layer: String,
}

impl NetworkFile {
    /// Reads a file.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = bidilel_data::map(path)?.to_vec();
        Self::from_bytes(path, bytes)
    }

    /// Reads the bytes of a file; files with its weights, where there are some, lie beside `path`.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        let problem = |problem| Error::Network { path: path.to_owned(), problem };
        let graph = Graph::read(&bytes).map_err(problem)?;
        for file in &graph.external {
            let inside =
                Path::new(file).components().all(|part| matches!(part, std::path::Component::Normal(_)));
            if !inside || file.is_empty() {
                return Err(problem(format!("its weights lie in `{file}`, outside of its folder")));
            }
        }
        Ok(Self { path: path.to_owned(), bytes, graph })
    }

    /// A number that changes with the network.
    pub fn fingerprint(&self) -> Result<u64> {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        hash.update(&self.bytes);
        for (_, bytes) in self.external()? {
            hash.update(&bytes);
        }
        Ok(hash.digest())
    }

    /// What it takes.
    pub fn input(&self) -> Result<Input> {
        Input::of(&self.graph).map_err(|problem| Error::Input { path: self.path.clone(), problem })
    }

    /// Loads it into a runtime.
    pub fn load(&self, options: &NetworkOptions) -> Result<Network> {
        let layer = self.layer(options.layer.as_deref())?;
        let (engine, runtime, version) = self.engine(options, &[layer.as_str()])?;
        Ok(Network { path: self.path.clone(), engine, runtime, version, layer })
    }

    /// All tensors with their shapes for one picture, in the order of the file.
    pub fn layers(
        &self,
        options: &NetworkOptions,
        preprocess: &Preprocess,
        frames: usize,
    ) -> Result<Vec<Layer>> {
        let input = self.input()?;
        let names: Vec<(&str, &str)> =
            self.graph.tensors().filter(|(_, operator)| *operator != "Constant").collect();
        let wanted: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        let (mut engine, runtime, _) = self.engine(options, &wanted)?;
        let shape = input.shape(preprocess, input.batch.unwrap_or(1), frames)?;
        let data = vec![0.0; shape.iter().product()];
        let shapes = guarded(|| engine.shapes(&shape, &data))
            .and_then(std::convert::identity)
            .map_err(|problem| Error::Run { path: self.path.clone(), runtime, problem })?;
        let layer = |((name, operator), shape): (&(&str, &str), Vec<usize>)| Layer {
            name: (*name).to_owned(),
            operator: (*operator).to_owned(),
            shape,
            output: self.graph.outputs.iter().any(|output| output.name == *name),
        };
        Ok(names.iter().zip(shapes).map(layer).collect())
    }

    fn layer(&self, wanted: Option<&str>) -> Result<String> {
        let Some(wanted) = wanted else { return Ok(self.graph.outputs[0].name.clone()) };
        let mut all = self.graph.tensors().map(|(name, _)| name);
        if all.any(|name| name == wanted) {
            return Ok(wanted.to_owned());
        }
        // A part of the name, or other letters' case, is what a slip looks like.
        let plain = wanted.to_lowercase();
        let closest = self.graph.tensors().map(|(name, _)| name).find(|name| {
            let name = name.to_lowercase();
            name == plain || name.contains(&plain) || plain.contains(&name)
        });
        let closest = closest.map(str::to_owned);
        Err(Error::NoLayer { path: self.path.clone(), layer: wanted.to_owned(), closest })
    }

    fn external(&self) -> Result<Vec<(String, Vec<u8>)>> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let read = |name: &String| Ok((name.clone(), bidilel_data::map(&folder.join(name))?.to_vec()));
        self.graph.external.iter().map(read).collect()
    }

    fn engine(
        &self,
        options: &NetworkOptions,
        outputs: &[&str],
    ) -> Result<(Box<dyn Engine>, &'static str, String)> {
        let problem = |problem| Error::Network { path: self.path.clone(), problem };
        let bytes = self.graph.with_outputs(&self.bytes, outputs).map_err(problem)?;
        let threads = options.threads.max(1);
        #[cfg(feature = "ort")]
        if options.runtime != Runtime::Rten
            && let Some(library) = ort::library(options)?
        {
            let folder = self.path.parent().unwrap_or(Path::new(""));
            let external = (!self.graph.external.is_empty()).then_some(folder);
            let loaded = guarded(|| ort::Ort::load(&library, &bytes, external, threads))
                .and_then(std::convert::identity);
            let engine = loaded.map_err(problem)?;
            return Ok((Box::new(engine), "onnxruntime", library.version().to_owned()));
        }
        #[cfg(not(feature = "ort"))]
        if options.runtime == Runtime::Ort || options.library.is_some() {
            return Err(Error::WithoutOrt);
        }
        #[cfg(feature = "ort")]
        if options.runtime == Runtime::Ort {
            return Err(Error::Library { problem: "its shared library was not found".to_owned() });
        }
        let external = self.external()?;
        let loaded =
            guarded(|| rten::Rten::load(bytes, external, outputs, threads)).and_then(std::convert::identity);
        Ok((Box::new(loaded.map_err(problem)?), "rten", rten::VERSION.to_owned()))
    }
}

impl Network {
    /// The runtime that runs it.
    pub fn runtime(&self) -> &'static str {
        self.runtime
    }

    /// The version of the runtime.
    pub fn runtime_version(&self) -> &str {
        &self.version
    }

    /// The tensor that it gives.
    pub fn layer(&self) -> &str {
        &self.layer
    }

    /// Runs a batch, and gives a pooled row for each member of it.
    pub(crate) fn rows(&mut self, shape: &[usize], data: &[f32], pool: Pool) -> Result<Vec<Vec<f32>>> {
        let failed = |problem| Error::Run { path: self.path.clone(), runtime: self.runtime, problem };
        let result = guarded(|| self.engine.run(shape, data)).and_then(std::convert::identity);
        let tensor = result.map_err(failed)?;
        pool.rows(tensor, shape[0]).map_err(|problem| Error::Input {
            path: self.path.clone(),
            problem: format!("layer `{}` {problem}", self.layer),
        })
    }
}
