//! Calibrations: learned from known classes alone, kept in model files, and fitted anew where classes are left out.

use bidilel::calibrate::{Asked, Calibration, OpenSet, Signal, Threshold, open_set};
use bidilel::{
    Candidates, Choice, Eszsl, FittedMethod, Method, Model, Normalize, Pipeline, Silent, Synthetic, Task,
    ZeroShotMethod, metrics,
};

use crate::support::{dataset, task, task_of};

#[test]
fn nothing_of_the_test_instances_or_the_unseen_descriptions_is_in_a_calibration() {
    let task = task(3);
    for method in [Method::from(Pipeline::default()), Eszsl::default().into()] {
        let found = Calibration::new(&task, &method, 2, 0, &Silent).expect("a calibration");
        let mut other = task.clone();
        other.test.features.col_iter_mut().for_each(|mut column| column[0] += 1.0);
        other.test.labels.reverse();
        let same = Calibration::new(&other, &method, 2, 0, &Silent).expect("a calibration");
        assert_eq!(found, same);
        let folds = Calibration::new(&task, &method, 2, 1, &Silent).expect("other folds");
        assert_ne!(found, folds, "the seed draws the folds");
    }
}

#[test]
fn a_calibration_is_read_back_from_the_model_file_bit_by_bit() {
    let task = task(3);
    let method = Method::from(Pipeline::default());
    let fitted = method.fit(&task, &Silent).expect("a fit");
    let mut model = Model::new("small", Normalize::L2, &task, &method, fitted);
    let plain = model.to_bytes().expect("bytes");
    model.calibration = Some(Calibration::new(&task, &method, 3, 0, &Silent).expect("a calibration"));
    let bytes = model.to_bytes().expect("bytes");
    assert_eq!(Model::from_bytes(&bytes).expect("a model"), model);
    assert_eq!(Model::from_bytes(&plain).expect("a model").calibration, None);
    // A few thousand numbers at most, whatever the number of instances.
    assert!(bytes.len() < plain.len() + 8 * 3 * 4096 + 2000);
    for place in (0..bytes.len().min(6000)).step_by(5) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x55;
        // Some damage only changes a number; none may panic.
        let _ = Model::from_bytes(&damaged);
    }
}

#[test]
fn probabilities_of_unseen_classes_are_more_honest_than_scores_at_temperature_one() {
    let task = task_of(&Synthetic { scale: 0.5, ..Synthetic::default() }.generate(3).expect("data"));
    let method = Method::from(Pipeline::default());
    let fitted = method.fit(&task, &Silent).expect("a fit");
    let scores = fitted.score(task.test.prepared(), Candidates::Unseen).expect("scores");
    let calibration = Calibration::new(&task, &method, 3, 0, &Silent).expect("a calibration");
    let found = calibration.assess(&scores, &task.test.labels, 0.9).expect("a share");
    assert!(found.after.calibration_error < found.before.calibration_error, "{found:?}");
    assert!(found.after.negative_log_likelihood < found.before.negative_log_likelihood);
    assert!(found.coverage.mean_size <= 5.0 && found.coverage.measured > 0.7, "{:?}", found.coverage);
    let answering =
        calibration.answering(&Asked { coverage: Some(0.9), ..Asked::default() }).expect("shares");
    let sizes = (0..scores.instances()).map(|i| answering.set_size(&scores, i).expect("sets"));
    let mean = sizes.sum::<usize>() as f64 / scores.instances() as f64;
    assert!((mean - found.coverage.mean_size).abs() < 1e-12);
}

#[test]
fn classes_that_are_left_out_leave_nothing_behind() {
    let dataset = dataset(3);
    let task = task_of(&dataset);
    let open = OpenSet { share: 0.4, draws: 2, seed: 5 };
    let threshold = Threshold { by: Signal::Margin, least: 0.01 };
    for method in [Method::from(Pipeline::default()), Eszsl::default().into()] {
        let fitted = method.fit(&task, &Silent).expect("a fit");
        let draws = open_set((&method, &fitted), &task, None, &open, &threshold, &Silent).expect("draws");
        assert_eq!(draws.len(), 2);
        for draw in draws {
            assert_eq!(draw.left_out.len(), 2);
            // The same from a split that does not have these classes at all.
            let mut trial = dataset.trials(None).expect("a split")[0].clone();
            let is_out = |class: usize| draw.left_out.contains(&dataset.classes[class]);
            let (unknown, inside): (Vec<usize>, Vec<usize>) =
                trial.test.iter().partition(|&&i| is_out(dataset.labels[i]));
            trial.unseen.retain(|&class| !is_out(class));
            trial.test = inside;
            let part = Task::new(&dataset, &trial, &Choice::default(), &Silent).expect("a task");
            let alone = method.fit(&part, &Silent).expect("a fit");
            let inside = alone.score(part.test.prepared(), Candidates::Unseen).expect("scores");
            let columns: Vec<usize> = (0..task.test.labels.len())
                .filter(|&i| draw.left_out.contains(&task.unseen[task.test.labels[i]]))
                .collect();
            assert_eq!(columns.len(), unknown.len());
            let mut others = part.clone();
            others.test.features =
                bidilel::Mat::from_fn(task.test.features.nrows(), columns.len(), |i, j| {
                    task.test.features[(i, columns[j])]
                });
            let outside = alone.score(others.test.prepared(), Candidates::Unseen).expect("scores");
            for signal in [Signal::Score, Signal::Margin] {
                let area = metrics::auroc(&signal.all(&inside), &signal.all(&outside));
                assert!((area - draw.by(signal).auroc).abs() < 1e-9, "{area} {:?}", draw.by(signal).auroc);
            }
            let accuracy =
                metrics::accuracy(&inside.labels(), &part.test.labels, part.unseen.len()).per_image;
            assert!((accuracy - draw.accuracy).abs() < 1e-12);
        }
    }
}
