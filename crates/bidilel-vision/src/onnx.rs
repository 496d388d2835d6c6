//! Just enough of an ONNX file: its tensors' names, its input's shape, and one more output.
//!
//! Both runtimes give back only the outputs of a graph, and both fuse what lies between. An intermediate tensor is
//! had from either by listing it among the outputs before the file is loaded. The file is a protocol buffer
//! (<https://protobuf.dev/programming-guides/encoding>): fields with a number, a wire type and a length, so that all
//! but a few can be stepped over. Field numbers are those of `onnx.proto3`.

use std::ops::Range;

/// A graph as far as it is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Graph {
    /// Where the graph is in the file, without its tag and length.
    place: Range<usize>,
    /// Where its tag begins.
    tag: usize,
    /// What must be given, without the weights that old files list among the inputs.
    pub(crate) inputs: Vec<Value>,
    pub(crate) outputs: Vec<Value>,
    pub(crate) nodes: Vec<Node>,
    /// Files beside this one that hold weights.
    pub(crate) external: Vec<String>,
}

/// A tensor by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) name: String,
    /// ONNX's number of the element type; 1 is float32.
    pub(crate) element: u64,
    /// Sizes; none where any size goes.
    pub(crate) shape: Option<Vec<Option<usize>>>,
}

/// An operation and what it makes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) operator: String,
    pub(crate) outputs: Vec<String>,
}

impl Graph {
    /// Reads the structure of a file.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut graph = Self::default();
        let mut found = false;
        for field in fields(bytes, 0) {
            let field = field?;
            if field.number == 7 && field.wire == LENGTH {
                if found {
                    return Err("it has more than one graph".to_owned());
                }
                (found, graph.tag, graph.place) = (true, field.start, field.place);
            }
        }
        if !found {
            return Err("it has no graph".to_owned());
        }
        let mut weights = std::collections::HashSet::new();
        for field in fields(&bytes[..graph.place.end], graph.place.start) {
            let field = field?;
            let inner = &bytes[..field.place.end];
            match (field.number, field.wire) {
                (1, LENGTH) => graph.nodes.push(Node::read(inner, field.place.start)?),
                (5, LENGTH) => {
                    let (name, file) = weight(inner, field.place.start)?;
                    weights.insert(name);
                    graph.external.extend(file);
                }
                (11, LENGTH) => graph.inputs.push(Value::read(inner, field.place.start)?),
                (12, LENGTH) => graph.outputs.push(Value::read(inner, field.place.start)?),
                _ => {}
            }
        }
        graph.inputs.retain(|input| !weights.contains(&input.name));
        graph.external.sort();
        graph.external.dedup();
        if graph.nodes.is_empty() || graph.outputs.is_empty() {
            return Err("its graph has no operations or no outputs".to_owned());
        }
        Ok(graph)
    }

    /// Names of all tensors that operations make, in the order of the file.
    pub(crate) fn tensors(&self) -> impl Iterator<Item = (&str, &str)> {
        self.nodes.iter().flat_map(|node| {
            let named = node.outputs.iter().filter(|name| !name.is_empty());
            named.map(move |name| (name.as_str(), node.operator.as_str()))
        })
    }

    /// The file with these tensors, and no others, as its outputs.
    pub(crate) fn with_outputs(&self, bytes: &[u8], names: &[&str]) -> Result<Vec<u8>, String> {
        let mut graph = Vec::with_capacity(self.place.len() + 64);
        for field in fields(&bytes[..self.place.end], self.place.start) {
            let field = field?;
            if (field.number, field.wire) != (12, LENGTH) {
                graph.extend_from_slice(&bytes[field.start..field.place.end]);
            }
        }
        for name in names {
            let declared = self.outputs.iter().find(|output| output.name == *name);
            let mut value = Vec::new();
            put_message(&mut value, 1, name.as_bytes());
            if let Some(declared) = declared {
                let mut tensor = Vec::new();
                tensor.push(8);
                put_varint(&mut tensor, declared.element);
                let mut kind = Vec::new();
                put_message(&mut kind, 1, &tensor);
                put_message(&mut value, 2, &kind);
            }
            put_message(&mut graph, 12, &value);
        }
        let mut file = bytes[..self.tag].to_vec();
        put_message(&mut file, 7, &graph);
        file.extend_from_slice(&bytes[self.place.end..]);
        Ok(file)
    }
}

impl Node {
    fn read(bytes: &[u8], start: usize) -> Result<Self, String> {
        let mut node = Self::default();
        for field in fields(bytes, start) {
            let field = field?;
            match (field.number, field.wire) {
                (2, LENGTH) => node.outputs.push(text(bytes, &field)?),
                (4, LENGTH) => node.operator = text(bytes, &field)?,
                _ => {}
            }
        }
        Ok(node)
    }
}

