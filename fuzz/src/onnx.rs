//! ONNX graphs whose nodes, tensors, inputs and outputs name each other in any way, from a recipe.

use super::crafted::Recipe;

/// A field of a protocol buffer with bytes in it.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2];
    number_into(content.len() as u64, &mut bytes);
    bytes.extend(content);
    bytes
}

fn number_into(mut value: u64, into: &mut Vec<u8>) {
    while value > 0x7f {
        into.push(0x80 | value.to_le_bytes()[0]);
        value >>= 7;
    }
    into.push(value.to_le_bytes()[0]);
}

/// A field with a number in it.
fn number(field: u8, value: u64) -> Vec<u8> {
    let mut bytes = vec![field << 3];
    number_into(value, &mut bytes);
    bytes
}

/// The file.
pub fn onnx_graph(recipe: &mut Recipe<'_>) -> Vec<u8> {
    let name = |recipe: &mut Recipe<'_>| format!("t{}", recipe.below(6)).into_bytes();
    let shape = |recipe: &mut Recipe<'_>| {
        let sizes: Vec<u8> = (0..recipe.below(6))
            .flat_map(|_| {
                let size = match recipe.below(4) {
                    0 => u64::MAX,
                    1 => 1 << 40,
                    _ => recipe.below(20) as u64,
                };
                field(1, &number(1, size))
            })
            .collect();
        field(1, &[number(1, recipe.below(12) as u64), field(2, &sizes)].concat())
    };
    let mut graph = Vec::new();
    for _ in 0..recipe.below(30) {
        let part = match recipe.below(4) {
            0 => {
                let operators: [&[u8]; 5] = [b"Relu", b"Conv", b"Add", b"If", b""];
                let inputs: Vec<u8> = (0..recipe.below(4)).flat_map(|_| field(1, &name(recipe))).collect();
                let outputs: Vec<u8> = (0..recipe.below(3)).flat_map(|_| field(2, &name(recipe))).collect();
                field(1, &[inputs, outputs, field(4, operators[recipe.below(5)])].concat())
            }
            1 => {
                let values = vec![0; recipe.below(40)];
                let dims: Vec<u8> =
                    (0..recipe.below(4)).flat_map(|_| number(1, u64::from(recipe.byte()))).collect();
                field(
                    5,
                    &[
                        dims,
                        number(2, 1 + recipe.below(9) as u64),
                        field(8, &name(recipe)),
                        field(9, &values),
                    ]
                    .concat(),
                )
            }
            2 => field(11, &[field(1, &name(recipe)), field(2, &shape(recipe))].concat()),
            _ => field(12, &[field(1, &name(recipe)), field(2, &shape(recipe))].concat()),
        };
        graph.extend(part);
    }
    [number(1, 8), field(7, &graph), field(8, &number(2, 13))].concat()
}
