//! Features in files of any size, and in several files.

use std::fs;
use std::io::Write;
use std::sync::Arc;

use parquet::data_type::FloatType;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::support::{Folder, bidilel};

/// The features of a generated dataset, row after row.
fn features(folder: &Folder) -> Vec<Vec<f32>> {
    let array = bidilel_data::array::open(&folder.file("cnn.npy"), None).expect("features");
    let rows: &dyn bidilel::dataset::Rows = &array;
    let read = |row| {
        let mut values = vec![0.0; rows.dim()];
        rows.read(row, &mut values);
        values
    };
    (0..rows.count()).map(read).collect()
}

/// Writes rows as a table of many columns with small pages, in row groups of `group` rows.
fn write_parquet(path: &str, rows: &[&Vec<f32>], group: usize) {
    let columns: String =
        (0..rows[0].len()).map(|column| format!("required float f{column};")).collect::<Vec<_>>().join("\n");
    let schema =
        Arc::new(parse_message_type(&format!("message features {{ {columns} }}")).expect("a schema"));
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_data_page_row_count_limit(4096)
        .set_write_batch_size(1024)
        .build();
    let file = fs::File::create(path).expect("writable");
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).expect("a writer");
    for rows in rows.chunks(group) {
        let mut group = writer.next_row_group().expect("a row group");
        let mut place = 0;
        while let Some(mut column) = group.next_column().expect("a column") {
            let values: Vec<f32> = rows.iter().map(|row| row[place]).collect();
            column.typed::<FloatType>().write_batch(&values, None, None).expect("written");
            column.close().expect("closed");
            place += 1;
        }
        group.close().expect("closed");
    }
    writer.close().expect("closed");
}

fn npy(path: &str, rows: &[Vec<f32>]) {
    let mut writer =
        bidilel_data::array::NpyWriter::new(Vec::new(), &[rows.len(), rows[0].len()]).expect("a writer");
    rows.iter().for_each(|row| writer.write(row).expect("memory"));
    fs::write(path, writer.finish().expect("memory")).expect("writable");
}

