//! Laws of the page.

use serde_json::json;

use super::*;

/// A class whose name tries to leave its place.
const HOSTILE: &str = "</script><script>alert('x')</script>\"&<img src=x onerror=alert(1)>";

fn evaluation() -> Value {
    json!({
        "dataset": HOSTILE, "split": "standard", "visual": ["cnn"], "semantic": ["attributes"],
        "method": {"name": "bidilel", "bottom_up": {"kind": "slpp", "alpha": 10.0}, "post": []},
        "accuracy": {"per_class": 0.75, "per_image": 0.7}, "chance": 0.5, "stress": 0.1,
        "steps": [], "top": {"1": {"per_class": 0.75, "per_image": 0.7}}, "hubness": {"1": 0.3},
        "classes": [
            {"name": HOSTILE, "instances": 10, "accuracy": 0.8, "mistaken_for": {"name": "whale", "share": 0.2}},
            {"name": "whale", "instances": 10, "accuracy": 0.7, "mistaken_for": null},
        ],
        "runs": [{"split": "standard", "seed": 0, "per_class": 0.75, "per_image": 0.7, "unseen": [HOSTILE, "whale"], "confusion": [[8, 2], [3, 7]]}],
        "summary": {"mean": 0.75, "standard_deviation": 0.0, "standard_error": 0.0}, "timings": {"total": 1.5},
        "run_data": {
            "split": "standard", "seed": 0, "command": "bidilel evaluate sea",
            "known": ["seal"], "unseen": [HOSTILE, "whale"], "candidates": [HOSTILE, "whale"],
            "test_instances": 4, "instances": [5, 7], "truth": [0, 1], "guesses": [[0, 1], [0, 1]],
            "map": {"stress": 0.2, "anchors": 5, "landmarks": [[0.0, 0.0]], "embeddings": [[1.0, 0.0], [0.0, 1.0]], "points": [[0.5, 0.5], [0.2, 0.1]]},
            "distances": {"pairs": 3, "known_unseen": [[1.0, 0.9], [0.8, 0.9]], "unseen_unseen": [[1.2, 1.1]]},
            "hubs": {"1": [12, 8]}, "convergence": [[[0, 1.0], [1, 0.5], [2, 0.25]]],
        },
        "version": "0.1.0",
    })
}

fn comparison() -> Value {
    let row = |name: &str, accuracy: f64| {
        json!({
            "method": name, "kind": "inductive", "per_class": accuracy, "per_image": accuracy, "standard_error": 0.01,
            "interval": [accuracy - 0.02, accuracy + 0.02], "p_value": null, "p_corrected": null, "seconds": 1.0,
            "tuning_seconds": null, "peak_memory": null, "settings": {}, "runs": [],
        })
    };
    json!({
        "dataset": HOSTILE, "split": "standard", "visual": ["cnn"], "semantic": ["attributes"], "tuned": false,
        "chance": 0.5, "over": "classes", "pairs": 2, "results": [row("eszsl", 0.7), row("dap", 0.6)], "seconds": 3.0,
    })
}

fn page(results: &[Value]) -> String {
    let mut report = Report::default();
    results.iter().for_each(|result| report.add(result.clone(), None).expect("a result"));
    report.html()
}

#[test]
fn names_cannot_leave_their_place() {
    let page = page(&[evaluation(), comparison()]);
    assert!(!page.contains("<script>alert") && !page.contains("<img src=x"), "as an element");
    assert_eq!(page.matches("</script>").count(), 2, "the data and the script");
    let island =
        page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("data");
    let data: Value = serde_json::from_str(island).expect("JSON");
    assert_eq!(data["maps"][0]["unseen"][0], HOSTILE, "and come back as they were");
}

#[test]
fn the_page_needs_nothing_else() {
    let page = page(&[evaluation(), comparison()]);
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for reference in ["http:", "https:", "src=\"/", "@import", "url("] {
        assert!(!page.contains(reference), "{reference}");
    }
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("@media print"));
}

#[test]
fn every_section_is_in_the_contents_and_ids_are_unique() {
    let page = page(&[evaluation(), evaluation()]);
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len());
    let links: Vec<&str> = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(links.len() > 12 && links.iter().all(|link| unique.contains(link)), "{links:?}");
}

