//! The paper's protocol, shared and naive: 37 settings on five folds.
//!
//! The naive total is extrapolated: every distinct setting is fitted once, on the first fold, and the mean time is
//! multiplied up to 37 settings on five folds. Nothing else is.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use bidilel::ZeroShotMethod;
use bidilel::settings::Settings;
use bidilel::synthetic::{Synthetic, View};
use bidilel::tune::{Axis, Evaluator, Forgetful, Holdout, Plan, Rule, Strategy, fine, folds, naive};
use bidilel_math::Silent;

use crate::peers::Rival;
use crate::say;

/// Name, known classes and mean instances per class: 8,855 and 24,295 instances of known classes.
pub(crate) const SIZES: [(&str, usize, f64); 2] = [("cub", 150, 59.033), ("awa", 40, 607.375)];
const DIM: usize = 1024;
const FOLDS: usize = 5;
/// Settings of the protocol: 18 of the coarse grid, then 7 alphas, 6 dims, 6 counts of neighbors.
const SETTINGS: usize = 37;

pub(crate) fn run(sizes: &[(&str, usize, f64)]) -> Result<()> {
    for &(preset, known, instances) in sizes {
        measure(preset, known, instances)?;
    }
    Ok(())
}

fn measure(preset: &str, known: usize, instances: f64) -> Result<()> {
    let views = vec![View { name: "cnn".to_owned(), dim: DIM }];
    let made = Synthetic {
        known,
        unseen: 2,
        validation: 0,
        trials: 0,
        imbalance: 0.0,
        instances_per_class: instances,
        views,
        ..Synthetic::preset(preset)?
    };
    let dataset = Arc::new(made.generate(0)?);
    let trial = dataset.trials(None)?.remove(0);
    let held_out = Holdout::Random { share: 0.2, folds: FOLDS, seed: 0 };
    let parts = folds(&dataset, &trial, held_out)?;
    let threads = rayon::current_num_threads();
    say(&format!(
        "tune/n={},d={DIM}: {SETTINGS} settings, {FOLDS} folds, {threads} threads",
        trial.train.len()
    ));

    // One fit of the default settings to all known classes: what a user waits for without tuning.
    let started = Instant::now();
    let whole = bidilel::task::Task::new(&dataset, &trial, &Settings::default().choice(&dataset)?, &Silent)?;
    Settings::default().pipeline(0).fit(&whole, &Silent)?;
    let fit = started.elapsed().as_secs_f64();
    drop(whole);
    say(&format!("  one fit                {fit:10.2} s"));

    // Single-valued axes are not varied: self-training is no part of the 37.
    let base = Settings { self_training_neighbors: Some(100), ..Settings::default() };
    let plan = Plan {
        base,
        axes: Vec::<Axis>::new(),
        strategy: Strategy::Paper,
        rule: Rule::Highest,
        auto: false,
        seed: 0,
    };
    let together = || {
        let started = Instant::now();
        let choice = plan.base.choice(&dataset)?;
        let mut evaluator = Evaluator::new(Arc::clone(&dataset), &trial, parts.clone(), &choice, 0, &Silent)?;
        let outcome = plan.run(&mut evaluator, &Forgetful, &Silent)?;
        let shared = started.elapsed().as_secs_f64();
        say(&format!(
            "  shared protocol        {shared:10.2} s  ({} distinct settings, {} lists searched again)",
            outcome.scored.len(),
            evaluator.searched()
        ));
        Ok::<_, anyhow::Error>((outcome, shared))
    };
    let (outcome, before) = together()?;

    let mut seconds = Vec::new();
    for scored in &outcome.scored {
        let started = Instant::now();
        let score = naive::score(&dataset, &parts[0], &scored.settings, 0, &Silent)?;
        seconds.push(started.elapsed().as_secs_f64());
        anyhow::ensure!(
            (score - scored.scores[0]).abs() < 1e-9,
            "naive and shared differ at {:?}",
            scored.settings
        );
    }
    // Once before and once after the naive fits: the speed of a machine changes.
    let (_, after) = together()?;
    let shared = f64::midpoint(before, after);
    let mean = seconds.iter().sum::<f64>() / seconds.len().max(1) as f64;
    let naive = mean * (SETTINGS * FOLDS) as f64;
    say(&format!(
        "  naive protocol         {naive:10.2} s  (extrapolated from {} fits of {mean:.2} s)",
        seconds.len()
    ));
    say(&format!("  naive / shared         {:10.1}", naive / shared));
    say(&format!("  shared / one fit       {:10.1}", shared / fit));
    if preset == "awa" {
        let theirs = Rival::new()?.fit()?;
        let all = theirs * (SETTINGS * FOLDS) as f64;
        say(&format!(
            "  peers / shared         {:10.1}  (a fit of the peers takes {theirs:.2} s; as many by hand {all:.0} s)",
            all / shared
        ));
    }
    let alphas = fine().first().map_or(0, |axis| axis.values.len());
    say(&format!("  chosen: {:?}, of {alphas} alphas", outcome.best.settings.entries()));
    Ok(())
}