fn fitted(folder: &Folder) -> String {
    let model = folder.beside("model");
    let ran = bidilel(&["fit", &folder.data(), "--visual", "cnn", "--dim", "10", "--out", &model]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    model
}

/// The most bytes of memory that a run of the program, which must succeed, took: as the system counts them.
#[cfg(target_os = "linux")]
fn peak_memory(arguments: &[&str]) -> usize {
    let program = assert_cmd::cargo::cargo_bin("bidilel");
    let mut child = std::process::Command::new(program).args(arguments).spawn().expect("it runs");
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
        most = most.max(kilobytes.unwrap_or(0) << 10);
        if let Some(ended) = child.try_wait().expect("a child") {
            assert!(ended.success());
            return most;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn parquet_is_recognized_block_by_block_in_little_memory() {
    let folder = Folder::generated();
    let (model, rows) = (fitted(&folder), features(&folder));
    // 20 million numbers: 160 MB as they were once read.
    let many: Vec<&Vec<f32>> = (0..160_000).map(|row| &rows[row % rows.len()]).collect();
    let (large, out) = (folder.beside("large.parquet"), folder.beside("predictions.csv"));
    write_parquet(&large, &many, usize::MAX);
    let most = peak_memory(&["predict", &model, &large, "--out", &out, "--threads", "2"]);
    assert!(most < 150 << 20, "{} MB", most >> 20);
    let found = fs::read_to_string(&out).expect("predictions");
    assert_eq!(found.lines().count(), many.len() + 1);
    let expected = bidilel(&["predict", &model, folder.file("cnn.npy").to_str().expect("plain")]).stdout;
    let count = rows.len() + 1;
    assert!(found.lines().take(count).eq(expected.lines()), "the first rows are those of the array");
}

/// Recognizes many copies of some rows, which `write` puts into a file, in less than 150 MB.
#[cfg(target_os = "linux")]
fn assert_little_memory(name: &str, copies: usize, write: impl FnOnce(&str, &[&Vec<f32>])) {
    let folder = Folder::generated();
    let (model, rows) = (fitted(&folder), features(&folder));
    let many: Vec<&Vec<f32>> = (0..copies).map(|row| &rows[row % rows.len()]).collect();
    let (large, out) = (folder.beside(name), folder.beside("predictions.csv"));
    write(&large, &many);
    let most = peak_memory(&["predict", &model, &large, "--out", &out, "--threads", "2"]);
    assert!(most < 150 << 20, "{} MB", most >> 20);
    let found = fs::read_to_string(&out).expect("predictions");
    assert_eq!(found.lines().count(), many.len() + 1);
    let expected = bidilel(&["predict", &model, folder.file("cnn.npy").to_str().expect("plain")]).stdout;
    let labels = |text: &str| -> Vec<String> {
        let label = |line: &str| line.split(',').nth(1).expect("a label").to_owned();
        text.lines().take(rows.len() + 1).map(label).collect()
    };
    assert_eq!(labels(&found), labels(&expected));
}

#[test]
#[cfg(target_os = "linux")]
fn hdf5_is_recognized_block_by_block_in_little_memory() {
    // 20 million numbers in chunks that reach over a part of the columns, as h5py makes them.
    assert_little_memory("large.h5", 160_000, |path, rows| {
        let values: Vec<f32> = rows.iter().flat_map(|row| row.iter().copied()).collect();
        let mut builder = hdf5_pure::FileBuilder::new();
        let columns = rows[0].len() as u64;
        builder
            .create_dataset("features")
            .with_f32_data(&values)
            .with_shape(&[rows.len() as u64, columns])
            .with_chunks(&[1250, columns / 4])
            .with_deflate(1);
        builder.write(path).expect("written");
    });
}

#[test]
#[cfg(target_os = "linux")]
fn csv_is_recognized_block_by_block_in_little_memory() {
    // 13 million numbers: 90 MB of text, 100 MB as they were once read.
    assert_little_memory("large.csv", 100_000, |path, rows| {
        let mut out = std::io::BufWriter::new(fs::File::create(path).expect("writable"));
        for row in rows {
            let cells: Vec<String> = row.iter().map(|value| format!("{value:.4}")).collect();
            writeln!(out, "{}", cells.join(",")).expect("written");
        }
    });
}

#[test]
fn several_files_are_one() {
    let folder = Folder::generated();
    let (model, rows) = (fitted(&folder), features(&folder));
    let whole = folder.file("cnn.npy");
    let expected = bidilel(&["predict", &model, whole.to_str().expect("plain")]).stdout;
    let cuts = [0, 7, 40, rows.len()];
    for (part, cut) in cuts.windows(2).enumerate() {
        npy(&folder.beside(&format!("part-{part}.npy")), &rows[cut[0]..cut[1]]);
    }
    let second: Vec<&Vec<f32>> = rows[7..40].iter().collect();
    write_parquet(&folder.beside("middle.parquet"), &second, 10);
    let predict = |files: &[&str]| bidilel(&[&["predict", &model], files].concat());
    let parts = [0, 1, 2].map(|part| folder.beside(&format!("part-{part}.npy")));
    assert_eq!(predict(&[&parts[0], &parts[1], &parts[2]]).stdout, expected);
    assert_eq!(predict(&[&folder.beside("part-*.npy")]).stdout, expected);
    assert_eq!(predict(&[&format!("cnn={}", folder.beside("part-?.npy"))]).stdout, expected);
    assert_eq!(predict(&[&parts[0], &folder.beside("middle.parquet"), &parts[2]]).stdout, expected);
    let with_post = |files: &[&str]| predict(&[files, &["--post", "self-training"]].concat()).stdout;
    assert_eq!(with_post(&[&folder.beside("part-*.npy")]), with_post(&[whole.to_str().expect("plain")]));
    assert!(predict(&[&parts[0], &parts[0]]).error().contains("given twice"));
    assert!(predict(&[&folder.beside("shard-*.npy")]).error().contains("no file has a name of this form"));
    // Rows are counted as their file counts them.
    let mut spoiled = rows[7..40].to_vec();
    spoiled[3][9] = f32::NAN;
    npy(&parts[1], &spoiled);
    let out = folder.beside("p.csv");
    let ran = predict(&[&folder.beside("part-*.npy"), "--out", &out]);
    assert!(ran.error().contains("part-1.npy`: row 3, column 9 is NaN"), "{}", ran.stderr);
    let ran = predict(&[&folder.beside("part-*.npy"), "--skip-bad-rows", "--out", &out]);
    assert!(ran.stderr.contains("row 10 ("), "{}", ran.stderr);
}
