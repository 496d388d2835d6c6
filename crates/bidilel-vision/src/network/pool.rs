//! A tensor to one row per picture.

use super::Tensor;

/// What becomes of a tensor with more dimensions than batch and features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pool {
    /// The mean over places, frames or tokens.
    #[default]
    Mean,
    /// The largest over places, frames or tokens.
    Max,
    /// The first token of a transformer, its class token.
    First,
    /// Everything, one after the other.
    Flatten,
}

impl Pool {
    /// Rows of a tensor with `batch` members.
    ///
    /// Operations of ONNX have channels second, whatever the order of the input, so `batch x channels x places...` is
    /// pooled over the places; three dimensions are `batch x tokens x channels`, as transformers have them.
    pub(super) fn rows(self, tensor: Tensor, batch: usize) -> Result<Vec<Vec<f32>>, String> {
        let Tensor { mut shape, data } = tensor;
        let shown = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
        // A network for single pictures may drop the batch.
        if batch == 1 && shape.first() != Some(&1) {
            shape.insert(0, 1);
        }
        if shape.first() != Some(&batch) || shape.len() < 2 || data.len() != shape.iter().product::<usize>() {
            return Err(format!("is {shown}, expected one row for each of {batch} pictures"));
        }
        let length = data.len() / batch;
        if length == 0 {
            return Err(format!("is {shown}: there is nothing in it"));
        }
        let (channels, places, tokens) = match shape.len() {
            2 => (length, 1, false),
            3 => (shape[2], shape[1], true),
            _ => (shape[1], length / shape[1], false),
        };
        let row = |row: &[f32]| -> Vec<f32> {
            if self == Self::Flatten || places == 1 {
                return row.to_vec();
            }
            let at = |channel: usize, place: usize| {
                row[if tokens { place * channels + channel } else { channel * places + place }]
            };
            #[expect(clippy::cast_possible_truncation, reason = "features are single precision")]
            let pooled = |channel: usize| match self {
                Self::First => at(channel, 0),
                Self::Max => (0..places).map(|place| at(channel, place)).fold(f32::NEG_INFINITY, f32::max),
                Self::Mean | Self::Flatten => {
                    let sum: f64 = (0..places).map(|place| f64::from(at(channel, place))).sum();
                    (sum / places as f64) as f32
                }
            };
            (0..channels).map(pooled).collect()
        };
        Ok(data.chunks_exact(length).map(row).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: &[usize]) -> Tensor {
        let count: usize = shape.iter().product();
        Tensor { shape: shape.to_vec(), data: (0..count).map(|x| x as f32).collect() }
    }

    #[test]
    fn places_are_averaged_and_channels_kept() {
        assert_eq!(Pool::Mean.rows(tensor(&[2, 3]), 2).unwrap(), [[0., 1., 2.], [3., 4., 5.]]);
        assert_eq!(Pool::Mean.rows(tensor(&[1, 2, 2, 2]), 1).unwrap(), [[1.5, 5.5]]);
        assert_eq!(Pool::Max.rows(tensor(&[1, 2, 2, 2]), 1).unwrap(), [[3., 7.]]);
        assert_eq!(Pool::Mean.rows(tensor(&[1, 2, 1, 2, 2]), 1).unwrap(), [[1.5, 5.5]]);
        assert_eq!(Pool::Mean.rows(tensor(&[1, 2, 3]), 1).unwrap(), [[1.5, 2.5, 3.5]]);
        assert_eq!(Pool::First.rows(tensor(&[1, 2, 3]), 1).unwrap(), [[0., 1., 2.]]);
        assert_eq!(Pool::Flatten.rows(tensor(&[1, 2, 2, 1]), 1).unwrap(), [[0., 1., 2., 3.]]);
        assert_eq!(Pool::Mean.rows(tensor(&[4]), 1).unwrap(), [[0., 1., 2., 3.]]);
        assert!(Pool::Mean.rows(tensor(&[3, 4]), 2).is_err());
        assert!(Pool::Mean.rows(tensor(&[2]), 2).is_err());
        assert!(Pool::Mean.rows(tensor(&[2, 0]), 2).is_err());
    }
}
