//! Several views, and kernels of them: the forms agree, models keep them, weights and samples do what they say.

use bidilel::ZeroShotMethod;
use bidilel::bottom_up::{BottomUp, Locality, Regularizer, Slpp};
use bidilel::dataset::Rows;
use bidilel::latent_space::Map;
use bidilel::model::Model;
use bidilel::pipeline::{Fitted, Pipeline};
use bidilel::task::{Choice, Normalize, Task};
use bidilel::visual::{Fusion, Kernel, KernelForm, ViewChoice};
use bidilel_math::Silent;
use faer::Mat;

use crate::support::{dataset, learners};

/// A task over both views of a small dataset, whose features are not negative.
fn task(weights: [f64; 2], kernels: [&str; 2]) -> Task {
    let dataset = dataset(11);
    let view = |i: usize| ViewChoice {
        name: dataset.visual[i].name.clone(),
        weight: weights[i],
        kernel: kernels[i].parse::<Kernel>().expect("a kernel"),
    };
    let choice = Choice { visual: vec![view(0), view(1)], ..Choice::default() };
    let trials = dataset.trials(None).expect("a split");
    Task::new(&dataset, &trials[0], &choice, &Silent).expect("a sound task")
}

fn with(bottom_up: BottomUp, method: KernelForm, rank: usize) -> Pipeline {
    let fusion = Fusion { method: Some(method), nystrom_rank: rank, ..Fusion::default() };
    Pipeline { bottom_up, fusion, ..Pipeline::default() }
}

fn slpp() -> BottomUp {
    let locality = Locality {
        alpha: 1.0,
        dim: Some(6),
        neighbors: 5,
        regularizer: Regularizer::Kernel,
        ..Locality::default()
    };
    BottomUp::Slpp(Slpp { locality, ..Slpp::default() })
}

/// Inner products of the projected test instances with the landmarks: blind to signs.
fn geometry(task: &Task, fitted: &Fitted) -> Mat<f64> {
    let points = fitted.space.project(task.test.features.as_ref()).expect("a projection");
    fitted.landmarks.points.transpose() * points
}

#[test]
fn linear_kernels_give_the_same_space_over_dimensions_and_over_instances() {
    for weights in [[0.5, 0.5], [0.2, 0.8]] {
        let task = task(weights, ["linear", "linear"]);
        for learner in learners() {
            // Without a ridge the directions of the null space are free; those of cca and cca+lda are relative to the mean eigenvalue,
            // which depends on how many features there are.
            if matches!(&learner, BottomUp::Lda(lda) if lda.ridge <= 0.0)
                || matches!(&learner, BottomUp::Cca(_) | BottomUp::CcaLda(_))
            {
                continue;
            }
            let one = with(learner.clone(), KernelForm::Primal, 1).fit(&task, &Silent).expect("a fit");
            let other = with(learner.clone(), KernelForm::NSpace, 1).fit(&task, &Silent).expect("a fit");
            assert!(!matches!(other.space.map, Map::Kernel(_)), "linear kernels need no support");
            let apart = (geometry(&task, &one) - geometry(&task, &other)).norm_max();
            assert!(apart < 1e-8, "{learner:?}: {apart:e}");
        }
    }
}

#[test]
fn every_learner_takes_every_kernel_and_its_model_is_kept() {
    for kernels in [["rbf", "linear"], ["chi2", "rbf:0.5"]] {
        let task = task([0.3, 0.7], kernels);
        for learner in learners() {
            for (method, rank) in [(KernelForm::NSpace, 1), (KernelForm::Nystrom, 30)] {
                let pipeline = with(learner.clone(), method, rank);
                let fitted = pipeline.fit(&task, &Silent).unwrap_or_else(|e| panic!("{pipeline:?}: {e}"));
                // Landmarks were made before the space was unfolded: they are where its instances are.
                let placed = bidilel::landmarks::Landmarks::of(
                    &fitted.space,
                    task.train.features.as_ref(),
                    &task.train.labels,
                    task.known.len(),
                );
                let apart = (placed.expect("landmarks").points - &fitted.landmarks.points).norm_max();
                assert!(apart < 1e-6, "{learner:?}, {method:?}: {apart:e}");
                let model =
                    Model::new("small", Normalize::L2, &task, &pipeline.clone().into(), fitted.into());
                let bytes = model.to_bytes().expect("a file");
                assert_eq!(Model::from_bytes(&bytes).expect("the same model"), model);
            }
        }
    }
}

#[test]
fn a_model_projects_rows_of_every_view_as_the_task_does() {
    let data = dataset(11);
    let task = task([0.5, 0.5], ["rbf", "linear"]);
    let pipeline = with(slpp(), KernelForm::Nystrom, 40);
    let fitted = pipeline.fit(&task, &Silent).expect("a fit");
    let model = Model::new("small", Normalize::L2, &task, &pipeline.clone().into(), fitted.into());
    let trial = data.trials(None).expect("a split").remove(0);
    let rows = |i: usize| -> (&dyn Rows, &str) { (data.visual[i].rows.as_ref(), "rows") };
    let first = trial.test[0];
    let points = model.project_views(&[rows(0), rows(1)], first..first + 1).expect("a projection");
    let expected = model
        .latent()
        .expect("a space")
        .space
        .project(task.test.features.subcols(0, 1))
        .expect("a projection");
    assert!((points - expected).norm_max() < 1e-12);
    let error = |views: &[(&dyn Rows, &str)]| model.project_views(views, 0..1).unwrap_err().to_string();
    assert!(error(&[rows(0)]).contains("expected 2 arrays"));
    assert!(error(&[rows(1), rows(0)]).contains("expected 24 dimensions"));
}

