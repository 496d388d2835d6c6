//! Encoders as the library offers them: laws of the whole, and files that come back.

use bidilel::encode::{AnyError, Empty, Encoder, Items, Method, Norm, Settings};
use bidilel_math::{Silent, pca};
use faer::{Mat, MatMut, MatRef};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

const DIM: usize = 8;

/// Items of one to three thousand descriptors around a few centers.
fn items() -> Vec<Mat<f32>> {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut normal = move || -> f32 { StandardNormal.sample(&mut random) };
    let counts = [1, 700, 3000, 64, 1024, 1025, 2, 300, 90, 2047, 40, 77];
    counts
        .iter()
        .enumerate()
        .map(|(item, &count)| {
            Mat::from_fn(DIM, count, |d, i| {
                let center = if (i + item) % (2 + item % 3) == d % 3 { 3.0 } else { 0.0 };
                center + normal() / (d + 1) as f32
            })
        })
        .collect()
}

fn settings(method: Method) -> Settings {
    Settings { components: 5, sample: 4000, ..Settings::new(method) }
}

fn encoded(encoder: &Encoder, items: &dyn Items) -> Mat<f32> {
    let mut rows = Mat::zeros(encoder.raw_dim(), 0);
    let append = |wave: MatRef<'_, f32>| -> bidilel::Result<()> {
        let before = rows.ncols();
        rows.resize_with(wave.nrows(), before + wave.ncols(), |i, j| wave[(i, j - before)]);
        Ok(())
    };
    encoder.encode(items, Empty::Refuse, &Silent, append).expect("sound items");
    rows
}

/// Rows in memory, for the second reduction.
struct Held(Mat<f32>);

impl pca::ColumnSource for Held {
    type Error = AnyError;
    fn count(&self) -> usize {
        self.0.ncols()
    }
    fn dim(&self) -> usize {
        self.0.nrows()
    }
    fn read(&self, first: usize, into: MatMut<'_, f64>) -> Result<(), AnyError> {
        Ok(pca::ColumnSource::read(&self.0.as_ref(), first, into)?)
    }
}

#[test]
fn an_encoder_comes_back_from_its_file() {
    for method in [Method::Fisher, Method::Bag] {
        let items = items();
        let mut encoder = Encoder::fit(&items, &settings(method), &Silent).expect("enough descriptors");
        let rows = Held(encoded(&encoder, &items));
        let plain = encoder.to_bytes().expect("an encoder");
        assert_eq!(Encoder::from_bytes(&plain).expect("what was written"), encoder);
        encoder.fit_reduction(&rows, 3, None, &Silent).expect("rows that vary");
        let bytes = encoder.to_bytes().expect("an encoder");
        let again = Encoder::from_bytes(&bytes).expect("what was written");
        assert_eq!(again, encoder);
        assert_eq!((again.dim(), again.reduce(rows.0.as_ref()).nrows()), (3, 3));
    }
}

#[test]
fn damaged_files_are_refused_and_never_panic() {
    let items = items();
    let encoder = Encoder::fit(&items, &settings(Method::Fisher), &Silent).expect("enough descriptors");
    let good = encoder.to_bytes().expect("an encoder");
    for length in (0..good.len()).step_by(97) {
        assert!(Encoder::from_bytes(&good[..length]).is_err(), "{length} bytes");
    }
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..2000 {
        let mut bytes = good.clone();
        let place = rand::RngExt::random_range(&mut random, 0..bytes.len());
        bytes[place] = rand::RngExt::random(&mut random);
        // Many numbers may be others; what must not happen is a panic, or an encoder that panics.
        if let Ok(encoder) = Encoder::from_bytes(&bytes)
            && encoder.header.descriptor_dim == DIM
        {
            assert!(encoder.raw_dim() > 0);
        }
    }
}

#[test]
fn a_set_and_the_same_set_in_another_order_or_twice_have_one_vector() {
    let items = items();
    for method in [Method::Fisher, Method::Bag] {
        let encoder = Encoder::fit(&items, &settings(method), &Silent).expect("enough descriptors");
        let rows = encoded(&encoder, &items);
        let turned: Vec<Mat<f32>> = items
            .iter()
            .map(|item| {
                Mat::from_fn(DIM, 2 * item.ncols(), |d, i| item[(d, item.ncols() - 1 - i % item.ncols())])
            })
            .collect();
        let difference = encoded(&encoder, &turned) - &rows;
        assert!(difference.norm_max() < 1e-6, "{method:?}: {}", difference.norm_max());
        for row in rows.col_iter() {
            assert!((row.norm_l2() - 1.0).abs() < 1e-5, "rows have the length one");
        }
    }
}

#[test]
fn plain_counts_are_those_of_the_descriptors() {
    let items = items();
    let plain = Settings { power: 1.0, normalize: Norm::None, ..settings(Method::Bag) };
    let encoder = Encoder::fit(&items, &plain, &Silent).expect("enough descriptors");
    for (row, item) in encoded(&encoder, &items).col_iter().zip(&items) {
        let all: f32 = row.iter().sum();
        assert!((all - item.ncols() as f32).abs() < 0.5);
    }
    let shares = Settings { power: 1.0, normalize: Norm::L1, ..settings(Method::Bag) };
    let encoder = Encoder::fit(&items, &shares, &Silent).expect("enough descriptors");
    assert!(encoded(&encoder, &items).col_iter().all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-5));
}

#[test]
fn a_reduction_keeps_what_a_projection_can() {
    let items = items();
    let mut encoder = Encoder::fit(&items, &settings(Method::Fisher), &Silent).expect("enough descriptors");
    let rows = Held(encoded(&encoder, &items));
    // Twelve rows vary in eleven directions: their distances survive in full.
    encoder.fit_reduction(&rows, 3000, None, &Silent).expect("rows that vary");
    assert_eq!(encoder.dim(), 11);
    let reduced = encoder.reduce(rows.0.as_ref());
    for a in 0..12 {
        for b in 0..a {
            let distance = |points: &Mat<f32>| (points.col(a) - points.col(b)).norm_l2();
            assert!((distance(&reduced) - distance(&rows.0)).abs() < 1e-5);
        }
    }
}
