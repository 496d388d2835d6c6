//! Token vectors to one vector per text.

use bidilel_vision::{Output, TokenBatch, TokenOutput};

use crate::error::{Error, Result};

/// What becomes of the vectors of the tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// Their mean, without padding: sentence-transformers.
    Mean,
    /// The first token, `[CLS]`.
    Cls,
    /// The last token, the end of the text: CLIP without its projection, and causal networks.
    Eos,
    /// None: the network gives one vector per text.
    Pooled,
}

/// Outputs that are a vector of the whole text, by the names that exporters give them.
const SENTENCE_OUTPUTS: [&str; 4] = ["sentence_embedding", "text_embeds", "text_features", "embeddings"];

impl Pooling {
    /// The names by which they are asked for.
    pub const NAMES: [&'static str; 4] = ["mean", "cls", "eos", "pooled"];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Cls => "cls",
            Self::Eos => "eos",
            Self::Pooled => "pooled",
        }
    }

    /// The one of that name; none for `auto`.
    pub fn parse(name: &str) -> Result<Option<Self>> {
        match name {
            "auto" => Ok(None),
            "mean" => Ok(Some(Self::Mean)),
            "cls" => Ok(Some(Self::Cls)),
            "eos" => Ok(Some(Self::Eos)),
            "pooled" => Ok(Some(Self::Pooled)),
            _ => Err(Error::NoPooling { name: name.to_owned() }),
        }
    }

    /// The output to take and how to pool it, where one of them is not said.
    ///
    /// An output that is called a sentence's wins, then the only output. `pooler_output` of BERT is no sentence vector:
    /// of the outputs of such a network the tokens are taken.
    pub(crate) fn choose<'a>(
        outputs: &'a [Output],
        layer: Option<&'a str>,
        pooling: Option<Self>,
    ) -> (Option<&'a str>, Option<Self>) {
        if layer.is_some() {
            return (layer, pooling);
        }
        let wanted = match pooling {
            Some(Self::Pooled) => Some(2),
            Some(_) => Some(3),
            None => None,
        };
        let fits =
            |output: &&Output| wanted.is_none() || output.dimensions.is_none() || output.dimensions == wanted;
        let called = || {
            let sentence = outputs.iter().find(|output| SENTENCE_OUTPUTS.contains(&output.name.as_str()));
            sentence.filter(|_| wanted != Some(3))
        };
        let tokens = || outputs.iter().find(|output| wanted.is_none() && output.dimensions == Some(3));
        let chosen = called().or_else(tokens).or_else(|| outputs.iter().find(fits)).or(outputs.first());
        (chosen.map(|output| output.name.as_str()), pooling)
    }

    /// The pooling of a tensor that is not said: by its dimensions.
    pub(crate) fn of_shape(shape: &[usize]) -> Self {
        if shape.len() == 2 { Self::Pooled } else { Self::Mean }
    }

    /// A vector for each text of a batch.
    pub(crate) fn rows(self, output: &TokenOutput, batch: &TokenBatch, layer: &str) -> Result<Vec<Vec<f32>>> {
        let shape = &output.shape;
        let wrong = |expected| {
            let found = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
            Error::Pooling { layer: layer.to_owned(), pooling: self.name(), expected, found }
        };
        let dim = *shape.last().unwrap_or(&0);
        if self == Self::Pooled {
            if shape.len() != 2 || dim == 0 {
                return Err(wrong("texts x dimensions"));
            }
            return Ok(output.data.chunks_exact(dim).map(<[f32]>::to_vec).collect());
        }
        if shape.len() != 3 || dim == 0 || shape[1] != batch.length {
            return Err(wrong("texts x tokens x dimensions"));
        }
        let texts = output.data.chunks_exact(dim * batch.length).zip(batch.mask.chunks_exact(batch.length));
        Ok(texts.map(|(tokens, mask)| self.pool(tokens, mask, dim)).collect())
    }

    fn pool(self, tokens: &[f32], mask: &[i64], dim: usize) -> Vec<f32> {
        let token = |place: usize| tokens[place * dim..(place + 1) * dim].to_vec();
        match self {
            Self::Cls => token(0),
            Self::Eos => token(mask.iter().rposition(|&real| real != 0).unwrap_or(0)),
            Self::Mean | Self::Pooled => {
                let mut sums = vec![0.0_f64; dim];
                let real = tokens.chunks_exact(dim).zip(mask).filter(|(_, real)| **real != 0);
                let mut count = 0.0_f64;
                for (vector, _) in real {
                    sums.iter_mut().zip(vector).for_each(|(sum, &value)| *sum += f64::from(value));
                    count += 1.0;
                }
                #[expect(clippy::cast_possible_truncation, reason = "networks compute in single precision")]
                let mean = |sum: f64| (sum / count.max(1.0)) as f32;
                sums.into_iter().map(mean).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch() -> (TokenOutput, TokenBatch) {
        let output = TokenOutput { shape: vec![2, 3, 2], data: (0_u8..12).map(f32::from).collect() };
        let mask = vec![1, 1, 0, 1, 1, 1];
        (output, TokenBatch { texts: 2, length: 3, ids: vec![0; 6], types: vec![0; 6], mask })
    }

    #[test]
    fn padding_is_left_out() {
        let (output, batch) = batch();
        let rows = |pooling: Pooling| pooling.rows(&output, &batch, "x").unwrap();
        assert_eq!(rows(Pooling::Mean), [[1.0, 2.0], [8.0, 9.0]]);
        assert_eq!(rows(Pooling::Cls), [[0.0, 1.0], [6.0, 7.0]]);
        assert_eq!(rows(Pooling::Eos), [[2.0, 3.0], [10.0, 11.0]]);
        assert!(Pooling::Pooled.rows(&output, &batch, "x").is_err());
        let flat = TokenOutput { shape: vec![2, 6], ..output.clone() };
        assert_eq!(Pooling::Pooled.rows(&flat, &batch, "x").unwrap()[1][0].to_bits(), 6.0_f32.to_bits());
        assert!(Pooling::Mean.rows(&flat, &batch, "x").is_err());
    }

    #[test]
    fn the_output_of_a_sentence_is_found() {
        let outputs = |names: &[(&str, usize)]| -> Vec<Output> {
            let output = |&(name, dimensions): &(&str, usize)| Output {
                name: name.to_owned(),
                dimensions: Some(dimensions),
            };
            names.iter().map(output).collect()
        };
        let bert = outputs(&[("last_hidden_state", 3), ("pooler_output", 2)]);
        let clip = outputs(&[("text_embeds", 2), ("last_hidden_state", 3)]);
        let one = outputs(&[("y", 2)]);
        let chosen = |all: &[Output], pooling| Pooling::choose(all, None, pooling).0.map(str::to_owned);
        assert_eq!(chosen(&bert, None).as_deref(), Some("last_hidden_state"));
        assert_eq!(chosen(&bert, Some(Pooling::Pooled)).as_deref(), Some("pooler_output"));
        assert_eq!(chosen(&clip, None).as_deref(), Some("text_embeds"));
        assert_eq!(chosen(&clip, Some(Pooling::Eos)).as_deref(), Some("last_hidden_state"));
        assert_eq!(chosen(&one, None).as_deref(), Some("y"));
        assert_eq!(Pooling::choose(&bert, Some("x"), None), (Some("x"), None));
        assert_eq!(Pooling::NAMES.map(|name| Pooling::parse(name).unwrap().unwrap().name()), Pooling::NAMES);
        assert!(Pooling::parse("max").is_err());
    }
}
