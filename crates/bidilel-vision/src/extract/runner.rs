//! Views, frames and clips through the network, averaged to one row per file.

use std::collections::VecDeque;

use super::{ExtractOptions, Prepared};
use crate::decode::Decoded;
use crate::discover::Item;
use crate::error::Result;
use crate::network::{Input, Network};
use crate::picture::Picture;
use crate::video::{Frames, Sample};

/// Either a row, or why there is none.
pub(super) type Row = std::result::Result<Vec<f32>, String>;

/// A network with what is done before and after it.
pub(super) struct Runner<'a> {
    network: &'a mut Network,
    input: Input,
    options: &'a ExtractOptions,
    table: [[f32; 256]; 3],
}

impl<'a> Runner<'a> {
    pub(super) fn new(network: &'a mut Network, input: Input, options: &'a ExtractOptions) -> Self {
        let table = options.preprocess.table();
        Self { network, input, options, table }
    }

    pub(super) fn names(&self) -> (&str, &str, &str) {
        (self.network.runtime(), self.network.runtime_version(), self.network.layer())
    }

    /// The length of a row, found by running one plain picture.
    pub(super) fn dimensions(&mut self) -> Result<usize> {
        let size = self.options.preprocess.size;
        let plain = Picture::plain(size.width, size.height, self.options.preprocess.background);
        let frames = if self.input.frames.is_some() { self.options.video.clip } else { 1 };
        let rows = self.run(&[vec![&plain; frames]])?;
        Ok(rows[0].len())
    }

    /// Rows of a chunk of files.
    pub(super) fn chunk(
        &mut self,
        items: &[Item],
        prepared: Vec<std::result::Result<Prepared, String>>,
    ) -> Result<Vec<Row>> {
        let clips = self.input.frames.is_some();
        let mut rows: Vec<Row> = Vec::with_capacity(items.len());
        let mut pictures = Vec::new();
        for (place, (item, prepared)) in items.iter().zip(prepared).enumerate() {
            rows.push(match prepared {
                Err(problem) => Err(problem),
                Ok(Prepared::Video) => self.video(item)?,
                Ok(Prepared::Views(_)) if clips => {
                    Err("is a picture, and the network takes clips of frames".to_owned())
                }
                Ok(Prepared::Views(views)) => {
                    pictures.push((place, views));
                    // Filled in below, when all pictures of the chunk go through together.
                    Ok(Vec::new())
                }
            });
        }
        let views: Vec<Vec<&Picture>> =
            pictures.iter().flat_map(|(_, views)| views).map(|view| vec![view]).collect();
        let mut all = self.run(&views)?.into_iter();
        for (place, views) in &pictures {
            let mut mean = Mean::default();
            all.by_ref().take(views.len()).for_each(|row| mean.add(&row));
            rows[*place] = mean.row();
        }
        Ok(rows)
    }

    /// Runs inputs, each of one view or of the frames of a clip, in batches.
    fn run(&mut self, inputs: &[Vec<&Picture>]) -> Result<Vec<Vec<f32>>> {
        let batch = self.input.batch.unwrap_or(self.options.batch);
        let mut rows = Vec::with_capacity(inputs.len());
        for group in inputs.chunks(batch) {
            // A network for exactly that many gets the last one again.
            let count = if self.input.batch.is_some() { batch } else { group.len() };
            let shape = self.input.shape(&self.options.preprocess, count, group[0].len())?;
            let mut tensor = Vec::with_capacity(shape.iter().product());
            for frames in group.iter().chain(std::iter::repeat(&group[group.len() - 1])).take(count) {
                self.options.preprocess.append(&self.table, frames, &mut tensor);
            }
            let mut group_rows = self.network.rows(&shape, &tensor, self.options.pool)?;
            group_rows.truncate(group.len());
            rows.append(&mut group_rows);
        }
        Ok(rows)
    }

    /// The mean over the clips, or over sampled frames, of a video.
    fn video(&mut self, item: &Item) -> Result<Row> {
        let video = &self.options.video;
        let clips = self.input.frames.is_some();
        let rate = if clips { None } else { video.frames_per_second };
        let mut frames = match Frames::open(&video.program, &item.file, rate) {
            Ok(frames) => frames,
            Err(problem) => return Ok(Err(problem)),
        };
        let mut mean = Mean::default();
        let mut sample = Sample::new(video.frames);
        let mut window: VecDeque<Vec<Picture>> = VecDeque::new();
        let sampled = !clips && rate.is_none();
        loop {
            let frame = match frames.next() {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(problem) => return Ok(Err(problem)),
            };
            if sampled && !sample.wants() {
                sample.put(None);
                continue;
            }
            let views = match self.options.preprocess.views(&Decoded::Picture(frame)) {
                Ok(views) => views,
                Err(problem) => return Ok(Err(problem)),
            };
            if sampled {
                sample.put(Some(views));
                continue;
            }
            window.push_back(views);
            if clips && window.len() == video.clip {
                self.clip(&window, &mut mean)?;
                window.drain(..video.clip - video.overlap);
            } else if !clips && window.len() == self.options.batch {
                self.frames(&Vec::from(std::mem::take(&mut window)), &mut mean)?;
            }
        }
        if sampled {
            self.frames(&sample.take(), &mut mean)?;
        } else if !clips {
            self.frames(&Vec::from(window), &mut mean)?;
        } else if mean.count == 0
            && let Some(last) = window.back().cloned()
        {
            // A film shorter than one clip stands still at its end.
            window.resize(video.clip, last);
            self.clip(&window, &mut mean)?;
        }
        Ok(if mean.count == 0 { Err("has no frames".to_owned()) } else { mean.row() })
    }

    fn clip(&mut self, window: &VecDeque<Vec<Picture>>, mean: &mut Mean) -> Result<()> {
        let views = window.front().map_or(0, Vec::len);
        let inputs: Vec<Vec<&Picture>> =
            (0..views).map(|view| window.iter().map(|frame| &frame[view]).collect()).collect();
        self.run(&inputs)?.iter().for_each(|row| mean.add(row));
        Ok(())
    }

    fn frames(&mut self, frames: &[Vec<Picture>], mean: &mut Mean) -> Result<()> {
        let inputs: Vec<Vec<&Picture>> = frames.iter().flatten().map(|view| vec![view]).collect();
        self.run(&inputs)?.iter().for_each(|row| mean.add(row));
        Ok(())
    }
}

/// A mean of rows.
#[derive(Default)]
struct Mean {
    sums: Vec<f64>,
    count: usize,
}

impl Mean {
    fn add(&mut self, row: &[f32]) {
        self.sums.resize(row.len(), 0.0);
        self.sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
        self.count += 1;
    }

    fn row(self) -> Row {
        #[expect(clippy::cast_possible_truncation, reason = "features are single precision")]
        let row: Vec<f32> = self.sums.iter().map(|sum| (sum / self.count as f64) as f32).collect();
        if row.iter().all(|value| value.is_finite()) {
            Ok(row)
        } else {
            Err("makes the network give NaN or infinity".to_owned())
        }
    }
}