#[test]
fn headlines_compare_with_guessing_and_with_the_best_compared_method() {
    let page = page(&[evaluation(), comparison()]);
    assert!(page.contains("75.0 %") && page.contains("1.5 times as good as guessing"));
    assert!(page.contains("+5.0 points") && page.contains("eszsl reaches 70.0 ± 1.0 %"));
}

#[test]
fn of_several_comparisons_the_best_counts_and_never_the_method_itself() {
    let with = |name: &str, figure: f64| {
        let mut other = comparison();
        (other["results"][0]["method"], other["results"][0]["per_class"]) = (name.into(), figure.into());
        other
    };
    let (low, high) = (with("rr", 0.6), with("ale", 0.73));
    for results in [[evaluation(), low.clone(), high.clone()], [evaluation(), high, low]] {
        assert!(page(&results).contains("ale reaches 73.0 ± 1.0 %"));
    }
    let mut itself = with("bidilel", 0.75);
    itself["results"][0]["per_image"] = 0.7.into();
    let page = page(&[evaluation(), itself]);
    assert!(page.contains("dap reaches 60.0 ± 1.0 %"), "same figures: the same method");
}

/// A comparison in which all classes are candidates: the method with the higher mean over classes is not the better one.
fn generalized_comparison() -> Value {
    let mut result = comparison();
    (result["over"], result["pairs"], result["chance"]) = ("nothing".into(), 0.into(), 0.25.into());
    for (row, harmonic) in [(0, 0.55), (1, 0.45)] {
        let row = &mut result["results"][row];
        row["generalized"] = json!({
            "seen": 0.65, "unseen": 0.475, "harmonic": harmonic, "ausuc": 0.321, "bias": 0.1,
            "uncalibrated": {"seen": 0.9, "unseen": 0.025, "harmonic": 0.05},
        });
        (row["interval"], row["standard_error"]) = (Value::Null, Value::Null);
    }
    result
}

#[test]
fn a_generalized_comparison_shows_what_it_ranks_by() {
    let text = page(&[generalized_comparison()]);
    for words in
        ["55.0 %", "harmonic mean of known and unseen; method eszsl", "65.0 %", "47.5 %", "0.321", "5.0 %"]
    {
        assert!(text.contains(words), "{words}");
    }
    assert!(!text.contains("70.0 %"), "a mean over unseen classes alone is no figure here");
    assert!(!text.contains(">best<") && !text.contains("signed-rank"), "nothing was tested");
}

#[test]
fn results_of_different_settings_are_not_compared() {
    let mut generalized = evaluation();
    generalized["accuracy"] =
        json!({"per_class": 0.75, "per_image": 0.7, "seen": 0.8, "unseen": 0.6, "harmonic": 0.685});
    let against = "Against the best compared method";
    assert!(!page(&[generalized.clone(), comparison()]).contains(against));
    assert!(!page(&[evaluation(), generalized_comparison()]).contains(against));
    let both = page(&[generalized, generalized_comparison()]);
    assert!(both.contains("+13.5 points") && both.contains("eszsl reaches 55.0 %, harmonic mean"));
    for (key, other) in
        [("visual", json!(["sift"])), ("semantic", json!(["words"])), ("split", json!("other"))]
    {
        let mut elsewhere = comparison();
        elsewhere[key] = other;
        assert!(!page(&[evaluation(), elsewhere]).contains(against), "{key}");
    }
}

#[test]
fn what_is_missing_is_left_out_with_a_note() {
    let mut bare = evaluation();
    bare.as_object_mut().expect("an object").remove("run_data");
    let bare = page(&[bare]);
    assert!(
        !bare.contains("<canvas data-map")
            && bare.contains("The map: this result has no points; evaluate <span class=\"o\">--run-data</span> FILE saves them")
    );
    assert!(bare.contains("Reliability: this result has no calibration."));
    let full = page(&[evaluation()]);
    assert!(full.contains("<canvas data-map=\"0\"") && full.contains("<canvas data-confusion=\"0\""));
    assert!(full.contains("2 of 4 test instances are shown, at equal steps."));
    assert!(
        full.contains("<th scope=\"row\">standard</th><td class=\"n\" data-v=\"0\">0</td><td class=\"n\" data-v=\"0.75\">75.0 %</td>"),
        "one run has no bar"
    );
    assert!(full.contains("bidilel evaluate sea") && full.contains("bottom_up.alpha"));
    let mut more = evaluation();
    more["calibration"] =
        json!({"bins": [{"lower": 0.0, "upper": 0.5, "confidence": 0.4, "accuracy": 0.5, "count": 9}]});
    more["curve"] = json!([{"seen": 0.5, "unseen": 0.1}, {"seen": 0.2, "unseen": 0.4}]);
    more["open_set"] = json!({"curve": [{"false_positive_rate": 0.1, "correct_rate": 0.4}, {"false_positive_rate": 1.0, "correct_rate": 0.7}]});
    let more = page(&[more]);
    for chart in ["Reliability. ", "Known against unseen classes. ", "None of these. "] {
        assert!(more.contains(&format!("aria-label=\"{chart}")), "{chart}");
    }
}

