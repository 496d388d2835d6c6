//! Networks that take the tokens of texts: sentence encoders and the text halves of CLIP.
//!
//! Inputs are told apart by their names, as exporters write them: `input_ids`, `attention_mask`, `token_type_ids`,
//! `position_ids`, each batch x tokens of int64 or int32. A network with one input may call it anything.

use super::{Engine, NetworkFile, NetworkOptions, Tensor};
use crate::error::{Error, Result};
use crate::guard::guarded;
use crate::onnx::{Graph, Value};

/// ONNX's numbers of element types.
const INT32: u64 = 6;
const INT64: u64 = 7;

/// What an input is to be filled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Ids,
    Mask,
    Types,
    Positions,
}

/// One input of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    name: String,
    role: Role,
    wide: bool,
}

/// The inputs of a text network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenInput {
    places: Vec<Place>,
    /// Texts at a time, if only that many will do.
    pub batch: Option<usize>,
    /// Tokens per text, if only that many will do.
    pub length: Option<usize>,
}

/// An output of a network, as its file declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Its number of dimensions, where the file says so.
    pub dimensions: Option<usize>,
}

/// Texts of equal length as tokens, one after another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenBatch {
    /// Texts.
    pub texts: usize,
    /// Tokens per text, padding included.
    pub length: usize,
    /// The token at each position.
    pub ids: Vec<i64>,
    /// 1 where there is a token, 0 where there is padding.
    pub mask: Vec<i64>,
    /// The segment that a token belongs to.
    pub types: Vec<i64>,
}

/// What came out of a text network: batch first, then tokens, where they are kept, then dimensions.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenOutput {
    /// Its sizes.
    pub shape: Vec<usize>,
    /// Its numbers.
    pub data: Vec<f32>,
}

/// A tensor of whole numbers for one input.
pub(super) struct Whole<'a> {
    pub(super) name: &'a str,
    /// Whether the graph wants 64 bits.
    #[cfg_attr(not(feature = "ort"), expect(dead_code, reason = "only ONNX Runtime takes wide numbers"))]
    pub(super) wide: bool,
    pub(super) values: &'a [i64],
}

/// A text network that is loaded.
pub struct TokenNetwork {
    path: std::path::PathBuf,
    engine: Box<dyn Engine>,
    input: TokenInput,
    runtime: &'static str,
    version: String,
    layer: String,
}

impl TokenInput {
    fn of(graph: &Graph) -> std::result::Result<Self, String> {
        let names =
            || graph.inputs.iter().map(|input| format!("`{}`", input.name)).collect::<Vec<_>>().join(", ");
        let mut places = Vec::new();
        let (mut batch, mut length) = (None, None);
        for input in &graph.inputs {
            let role = role(input, graph.inputs.len() == 1).ok_or_else(|| {
                format!(
                    "takes {}, expected a text network with inputs among `input_ids`, `attention_mask`, \
                     `token_type_ids` and `position_ids` of int64 or int32",
                    names()
                )
            })?;
            match input.shape.as_deref() {
                None => {}
                Some([texts, tokens]) => (batch, length) = (batch.or(*texts), length.or(*tokens)),
                Some(other) => {
                    let found = other.len();
                    return Err(format!(
                        "its input `{}` has {found} dimensions, expected texts x tokens",
                        input.name
                    ));
                }
            }
            places.push(Place { name: input.name.clone(), role, wide: input.element == INT64 });
        }
        if places.iter().all(|place| place.role != Role::Ids) {
            return Err(format!(
                "has no input `input_ids`, but {}",
                if places.is_empty() { "none".to_owned() } else { names() }
            ));
        }
        Ok(Self { places, batch, length })
    }

    /// Whether padding can be told from tokens.
    pub fn has_mask(&self) -> bool {
        self.places.iter().any(|place| place.role == Role::Mask)
    }
}

/// What an input is for, by its name; none for a foreign one.
fn role(input: &Value, only: bool) -> Option<Role> {
    if ![INT32, INT64].contains(&input.element) {
        return None;
    }
    match input.name.to_lowercase().as_str() {
        "input_ids" | "input_ids:0" | "ids" | "tokens" => Some(Role::Ids),
        "attention_mask" | "input_mask" | "mask" => Some(Role::Mask),
        "token_type_ids" | "segment_ids" => Some(Role::Types),
        "position_ids" => Some(Role::Positions),
        _ if only => Some(Role::Ids),
        _ => None,
    }
}

impl NetworkFile {
    /// What it takes, if it takes tokens.
    pub fn token_input(&self) -> Result<TokenInput> {
        TokenInput::of(&self.graph).map_err(|problem| Error::Input { path: self.path.clone(), problem })
    }

    /// Its declared outputs, in the order of the file.
    pub fn outputs(&self) -> Vec<Output> {
        let output = |value: &Value| Output {
            name: value.name.clone(),
            dimensions: value.shape.as_ref().map(Vec::len),
        };
        self.graph.outputs.iter().map(output).collect()
    }

    /// Loads a text network into a runtime.
    pub fn load_tokens(&self, options: &NetworkOptions) -> Result<TokenNetwork> {
        let input = self.token_input()?;
        let layer = self.layer(options.layer.as_deref())?;
        let (engine, runtime, version) = self.engine(options, &[layer.as_str()])?;
        Ok(TokenNetwork { path: self.path.clone(), engine, input, runtime, version, layer })
    }
}

impl TokenNetwork {
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

    /// Runs a batch.
    pub fn run(&mut self, batch: &TokenBatch) -> Result<TokenOutput> {
        let shape = [batch.texts, batch.length];
        let positions: Vec<i64> = (0_i64..).take(batch.length).collect::<Vec<_>>().repeat(batch.texts);
        let inputs: Vec<Whole<'_>> = self
            .input
            .places
            .iter()
            .map(|place| Whole {
                name: &place.name,
                wide: place.wide,
                values: match place.role {
                    Role::Ids => &batch.ids,
                    Role::Mask => &batch.mask,
                    Role::Types => &batch.types,
                    Role::Positions => &positions,
                },
            })
            .collect();
        let ran = guarded(|| self.engine.run_tokens(&inputs, shape)).and_then(std::convert::identity);
        let failed = |problem| Error::Run { path: self.path.clone(), runtime: self.runtime, problem };
        let Tensor { shape, data } = ran.map_err(failed)?;
        if shape.first() != Some(&batch.texts) || data.len() != shape.iter().product::<usize>() {
            let found = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
            let problem = format!("layer `{}` is {found}, expected {} texts first", self.layer, batch.texts);
            return Err(Error::Input { path: self.path.clone(), problem });
        }
        Ok(TokenOutput { shape, data })
    }
}
