//! Keys that reach into structures and cells: `VideoLabel.UCF101.WordVec`, `trials(2).unseen`, `names{3}`.

use super::DEEPEST;
use super::element::Source;
use super::matrix::{Class, Matrix};
use crate::error::Result;

/// One step into a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Field(&'a str),
    /// Counted from 1, as MATLAB does.
    Index(usize),
}

/// The variable of a key, and the steps from there; none where it is not written like that.
pub(super) fn parse(key: &str) -> Option<(&str, Vec<Step<'_>>)> {
    let end = key.find(['.', '(', '{']).unwrap_or(key.len());
    let (name, mut rest) = key.split_at(end);
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(field) = rest.strip_prefix('.') {
            let end = field.find(['.', '(', '{']).unwrap_or(field.len());
            steps.push(Step::Field(&field[..end]));
            rest = &field[end..];
        } else {
            let closing = if rest.starts_with('(') { ')' } else { '}' };
            let (index, after) = rest[1..].split_once(closing)?;
            steps.push(Step::Index(index.trim().parse().ok()?));
            // What follows a bracket is another step.
            if !after.is_empty() && !after.starts_with(['.', '(', '{']) {
                return None;
            }
            rest = after;
        }
    }
    Some((name, steps))
}

/// The matrix that the steps lead to, or none where one of them leads nowhere.
pub(super) fn follow(source: &Source, matrix: Matrix, steps: &[Step<'_>]) -> Result<Option<Matrix>> {
    // Every level may take two: which structure, and which field of it.
    if steps.len() > 2 * (DEEPEST + 1) {
        return Ok(None);
    }
    let mut matrix = matrix;
    // Which one of several structures, until a field of it is taken.
    let mut chosen: Option<usize> = None;
    for (position, step) in steps.iter().enumerate() {
        match *step {
            Step::Field(name) => {
                matrix = unwrapped(source, matrix)?;
                let count = matrix.count(source)?;
                if matrix.class != Class::Struct || count == 0 {
                    return Ok(None);
                }
                if count > 1 && chosen.is_none() {
                    return Err(several(source, count, &steps[position..]));
                }
                let fields = matrix.fields(source)?;
                let Some(field) = fields.names.iter().position(|field| field == name) else {
                    return Ok(None);
                };
                matrix = fields.value(source, chosen.take().unwrap_or(0), field)?;
            }
            Step::Index(number) => {
                let index = number.checked_sub(1).filter(|_| chosen.is_none());
                let count = matrix.count(source)?;
                let Some(index) = index.filter(|&index| index < count) else { return Ok(None) };
                match matrix.class {
                    Class::Cell => matrix = matrix.cell(source, index)?,
                    Class::Struct => chosen = Some(index),
                    _ => return Ok(None),
                }
            }
        }
    }
    // A structure on its own is no value, so which one of several makes no difference at the end.
    Ok(Some(matrix))
}

/// The content of a cell that has only one, as often as that is so.
pub(super) fn unwrapped(source: &Source, mut matrix: Matrix) -> Result<Matrix> {
    for _ in 0..DEEPEST {
        if matrix.class != Class::Cell || matrix.count(source)? != 1 {
            return Ok(matrix);
        }
        matrix = matrix.cell(source, 0)?;
    }
    Err(super::too_deep(source))
}

fn several(source: &Source, count: usize, steps: &[Step<'_>]) -> crate::Error {
    let field = match steps {
        [Step::Field(field), ..] => field,
        _ => "field",
    };
    source
        .malformed(format!("`{field}` is a field of {count} structures: say which one, as in `(1).{field}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_a_variable_and_steps() {
        use Step::{Field, Index};
        assert_eq!(parse("att"), Some(("att", vec![])));
        assert_eq!(parse("a.b.c"), Some(("a", vec![Field("b"), Field("c")])));
        assert_eq!(parse("s(2).f{3}"), Some(("s", vec![Index(2), Field("f"), Index(3)])));
        for key in ["s(", "s(x)", "s(-1)", "s(1", "s{1)", "s(1)x", "s()"] {
            assert_eq!(parse(key), None, "{key}");
        }
        assert_eq!(parse("s."), Some(("s", vec![Field("")])));
    }
}