#[test]
fn a_calibrated_generalized_result_has_its_figures_and_empty_bins_are_no_points() {
    let mut result = evaluation();
    let side =
        |seen: f64, unseen: f64, harmonic: f64| json!({"seen": seen, "unseen": unseen, "harmonic": harmonic});
    result["accuracy"] = json!({
        "per_class": 0.75, "per_image": 0.7, "seen": 0.8, "unseen": 0.6, "harmonic": 0.685, "ausuc": 0.512,
        "uncalibrated": side(0.9, 0.1, 0.18),
    });
    let bin = |confidence: Option<f64>, accuracy: Option<f64>| json!({"confidence": confidence, "accuracy": accuracy});
    let bins = [bin(None, None), bin(Some(0.3), Some(0.25)), bin(Some(0.7), Some(0.75))];
    let both = json!({"before": 0.436, "after": 0.144});
    result["calibration"] =
        json!({"bins": bins, "bins_before": bins, "ece": both, "nll": both, "brier": both});
    result["coverage"] =
        json!({"wanted": 0.9, "measured": 0.92, "per_class": 0.87, "mean_size": 1.6, "candidates": 3.0});
    result["classes"][0]["known"] = true.into();
    let text = page(&[result]);
    for words in [
        "68.5 %",
        "known 80.0 %, unseen 60.0 %",
        "18.0 %",
        "0.512",
        "43.6 %",
        "14.4 %",
        "hold the right class of 92.0 % of the test instances",
        "<td>known</td>",
    ] {
        assert!(text.contains(words), "{words}");
    }
    let marks = text.split("aria-label=\"Reliability. ").nth(1).and_then(|rest| rest.split("</svg>").next());
    // Two bins before, two after, and a mark of each in the legend.
    assert_eq!(marks.expect("a chart").matches("scale(").count(), 6);
}

#[test]
fn methods_on_other_data_are_no_comparison() {
    let mut elsewhere = comparison();
    elsewhere["dataset"] = "another sea".into();
    assert!(!page(&[evaluation(), elsewhere]).contains("Against the best compared method"));
}

#[test]
fn searches_and_selections_have_their_sections() {
    let tuned = json!({
        "best": {"settings": {"alpha": 10.0}, "mean": 0.55, "standard_error": 0.05}, "split": "standard", "choice": null,
        "trials": [
            {"settings": {"alpha": 10.0}, "mean": 0.55, "standard_error": 0.05, "scores": [0.5, 0.6], "stage": "grid"},
            {"settings": {"alpha": 1.0}, "mean": null, "standard_error": null, "scores": [], "stage": "grid", "problem": "too small"},
        ],
        "curves": [{"setting": "alpha", "points": [["1.0", 0.5, 0.01], ["10.0", 0.55, 0.05]], "chosen": 1}],
        "commands": ["bidilel evaluate sea --alpha 10"], "seconds": 2.0, "stopped_by_budget": false,
    });
    let tuned = page(&[tuned]);
    assert!(
        tuned.contains("class=\"sortable\"")
            && tuned.contains("too small")
            && tuned.contains("<code>bidilel evaluate sea <span class=\"o\">--alpha</span> 10</code>"),
        "no line ends within the name of an option"
    );
    assert!(tuned.contains("a8 8"), "a ring around the chosen value");
    let selected = json!({
        "order": ["cnn", "sift"], "complementarity": [null, 0.125], "matrix": [[0.0, 0.125], [0.125, 0.0]],
        "visual": ["cnn", "sift"], "neighbors": 10, "trials": [],
    });
    let selected = page(&[selected]);
    assert!(
        selected.contains("Complementarity of any two views")
            && selected.contains("select <span class=\"o\">--evaluate</span> measures it")
    );
}

