//! A table of users' mistakes: what was typed, the exit status, and words that must be in the answer.
//!
//! One line extends it. `{data}` is a dataset, `{model}` a model of it, `{features}` features for the model, `{file}` a
//! text file, `{grid:TEXT}` a file with that text (`;` for line ends), `{out}` a folder to write into. Words are separated
//! by `|`.
//!
//! Of every line it holds, too: no panic, one `error:` line where the status is 1, no result on stdout then, and
//! nothing left behind in the folder to write into.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{Folder, Ran, bidilel};

#[rustfmt::skip]
const MISTAKES: &[(&str, i32, &str)] = &[
    // Commands and options that do not exist.
    ("fly", 2, "unrecognized subcommand"),
    ("evalute {data}", 2, "similar|evaluate"),
    ("evaluate", 2, "DATASET"),
    ("evaluate {data} --alfa 1", 2, "--alfa|--alpha"),
    ("evaluate {data} {data}", 2, "unexpected argument"),
    ("evaluate {data} --format xml", 2, "expected one of text, json"),
    ("evaluate {data} --threads 0", 2, "--threads"),
    ("evaluate {data} --quiet --verbose", 2, "cannot be used with"),
    ("predict {model}", 2, "FEATURES"),
    ("fit {data}", 2, "--out"),
    ("class", 2, "list"),
    ("completions klingon", 2, "klingon"),

    // Values that are wrong whatever the data are.
    ("evaluate {data} --alpha -1", 2, "alpha must be a positive number, found -1"),
    ("evaluate {data} --alpha 0", 2, "alpha|found 0"),
    ("evaluate {data} --alpha nan", 2, "alpha|NaN"),
    ("evaluate {data} --alpha inf", 2, "alpha|inf"),
    ("evaluate {data} --alpha ten", 2, "--alpha|ten"),
    ("evaluate {data} --dim 0", 2, "dim must be at least 1"),
    ("evaluate {data} --dim -5", 2, "-5"),
    ("evaluate {data} --dim 2.5", 2, "2.5"),
    ("evaluate {data} --neighbors 0", 2, "neighbors must be at least 1"),
    ("evaluate {data} --kernel poly", 2, "kernel must be linear, rbf|`poly`"),
    ("evaluate {data} --kernel cnn=poly", 2, "`poly`"),
    ("evaluate {data} --kernel rbf:-1", 2, "kernel"),
    ("evaluate {data} --kernel-memory 0 --kernel rbf", 2, "kernel-memory|positive"),
    ("evaluate {data} --nystrom-rank 0", 2, "nystrom-rank"),
    ("evaluate {data} --bottom-up magic", 2, "slpp"),
    ("evaluate {data} --bottom-up cca --ridge -1", 2, "ridge|-1"),
    ("evaluate {data} --top-down svr --svr-c 0", 2, "svr-c must be a positive number, found 0"),
    ("evaluate {data} --top-down svr --svr-nu 1.5", 2, "svr-nu|1.5"),
    ("evaluate {data} --top-down svr --svr-gamma -1", 2, "svr-gamma|-1"),
    ("evaluate {data} --top-down svr --svr-epsilon -1", 2, "svr-epsilon|-1"),
    ("evaluate {data} --svr-epsilon 0.1 --svr-nu 0.5", 2, "cannot be used with"),
    ("evaluate {data} --semantic attributes,words --gamma 1.5", 2, "gamma must be between 0 and 1"),
    ("evaluate {data} --semantic attributes,words --semantic-weights 0.5,0.6", 2, "sum to 1"),
    ("evaluate {data} --semantic attributes,words --semantic-weights 1", 2, "2 weights"),
    ("evaluate {data} --visual cnn,motion --view-weights 0.5,0.2,0.3", 2, "2 weights"),
    ("evaluate {data} --visual cnn=1.5,motion=-0.5", 2, "non-negative"),
    ("evaluate {data} --visual cnn=0.5,motion", 2, "give all of them one"),
    ("evaluate {data} --visual cnn=0.5,motion=0.5 --view-weights 0.5,0.5", 2, "give them once"),
    ("evaluate {data} --semantic attributes=0.5,words=0.5 --gamma 0.5", 2, "exclude each other"),
    ("evaluate {data} --post self-training --self-training-neighbors 0", 2, "self-training-neighbors"),
    ("evaluate {data} --starts 0", 2, "starts must be at least 1"),
    ("evaluate {data} --init krr --starts many", 2, "--starts|many"),
    ("evaluate {data} --top 0", 2, "at least 1"),
    ("evaluate {data} --repeat 0", 2, "--repeat"),
    ("evaluate {data} --format parquet", 2, "only predictions come as parquet"),
    ("evaluate nowhere --alpha -1", 2, "alpha"),
    ("tune {data} --alpha -1", 2, "alpha must be a positive number"),
    ("tune {data} --alpha 1,-1", 2, "alpha must be a positive number"),
    ("tune {data} --alpha 1,many", 2, "alpha"),
    ("tune {data} --dim 0,10", 2, "dim must be at least 1"),
    ("tune {data} --bottom-up slpp,magic", 2, "bottom_up|magic"),
    ("tune {data} --trials 0", 2, "at least 1"),
    ("tune {data} --holdout 1.5", 2, "between 0 and 1"),
    ("tune {data} --samples 0 --strategy random", 2, "at least 1"),
    ("tune {data} --budget 0", 2, "leaves nothing to do"),
    ("tune {data} --budget 5d", 2, "30s, 5m or 2h"),
    ("tune {data} --resume", 2, "--journal"),
    ("select {data} --threshold 0.7", 2, "between 0 and 0.5"),
    ("select {data} --most 0", 2, "at least 1"),
    ("generate {out}/new --scale 2", 2, "scale"),
    ("generate {out}/new --preset sun", 2, "sun|awa"),
    ("generate {out}/new --known 1", 2, "known must be at least 2"),
    ("encode {data} --out {out}/f.npy --components 0", 2, "at least 1"),
    ("encode {data} --out {out}/f.npy --power 0", 2, "--power|above 0 and at most 1"),
    ("encode {data} --out {out}/f.npy --tolerance -1", 2, "--tolerance|at least 0"),
    ("encode {data} --out {out}/f.npy --variance-floor nan", 2, "--variance-floor|above 0"),
    ("predict {model} {features} --top 0", 2, "at least 1"),
    ("predict {model} {features} --self-training-neighbors 0", 2, "at least 1"),
    ("predict {model} {features} --post csls --csls-neighbors 0", 2, "at least 1"),
    ("evaluate {data} --post csls --csls-neighbors 0", 2, "csls-neighbors must be at least 1"),
    ("evaluate {data} --post hubs", 2, "hubs|mutual-proximity"),
    ("predict - -", 2, "standard input can be read once"),
    ("predict {model} {features} -", 2, "a pipe cannot be one of several files"),
    ("encode {data} --out -", 2, "cannot go to standard output"),
    ("convert {data} -", 2, "a folder cannot go to standard output"),
    ("generate -", 2, "a folder cannot go to standard output"),
    ("tune {data} --journal -", 2, "a journal cannot go to standard output"),
    ("demo --page {out}/page.png", 2, "a page is written as .html"),

    // Files whose endings ask for something else.
    ("predict {model} {features} --format latex", 2, "csv, json, jsonl, parquet, text|latex"),
    ("predict {model} {features} --out {out}/p.png", 2, "predictions come as|png"),
    ("predict {model} {features} --out {out}/p.tex", 2, "predictions come as|latex"),
    ("predict {model} {features} --out {out}/p.xlsx", 2, "xlsx"),
    ("predict {model} {features} --out {out}/p.json --format csv", 2, "json|csv|give one of them"),
    ("predict {model} {features} --out {out}/p.parquet --format json", 2, "parquet|json"),
    ("evaluate {data} --out {out}/r.parquet", 2, "results come as"),
    ("evaluate {data} --out {out}/r.png", 2, "results come as|png"),
    ("tune {data} --out {out}/best.csv", 2, "a settings file is written as .toml or .json"),
    ("tune {data} --curves {out}/curves.png", 2, "a drawing is written as .svg, not as .png"),
    ("tune {data} --report {out}/page.pdf", 2, "a page is written as .html"),
    ("evaluate {data} --report {out}/page.json", 2, "a page is written as .html"),
    ("evaluate {data} --run-data {out}/run.html", 2, "run data is written as .json"),
    ("report {features} --out {out}/page.png", 2, "a page is written as .html"),
    ("report {features}", 2, "--out"),
    ("report - - --out {out}/page.html", 2, "standard input can be read once"),
    ("evaluate {data} --plot-theme dark", 2, "--plots"),
    ("evaluate {data} --plots -", 2, "a folder of charts cannot go to standard output"),
    ("select {data} --plot {out}/views.pdf", 2, "a drawing is written as .svg"),
    ("fit {data} --out {out}/model.json", 2, "a model is written as .safetensors"),
    ("fit {data} --out {out}/model --format csv", 2, "text or json"),
    ("encode {data} --out {out}/rows.parquet", 2, ".npy"),

    // Targets that cannot be written, found before the work.
    ("fit {data} --out {out}/missing/model", 1, "missing`: no such file or folder"),
    ("fit {data} --out {data}", 1, "expected a file, found a folder"),
    ("evaluate {data} --out {out}/missing/r.json", 1, "missing"),
    ("predict {model} {features} --out {out}/missing/p.csv", 1, "missing"),
    ("tune {data} --out {out}/missing/best.toml", 1, "missing"),
    ("tune {data} --curves {out}/missing/c.svg", 1, "missing"),
    ("tune {data} --journal {out}/missing/j.jsonl", 1, "missing"),
    ("select {data} --report {out}/missing/p.html", 1, "missing"),
    ("convert {data} {out}/missing/copy", 1, "missing"),
    ("convert {data} {data}", 1, "already exists|--overwrite"),
    ("generate {data}", 1, "already exists|--overwrite"),
    ("generate {out}/missing/new", 1, "missing"),
    ("demo --page {out}/missing/page.html", 1, "missing"),
    ("evaluate {data} --report {out}/missing/page.html", 1, "missing"),
    ("evaluate {data} --run-data {out}/missing/run.json", 1, "missing"),
    ("evaluate {data} --plots {out}/missing/plots", 1, "missing"),
    ("evaluate {data} --plots {features}", 1, "expected a folder for the charts, found a file"),
    ("report {out}/missing.json --out {out}/page.html", 1, "missing.json"),
    ("report {features} --out {out}/page.html", 1, "is not UTF-8 text"),

    // Datasets, models and features that are something else.
    ("evaluate nowhere", 1, "nowhere`: no such file"),
    ("evaluate {file}", 1, "error"),
    ("evaluate {out}", 1, "without `dataset.toml`|hint"),
    ("evaluate builtin:cats", 1, "builtin:emoji"),
    ("evaluate synthetic:huge", 1, "huge"),
    ("inspect nowhere", 1, "nowhere"),
    ("predict {features} {features}", 1, "not a usable model"),
    ("predict nowhere {features}", 1, "nowhere"),
    ("predict {model} nowhere.npy", 1, "nowhere.npy"),
    ("predict {model} {data}", 1, "expected a file, found a folder"),
    ("predict {model} {data}/motion.npy", 1, "expected 128 dimensions, found 64"),
    ("predict {model} {data}/classes.txt", 1, "classes.txt"),
    ("predict {model} {features} {features}", 1, "features for view `cnn` are given twice"),
    ("predict {model} vgg={features}", 1, "no view `vgg`"),
    ("predict {model} {features} --key x", 1, "has no keys"),
    ("predict {model} /dev/null", 1, "/dev/null"),
    ("class list {features}", 1, "not a usable model"),

    // Names and sizes that this dataset does not have.
    ("evaluate {data} --visual vgg", 1, "vgg|cnn"),
    ("evaluate {data} --semantic glove", 1, "glove|attributes"),
    ("evaluate {data} --split magic", 1, "magic|standard"),
    ("evaluate {data} --split random:99", 1, "no trial 99"),
    ("evaluate {data} --semantic attributes,attributes", 1, "twice"),
    ("evaluate {data} --semantic attributes --gamma 0.5", 1, "gamma|two"),
    ("evaluate {data} --dim 100000", 1, "dim|100000"),
    ("evaluate {data} --bottom-up lda --dim 20", 1, "between 1 and 19"),
    ("evaluate {data} --kernel vgg=rbf", 1, "vgg"),
    ("fit {data} --split random --out {out}/m", 1, "5 trials|random:0"),
    ("tune {data} --split random", 1, "--split random:0"),
    ("tune {data} --holdout 0.95", 1, "20 known classes"),

    // Random divisions of the classes.
    ("evaluate {data} --random-splits 0", 2, "--random-splits|0 is not in 1..=1000"),
    ("evaluate {data} --random-splits -3", 2, "-3 is not in 1..=1000"),
    ("evaluate {data} --random-splits 3 --split standard", 2, "cannot be used with|--split"),
    ("evaluate {data} --random-unseen 3", 2, "--random-splits"),
    ("evaluate {data} --random-splits 3 --random-unseen 0", 2, "a number of classes of at least 1, or a share"),
    ("evaluate {data} --random-splits 3 --random-unseen 1.5", 2, "a number of classes of at least 1, or a share"),
    ("evaluate {data} --random-splits 3 --random-unseen 25", 1, "random-unseen must be between 1 and 24|25 classes|found 25"),
    ("compare {data} --methods rr --random-splits 26 --random-unseen 1", 1, "random-splits must be between 1 and 25|found 26"),
    ("fit {data} --random-splits 2 --out {out}/m", 2, "fit takes one trial|--random-splits 1"),
    ("tune {data} --random-splits 2", 2, "tune takes one trial|--random-splits 1|compare --tune"),
    ("tune {data} --random-splits 1 --random-unseen 22", 1, "the number of known classes must be at least 4|found 3"),

    // Settings and grids in files: a wrong value is the file's, not the command line's.
    ("evaluate {data} --settings nowhere.toml", 1, "nowhere.toml"),
    ("evaluate {data} --settings {grid:alfa = 1}", 1, "no setting `alfa`|did you mean `alpha`?"),
    ("evaluate {data} --settings {grid:alpha = -1}", 1, "alpha must be a positive number"),
    ("evaluate {data} --settings {grid:alpha = \"much\"}", 1, "not a settings file"),
    ("evaluate {data} --settings {grid:this is no toml}", 1, "not a settings file"),
    ("tune {data} --grid nowhere.toml", 1, "nowhere.toml"),
    ("tune {data} --grid {grid:alfa = [1, 2]}", 1, "no setting `alfa`|did you mean `alpha`?"),
    ("tune {data} --grid {grid:bottum-up = [\"slpp\"]}", 1, "did you mean `bottom_up`?"),
    ("tune {data} --grid {grid:# nothing}", 1, "the grid is empty"),
    ("tune {data} --grid {grid:alpha = []}", 1, "no value to try"),
    ("tune {data} --grid {grid:alpha = [1, \"x\"]}", 1, "alpha"),

    // Comparisons.
    ("compare {data} --methods eszls", 2, "no method `eszls`|did you mean `eszsl`?"),
    ("compare {data} --methods eszsl:alpha=1", 2, "eszsl:alpha=1|matters to method `eszsl`"),
    ("compare {data} --methods bidilel:alpha=-1", 2, "--alpha must be a positive number"),
    ("compare {data} --method eszsl", 2, "--methods"),
    ("compare {data} --methods rr --trials 3", 2, "--tune"),
    ("compare {data} --methods rr --resume", 2, "--journal"),
    ("compare {data} --methods rr --plot {out}/bars.png", 2, ".svg"),
    ("compare {data} --methods rr --out {out}/table.xlsx", 2, "xlsx"),
    ("compare {data} --methods rr --split magic", 1, "magic|standard"),

    // What people type and what works.
    ("predict {model} {features} --out -", 0, "index,label,distance"),
    ("predict {model} {features} --out /dev/stdout", 0, "index,label,distance"),
    ("predict {model} {features} --format jsonl", 0, "{\"index\":"),
    ("evaluate {data} --out -", 0, "\"per_class\""),
    ("evaluate {data} --alpha 1 --bottom-up pca", 0, "--alpha has no effect with --bottom-up pca"),
    ("evaluate {data} --krr-ridge 1", 0, "--krr-ridge has no effect with --top-down lsm"),
    ("evaluate {data} --balanced-strength 1", 0, "--balanced-strength has no effect without --post balanced"),
    (
        "evaluate {data} --post balanced --balanced-strength 0 --balanced-shares estimated",
        0,
        "--balanced-shares has no effect with --balanced-strength 0",
    ),
    ("tune {data} --auto --strategy grid", 2, "'--auto' cannot be used with '--strategy <NAME>'"),
    ("tune {data} --auto --choose sure", 2, "'--auto' cannot be used with '--choose <NAME>'"),
    ("tune {data} --auto --method eszsl", 1, "--method must be bidilel with auto, which chooses among the pipelines of that method alone, found eszsl"),
    ("evaluate {data} --settings {grid:}", 0, "slpp"),
];