#[test]
fn a_view_without_a_weight_has_no_say() {
    let both = task([1.0, 0.0], ["linear", "rbf"]);
    let mut alone = both.clone();
    alone.views.parts.truncate(1);
    for side in [&mut alone.train, &mut alone.test] {
        side.features = side.features.subrows(0, 24).to_owned();
    }
    for method in [KernelForm::Primal, KernelForm::NSpace, KernelForm::Nystrom] {
        let fit = |task: &Task| with(slpp(), method, 50).fit(task, &Silent).expect("a fit");
        let apart = (geometry(&both, &fit(&both)) - geometry(&alone, &fit(&alone))).norm_max();
        assert!(apart < 1e-8, "{method:?}: {apart:e}");
    }
}

#[test]
fn a_larger_sample_loses_less_and_a_whole_one_nothing() {
    let task = task([0.5, 0.5], ["rbf", "chi2"]);
    let fit = |method, rank| with(slpp(), method, rank).fit(&task, &Silent).expect("a fit");
    let error = |rank| fit(KernelForm::Nystrom, rank).fusion.approximation_error.expect("an approximation");
    let errors = [10, 20, 40, 80].map(error);
    assert!(errors.windows(2).all(|pair| pair[0] > pair[1]) && errors[3] > 0.0, "{errors:?}");
    let (exact, whole) = (fit(KernelForm::NSpace, 1), fit(KernelForm::Nystrom, 10_000));
    assert_eq!(whole.fusion.approximation_error, None);
    let apart = (geometry(&task, &exact) - geometry(&task, &whole)).norm_max();
    assert!(apart < 1e-6, "{apart:e}");
}

#[test]
fn the_error_is_the_trace_that_the_sample_loses() {
    // By hand: one support instance s, k(x, x) = 1, and what is kept of x is k(x, s)^2.
    let mut task = task([1.0, 0.0], ["rbf:0.5", "linear"]);
    task.views.parts.truncate(1);
    task.train.features = task.train.features.subrows(0, 24).to_owned();
    let bottom_up = BottomUp::Pca(bidilel::bottom_up::Pca { dim: Some(1) });
    let fitted = with(bottom_up, KernelForm::Nystrom, 1).fit(&task, &Silent).expect("a fit");
    let Map::Kernel(map) = &fitted.space.map else { panic!("a kernel") };
    let support = map.views[0].support.col_as_slice(0);
    let count = task.train.labels.len();
    let kept = (0..count).map(|i| {
        let column = task.train.features.col_as_slice(i);
        let squared: f64 =
            column.iter().zip(support).map(|(&x, &s)| (f64::from(x) - f64::from(s)).powi(2)).sum();
        (-0.5 * squared).exp().powi(2)
    });
    let expected = 1.0 - kept.sum::<f64>() / count as f64;
    let found = fitted.fusion.approximation_error.expect("an approximation");
    assert!((found - expected).abs() < 1e-8, "{found} is not {expected}");
}

#[test]
fn kernel_forms_have_the_same_bytes_for_any_number_of_threads_and_another_sample_for_another_seed() {
    let task = task([0.4, 0.6], ["chi2", "rbf"]);
    let bytes = |threads: usize, method, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool");
        pool.install(|| {
            let mut pipeline = with(slpp(), method, 25);
            pipeline.fusion.seed = seed;
            let fitted = pipeline.fit(&task, &Silent).expect("a fit");
            Model::new("small", Normalize::L2, &task, &pipeline.clone().into(), fitted.into())
                .to_bytes()
                .expect("a file")
        })
    };
    for method in [KernelForm::NSpace, KernelForm::Nystrom] {
        assert!(bytes(1, method, 3) == bytes(3, method, 3), "{method:?}");
    }
    assert!(bytes(1, KernelForm::Nystrom, 3) != bytes(1, KernelForm::Nystrom, 4));
}

#[test]
fn a_histogram_with_a_negative_entry_is_refused_with_its_place() {
    let mut task = task([0.5, 0.5], ["linear", "chi2"]);
    task.train.features[(24 + 3, 7)] = -0.25;
    let error = with(slpp(), KernelForm::NSpace, 1).fit(&task, &Silent).expect_err("no histogram");
    let text = error.to_string();
    assert!(text.contains("view `motion`: feature 3 of instance 7 is -0.25"), "{text}");
}

#[test]
fn views_that_are_there_twice_or_weigh_other_than_one_are_refused() {
    let dataset = dataset(11);
    let trial = dataset.trials(None).expect("a split").remove(0);
    let refused = |views: &[(&str, f64)]| {
        let view = |&(name, weight): &(&str, f64)| ViewChoice { weight, ..ViewChoice::plain(name) };
        let choice = Choice { visual: views.iter().map(view).collect(), ..Choice::default() };
        Task::new(&dataset, &trial, &choice, &Silent).expect_err("no task").to_string()
    };
    assert!(refused(&[("cnn", 0.5), ("cnn", 0.5)]).contains("`cnn` twice"));
    assert!(refused(&[("cnn", 0.5), ("motion", 0.6)]).contains("sum to 1, found cnn=0.5, motion=0.6"));
    assert!(refused(&[("cnn", 1.5), ("motion", -0.5)]).contains("non-negative"));
    assert!(refused(&[("cnn", 0.5), ("motion", f64::NAN)]).contains("NaN"));
    assert!(refused(&[("cnn", 0.5), ("smell", 0.5)]).contains("no visual representation `smell`"));
}