#[test]
fn charts_of_the_first_run_have_its_own_figures() {
    let mut result = evaluation();
    let first = result["runs"][0].clone();
    result["runs"] = json!([first.clone(), first]);
    let side = |seen: f64, unseen: f64| json!({"seen": seen, "unseen": unseen, "harmonic": 0.5});
    for (run, stress, sides) in [(0, 0.125, side(0.5, 0.25)), (1, 0.375, side(0.75, 0.5))] {
        let run = &mut result["runs"][run];
        (run["stress"], run["generalized"]) = (stress.into(), sides);
    }
    // Means over both runs; the skewness of the first is that of 9, 1 and 2.
    (result["stress"], result["hubness"]) = (0.25.into(), json!({"1": 0.3}));
    result["accuracy"] =
        json!({"per_class": 0.75, "per_image": 0.7, "seen": 0.625, "unseen": 0.375, "harmonic": 0.5});
    result["run_data"]["hubs"] = json!({"1": [9, 1, 2]});
    result["run_data"]["curve"] =
        json!([{"seen": 0.8, "unseen": 0.0}, {"seen": 0.5, "unseen": 0.25}, {"seen": 0.0, "unseen": 0.6}]);
    let mut report = Report::default();
    report.add(result, None).expect("a result");
    let charts = report.charts();
    let named = |name: &str| charts.iter().find(|chart| chart.name == name).expect("a chart");
    assert!(named("distances").description.contains("Stress 0.1250"), "{}", named("distances").description);
    assert!(named("hubs-1").description.contains("Skewness 0.67"), "{}", named("hubs-1").description);
    let (_, rows) = named("seen-unseen").values().expect("few points");
    let chosen: Vec<_> = rows.iter().filter(|row| row[0] == "the bias that was chosen").collect();
    assert_eq!(chosen.len(), 1, "{rows:?}");
    assert_eq!(chosen[0][1..], ["25.0", "50.0"], "on the curve");
    for name in ["map", "distances", "hubs-1", "seen-unseen", "convergence"] {
        let description = &named(name).description;
        assert!(description.ends_with(" Of 2 runs this is the first: standard, seed 0."), "{description}");
    }
}

#[test]
fn every_minimization_has_its_own_cost_and_the_mapping_its_name() {
    let of = |kind: &str, series: Value| {
        let mut result = evaluation();
        result["method"]["top_down"] = json!({"kind": kind});
        result["run_data"]["convergence"] = series;
        let mut report = Report::default();
        report.add(result, None).expect("a result");
        let charts = report.charts();
        charts.iter().find(|chart| chart.name == "convergence").map(|chart| chart.description.clone())
    };
    let (long, short) = (json!([[0, 1.0], [1, 0.5], [2, 0.25]]), json!([[0, 1.0], [1, 0.125]]));
    let one = of("lsm", json!([long])).expect("a chart");
    assert!(one.starts_with("Landmark-based Sammon mapping: 3 iterations, to a cost of 0.25000."), "{one}");
    let two = of("lsm+svr", json!([long, short])).expect("a chart");
    assert!(two.contains("before the mean with support vector regression: 2 minimizations: "), "{two}");
    assert!(two.contains("3 iterations, to a cost of 0.25000; 2 iterations, to a cost of 0.12500."), "{two}");
    let five = of("lsm", json!(vec![short; 5])).expect("a chart");
    assert!(five.contains(": the first 5 minimizations: "), "{five}");
    assert_eq!(of("svr", json!([])), None);
}

#[test]
fn charts_of_several_results_have_names_of_their_own() {
    let mut report = Report::default();
    report.add(evaluation(), None).expect("a result");
    let names: Vec<String> = report.charts().into_iter().map(|chart| chart.name).collect();
    assert_eq!(names, ["classes", "confusion", "map", "distances", "hubs-1", "convergence"]);
    report.add(comparison(), None).expect("a result");
    let names: BTreeSet<String> = report.charts().into_iter().map(|chart| chart.name).collect();
    assert!(names.len() == 7 && names.contains("1-map") && names.contains("2-comparison"), "{names:?}");
}
