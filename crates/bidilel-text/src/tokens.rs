//! Texts to tokens, by the `tokenizer.json` that comes with a network.
//!
//! The only file that knows the crate `tokenizers`.

use std::path::Path;

use bidilel_vision::guarded;
use tokenizers::{Tokenizer, TruncationParams};

use crate::error::{Error, Result};

/// Tokens of a text are cut here where nothing else says where: what BERT takes.
const USUAL_MAX_TOKENS: usize = 512;
/// A longer maximum in a `tokenizer_config.json` stands for none.
const LARGEST_MAX_TOKENS: usize = 1 << 20;

/// The tokens of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Encoded {
    pub(crate) ids: Vec<i64>,
    pub(crate) types: Vec<i64>,
    /// How many there would be without a limit.
    pub(crate) uncut: usize,
}

/// A tokenizer with a limit.
pub(crate) struct Tokens {
    /// Without limit and padding.
    whole: Tokenizer,
    /// The same with the limit.
    cut: Tokenizer,
    limit: usize,
    pad: i64,
}

impl Tokens {
    /// Reads a `tokenizer.json`; `config` is the `tokenizer_config.json` beside it, and `fixed` the length of the network.
    pub(crate) fn read(
        path: &Path,
        bytes: &[u8],
        config: Option<&[u8]>,
        fixed: Option<usize>,
        wanted: Option<usize>,
    ) -> Result<Self> {
        let failed = |problem: String| Error::Tokenizer { path: path.to_owned(), problem };
        let read = guarded(|| Tokenizer::from_bytes(bytes)).map_err(failed)?;
        let mut whole = read.map_err(|error| failed(error.to_string()))?;
        let pad = whole.get_padding().map(|padding| padding.pad_id);
        let usual = ["[PAD]", "<pad>", "<|endoftext|>"].iter().find_map(|token| whole.token_to_id(token));
        let pad = i64::from(pad.or(usual).unwrap_or(0));
        let params = whole.get_truncation().cloned();
        let own = params.as_ref().map(|params| params.max_length);
        let limit = wanted.or(fixed).or(own).or_else(|| configured(config)).unwrap_or(USUAL_MAX_TOKENS);
        let max_tokens = fixed.map_or(limit, |fixed| limit.min(fixed)).max(1);
        whole.with_padding(None);
        whole.with_truncation(None).map_err(|error| failed(error.to_string()))?;
        // Tokens at the ends are part of the limit, and the library counts below zero without room for any other.
        let ends = guarded(|| whole.encode("", true)).map_err(failed)?;
        let ends = ends.map_err(|error| failed(error.to_string()))?.len();
        if max_tokens <= ends {
            return Err(Error::NoRoom { max_tokens, ends });
        }
        let mut cut = whole.clone();
        let params = TruncationParams { max_length: max_tokens, stride: 0, ..params.unwrap_or_default() };
        cut.with_truncation(Some(params)).map_err(|error| failed(error.to_string()))?;
        Ok(Self { whole, cut, limit: max_tokens, pad })
    }

    /// Tokens after which a text is cut.
    pub(crate) fn max_tokens(&self) -> usize {
        self.limit
    }

    /// What stands where a text has ended.
    pub(crate) fn pad(&self) -> i64 {
        self.pad
    }

    /// The tokens of a text, with those that the network wants at its ends.
    pub(crate) fn encode(&self, text: &str) -> Result<Encoded> {
        let by = |tokenizer: &Tokenizer| {
            let failed = |problem: String| Error::NoTokens { text: text.to_owned(), problem: Some(problem) };
            let encoded = guarded(|| tokenizer.encode(text, true)).map_err(failed)?;
            encoded
                .map_err(|error| Error::NoTokens { text: text.to_owned(), problem: Some(error.to_string()) })
        };
        let mut encoding = by(&self.whole)?;
        let uncut = encoding.len();
        if uncut > self.limit {
            encoding = by(&self.cut)?;
        }
        if encoding.is_empty() {
            return Err(Error::NoTokens { text: text.to_owned(), problem: None });
        }
        let wide = |numbers: &[u32]| numbers.iter().map(|&number| i64::from(number)).collect();
        Ok(Encoded { ids: wide(encoding.get_ids()), types: wide(encoding.get_type_ids()), uncut })
    }
}

/// The longest text that the network was made for, as the file beside the tokenizer has it.
fn configured(config: Option<&[u8]>) -> Option<usize> {
    let config: serde_json::Value = serde_json::from_slice(config?).ok()?;
    let longest = usize::try_from(config.get("model_max_length")?.as_u64()?).ok()?;
    (1..LARGEST_MAX_TOKENS).contains(&longest).then_some(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximum_is_believed_where_it_is_one() {
        assert_eq!(configured(Some(br#"{"model_max_length": 77}"#)), Some(77));
        assert_eq!(configured(Some(br#"{"model_max_length": 1000000000000000019884624838656}"#)), None);
        assert_eq!(configured(Some(br#"{"model_max_length": 0}"#)), None);
        assert_eq!(configured(Some(b"no JSON")), None);
        assert_eq!(configured(None), None);
    }

    #[test]
    fn what_is_no_tokenizer_is_refused() {
        for bytes in
            [&b"{}"[..], b"", b"[1, 2]", b"{\"version\": \"1.0\", \"model\": {\"type\": \"Nothing\"}}"]
        {
            let read = Tokens::read(Path::new("t.json"), bytes, None, None, None);
            assert!(matches!(read, Err(Error::Tokenizer { .. })));
        }
    }
}
