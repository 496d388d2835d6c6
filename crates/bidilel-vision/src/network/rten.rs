//! The runtime inside of this program: pure Rust, nothing to install.

use std::sync::Arc;

use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value};
use rten_tensor::prelude::*;
use rten_tensor::{Tensor as Array, TensorView};

use super::tokens::Whole;
use super::{Engine, Tensor};

/// The version in the workspace's manifest.
pub(super) const VERSION: &str = "0.27";

pub(super) struct Rten {
    model: Model,
    input: NodeId,
    outputs: Vec<NodeId>,
    threads: Arc<ThreadPool>,
}

impl Rten {
    pub(super) fn load(
        bytes: Vec<u8>,
        external: Vec<(String, Vec<u8>)>,
        outputs: &[&str],
        threads: usize,
    ) -> Result<Self, String> {
        let mut options = ModelOptions::with_all_ops();
        options.prepack_weights(true);
        for (name, data) in external {
            options.external_data(&name, data);
        }
        let model = options.load(bytes).map_err(|error| error.to_string())?;
        let node = |name: &&str| model.find_node(name).ok_or_else(|| format!("`{name}` is lost in loading"));
        let outputs = outputs.iter().map(node).collect::<Result<_, _>>()?;
        let input = *model.input_ids().first().ok_or("it has no input")?;
        Ok(Self { model, input, outputs, threads: Arc::new(ThreadPool::with_num_threads(threads)) })
    }

    fn values(&self, shape: &[usize], data: &[f32]) -> Result<Vec<Value>, String> {
        let view = TensorView::from_data(shape, data);
        let mut options = RunOptions::default();
        options.thread_pool = Some(Arc::clone(&self.threads));
        self.model
            .run(vec![(self.input, view.into())], &self.outputs, Some(options))
            .map_err(|error| error.to_string())
    }
}

fn tensor(value: Value) -> Result<Tensor, String> {
    let array: Array<f32> = value.try_into().map_err(|_| "the layer holds no float32 numbers".to_owned())?;
    Ok(Tensor { shape: array.shape().to_vec(), data: array.to_vec() })
}

impl Engine for Rten {
    fn run(&mut self, shape: &[usize], data: &[f32]) -> Result<Tensor, String> {
        tensor(self.values(shape, data)?.swap_remove(0))
    }

    fn run_tokens(&mut self, inputs: &[Whole<'_>], shape: [usize; 2]) -> Result<Tensor, String> {
        let mut named = Vec::with_capacity(inputs.len());
        for input in inputs {
            let node = self.model.find_node(input.name);
            let node = node.ok_or_else(|| format!("`{}` is lost in loading", input.name))?;
            // All whole numbers have 32 bits here, whatever the file says.
            let values: Result<Vec<i32>, _> =
                input.values.iter().map(|&value| i32::try_from(value)).collect();
            let values =
                values.map_err(|_| format!("a number of `{}` takes more than 32 bits", input.name))?;
            named.push((node, Array::<i32>::from_data(&shape[..], values).into()));
        }
        let mut options = RunOptions::default();
        options.thread_pool = Some(Arc::clone(&self.threads));
        let values = self.model.run(named, &self.outputs, Some(options));
        tensor(values.map_err(|error| error.to_string())?.swap_remove(0))
    }

    fn shapes(&mut self, shape: &[usize], data: &[f32]) -> Result<Vec<Vec<usize>>, String> {
        Ok(self.values(shape, data)?.iter().map(|value| value.shape().to_vec()).collect())
    }
}
