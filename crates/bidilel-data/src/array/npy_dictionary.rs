//! The Python dictionary in the header of a `.npy` file, and no other Python.

/// The three entries of a header.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dictionary {
    pub(super) descr: String,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<usize>,
}

impl Dictionary {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut cursor = Cursor { rest: text };
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        cursor.expect('{')?;
        while !cursor.accept('}') {
            let key = cursor.string()?;
            cursor.expect(':')?;
            match key {
                "descr" => descr = Some(cursor.descr()?),
                "fortran_order" => fortran_order = Some(cursor.boolean()?),
                "shape" => shape = Some(cursor.tuple()?),
                _ => return Err(format!("unknown entry `{key}`")),
            }
            if !cursor.accept(',') {
                cursor.expect('}')?;
                break;
            }
        }
        let missing = |name: &str| format!("entry `{name}` is missing");
        Ok(Self {
            descr: descr.ok_or_else(|| missing("descr"))?,
            fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }
}

/// The part of the text that is still to be read.
struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    fn accept(&mut self, wanted: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.accept(wanted) { Ok(()) } else { Err(self.unexpected(&format!("`{wanted}`"))) }
    }

    fn string(&mut self) -> Result<&'a str, String> {
        let quote = if self.accept('\'') {
            '\''
        } else if self.accept('"') {
            '"'
        } else {
            return Err(self.unexpected("a string"));
        };
        let (string, rest) = self.rest.split_once(quote).ok_or("a string has no end")?;
        self.rest = rest;
        Ok(string)
    }

    /// The element type: a string, or a list for records of several fields.
    fn descr(&mut self) -> Result<String, String> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with(['[', '(']) {
            return Err("expected one number an element, found a structured type".to_owned());
        }
        self.string().map(str::to_owned)
    }

    fn boolean(&mut self) -> Result<bool, String> {
        self.rest = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(self.unexpected("`True` or `False`"))
    }

    fn tuple(&mut self) -> Result<Vec<usize>, String> {
        let mut sizes = Vec::new();
        self.expect('(')?;
        while !self.accept(')') {
            sizes.push(self.integer()?);
            if !self.accept(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(sizes)
    }

    fn integer(&mut self) -> Result<usize, String> {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        let value = digits.parse().map_err(|_| self.unexpected("the size of a dimension"))?;
        // Python 2 wrote long integers with a letter.
        self.rest = rest.strip_prefix('L').unwrap_or(rest);
        Ok(value)
    }

    fn unexpected(&self, wanted: &str) -> String {
        let found: String = self.rest.chars().take(20).collect();
        format!("expected {wanted}, found {found:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_spelling_that_numpy_has_used() {
        let wanted = Dictionary { descr: "<f4".to_owned(), fortran_order: false, shape: vec![3, 4] };
        for text in [
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n",
            "{'shape': (3L, 4L), 'fortran_order': False, 'descr': '<f4'}",
            "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(3,4,)}",
        ] {
            assert_eq!(Dictionary::parse(text).unwrap(), wanted);
        }
        let vector = "{'descr': '|b1', 'fortran_order': True, 'shape': (7,)}";
        assert_eq!(Dictionary::parse(vector).unwrap().shape, [7]);
        let scalar = "{'descr': '|b1', 'fortran_order': True, 'shape': ()}";
        assert_eq!(Dictionary::parse(scalar).unwrap().shape, [0_usize; 0]);
    }

    #[test]
    fn says_what_it_cannot_read() {
        for (text, problem) in [
            ("", "expected `{`, found \"\""),
            ("{'descr': '<f4', 'fortran_order': False}", "entry `shape` is missing"),
            ("{'descr': '<f4", "a string has no end"),
            ("{'descr': [('a', '<f4')], }", "expected one number an element, found a structured type"),
            ("{'shape': (-3,)}", "expected the size of a dimension, found \"-3,)}\""),
            (
                "{'shape': (99999999999999999999999,)}",
                "expected the size of a dimension, found \"99999999999999999999\"",
            ),
            ("{'fortran_order': 1}", "expected `True` or `False`, found \"1}\""),
            ("{'size': 1}", "unknown entry `size`"),
        ] {
            assert_eq!(Dictionary::parse(text).unwrap_err(), problem);
        }
    }
}