impl Value {
    fn read(bytes: &[u8], start: usize) -> Result<Self, String> {
        let mut value = Self::default();
        // Value -> type -> tensor -> shape -> dimension: at each level one field leads down.
        for field in fields(bytes, start) {
            let field = field?;
            match (field.number, field.wire) {
                (1, LENGTH) => value.name = text(bytes, &field)?,
                (2, LENGTH) => {
                    for kind in fields(&bytes[..field.place.end], field.place.start) {
                        let kind = kind?;
                        if (kind.number, kind.wire) == (1, LENGTH) {
                            value.tensor(&bytes[..kind.place.end], kind.place.start)?;
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(value)
    }

    fn tensor(&mut self, bytes: &[u8], start: usize) -> Result<(), String> {
        for field in fields(bytes, start) {
            let field = field?;
            match (field.number, field.wire) {
                (1, VARINT) => self.element = field.value,
                (2, LENGTH) => {
                    let mut shape = Vec::new();
                    for dimension in fields(&bytes[..field.place.end], field.place.start) {
                        let dimension = dimension?;
                        let mut size = None;
                        for part in fields(&bytes[..dimension.place.end], dimension.place.start) {
                            let part = part?;
                            // Some writers put 0 or -1 where they mean any size.
                            if (part.number, part.wire) == (1, VARINT) && part.value > 0 {
                                size = usize::try_from(part.value).ok().filter(|&size| size < 1 << 31);
                            }
                        }
                        shape.push(size);
                    }
                    self.shape = Some(shape);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The name of a weight, and the file that it is in if that is another one.
fn weight(bytes: &[u8], start: usize) -> Result<(String, Option<String>), String> {
    let (mut name, mut file) = (String::new(), None);
    for field in fields(bytes, start) {
        let field = field?;
        match (field.number, field.wire) {
            (8, LENGTH) => name = text(bytes, &field)?,
            (13, LENGTH) => {
                let (mut key, mut value) = (String::new(), String::new());
                for part in fields(&bytes[..field.place.end], field.place.start) {
                    let part = part?;
                    match (part.number, part.wire) {
                        (1, LENGTH) => key = text(bytes, &part)?,
                        (2, LENGTH) => value = text(bytes, &part)?,
                        _ => {}
                    }
                }
                if key == "location" {
                    file = Some(value);
                }
            }
            _ => {}
        }
    }
    Ok((name, file))
}

const VARINT: u8 = 0;
const LENGTH: u8 = 2;

/// One field: its number, its wire type, where it is, and its value if that is a number.
struct Field {
    number: u64,
    wire: u8,
    start: usize,
    place: Range<usize>,
    value: u64,
}

/// The fields from `at` to the end of `bytes`.
fn fields(bytes: &[u8], mut at: usize) -> impl Iterator<Item = Result<Field, String>> {
    std::iter::from_fn(move || {
        if at >= bytes.len() {
            return None;
        }
        let field = field(bytes, at);
        // After damage nothing that follows can be told apart.
        at = field.as_ref().map_or(bytes.len(), |field| field.place.end);
        Some(field)
    })
}

fn field(bytes: &[u8], start: usize) -> Result<Field, String> {
    let damaged = || format!("it is damaged at byte {start}, or no ONNX file");
    let (key, at) = varint(bytes, start).ok_or_else(damaged)?;
    let (number, wire) = (key >> 3, (key & 7) as u8);
    let (value, place) = match wire {
        VARINT => varint(bytes, at).map(|(value, end)| (value, at..end)),
        1 => Some((0, at..at + 8)),
        LENGTH => varint(bytes, at).and_then(|(length, at)| {
            let end = at.checked_add(usize::try_from(length).ok()?)?;
            Some((0, at..end))
        }),
        5 => Some((0, at..at + 4)),
        _ => None,
    }
    .filter(|(_, place)| number > 0 && place.end <= bytes.len())
    .ok_or_else(damaged)?;
    Ok(Field { number, wire, start, place, value })
}

fn varint(bytes: &[u8], mut at: usize) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(at)?;
        at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some((value, at));
        }
    }
    None
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_message(out: &mut Vec<u8>, number: u64, message: &[u8]) {
    put_varint(out, number << 3 | u64::from(LENGTH));
    put_varint(out, message.len() as u64);
    out.extend_from_slice(message);
}

fn text(bytes: &[u8], field: &Field) -> Result<String, String> {
    String::from_utf8(bytes[field.place.clone()].to_vec())
        .map_err(|_| format!("a name at byte {} is not UTF-8 text", field.start))
}