#[test]
fn every_mistake_gets_its_status_and_its_words() {
    assert!(MISTAKES.len() >= 80, "{}", MISTAKES.len());
    let folder = Folder::generated();
    let model = folder.beside("model");
    assert_eq!(bidilel(&["fit", &folder.data(), "--out", &model]).status, 0);
    std::fs::write(folder.beside("file.txt"), "hello\n").expect("writable");
    std::fs::create_dir(folder.beside("out")).expect("writable");
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = Vec::new();
        while let Some((number, mistake)) = {
            let number = next.fetch_add(1, Ordering::Relaxed);
            MISTAKES.get(number).map(|mistake| (number, mistake))
        } {
            wrong.extend(check(&folder, number, mistake));
        }
        wrong
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic here")).collect()
    });
    assert!(wrong.is_empty(), "{} of {}:\n\n{}", wrong.len(), MISTAKES.len(), wrong.join("\n\n"));
    let left = std::fs::read_dir(folder.beside("out")).expect("the folder").count();
    assert_eq!(left, 0, "nothing is left behind");
}

/// What is wrong with the answer to a mistake, if anything is.
fn check(folder: &Folder, number: usize, (line, status, words): &(&str, i32, &str)) -> Option<String> {
    let arguments: Vec<String> = arguments(folder, number, line);
    let ran @ Ran { stdout, stderr, .. } =
        &bidilel(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    // What `inspect` finds is its result.
    let result = *status == 0 || line.starts_with("inspect");
    let said = if result { format!("{stdout}{stderr}") } else { stderr.clone() };
    let missing: Vec<&str> = words.split('|').filter(|word| !said.contains(word)).collect();
    let errors = stderr.lines().filter(|line| line.starts_with("error: ")).count();
    let clean =
        !stderr.contains("panicked") && (*status != 1 || result || (errors == 1 && stdout.is_empty()));
    let right = ran.status == *status && missing.is_empty() && clean;
    (!right).then(|| {
        format!("{line}\n  expected {status}, found {}; missing {missing:?}\n{stderr}{stdout}", ran.status)
    })
}

/// The words of a line, with its placeholders filled in.
fn arguments(folder: &Folder, number: usize, line: &str) -> Vec<String> {
    let mut line = line.to_owned();
    let mut file = None;
    if let Some((before, rest)) = line.split_once("{grid:") {
        let (text, after) = rest.rsplit_once('}').expect("a closing brace");
        let path = folder.beside(&format!("grid-{number}.toml"));
        std::fs::write(Path::new(&path), text.replace(';', "\n")).expect("writable");
        (line, file) = (format!("{before}{{grid}}{after}"), Some(path));
    }
    let fill = |word: &str| {
        word.replace("{data}", &folder.data())
            .replace("{model}", &folder.beside("model"))
            .replace("{features}", folder.file("cnn.npy").to_str().expect("plain"))
            .replace("{file}", &folder.beside("file.txt"))
            .replace("{out}", &folder.beside("out"))
            .replace("{grid}", file.as_deref().unwrap_or_default())
    };
    line.split(' ').map(fill).collect()
}
