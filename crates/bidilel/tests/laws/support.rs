//! Small random tasks, and every implementation of every role.

use bidilel::bottom_up::{
    BottomUp, Cca, CcaLda, Lda, Locality, Lpp, Neighborhood, Pca, Regularizer, Slpp, Unchanged, Weights,
};
use bidilel::dataset::Dataset;
use bidilel::pipeline::Pipeline;
use bidilel::post::{
    Balanced, Csls, GlobalCorrection, MutualProximity, Nrm, Post, Propagation, SelfTraining, Structured,
};
use bidilel::synthetic::{Synthetic, View};
use bidilel::task::{Choice, Task};
use bidilel::top_down::{Form, Init, Kernel, Krr, Lsm, LsmKrr, LsmSvr, Optimizer, Svr, TopDown};
use bidilel_math::Silent;

pub(crate) fn dataset(seed: u64) -> Dataset {
    let settings = Synthetic {
        known: 9,
        unseen: 4,
        validation: 2,
        groups: 3,
        factors: 8,
        attributes: 12,
        word_dim: 10,
        instances_per_class: 12.0,
        views: vec![View { name: "cnn".to_owned(), dim: 24 }, View { name: "motion".to_owned(), dim: 16 }],
        ..Synthetic::default()
    };
    settings.generate(seed).expect("a small task")
}

pub(crate) fn task_of(dataset: &Dataset) -> Task {
    let trials = dataset.trials(None).expect("a split");
    Task::new(dataset, &trials[0], &Choice::default(), &Silent).expect("a sound task")
}

pub(crate) fn task(seed: u64) -> Task {
    task_of(&dataset(seed))
}

pub(crate) fn learners() -> Vec<BottomUp> {
    let locality = Locality { alpha: 1.0, dim: Some(6), neighbors: 5, ..Locality::default() };
    let slpp = |locality: Locality| BottomUp::Slpp(Slpp { locality, ..Slpp::default() });
    vec![
        slpp(locality.clone()),
        slpp(Locality { weights: Weights::Heat, ..locality.clone() }),
        slpp(Locality { weights: Weights::Binary, center: true, ..locality.clone() }),
        slpp(Locality { regularizer: Regularizer::Kernel, ..locality.clone() }),
        BottomUp::Slpp(Slpp { locality: locality.clone(), neighborhood: Neighborhood::WithinClass }),
        BottomUp::Lpp(Lpp { locality }),
        BottomUp::Pca(Pca { dim: Some(6) }),
        BottomUp::Lda(Lda::default()),
        BottomUp::Lda(Lda { dim: Some(5), ridge: 0.0 }),
        BottomUp::Cca(Cca::default()),
        BottomUp::CcaLda(CcaLda::default()),
        BottomUp::None(Unchanged {}),
    ]
}

pub(crate) fn embedders() -> Vec<TopDown> {
    let lsm = |optimizer, init| TopDown::Lsm(Lsm { optimizer, init, ..Lsm::default() });
    let svr = |kernel, form| Svr { kernel, form, c: 1.0, ..Svr::default() };
    vec![
        TopDown::default(),
        lsm(Optimizer::Descent, Init::WeightedMean),
        lsm(Optimizer::Smacof, Init::Random { seed: 3 }),
        lsm(Optimizer::Lbfgs, Init::Krr),
        TopDown::Lsm(Lsm { starts: 3, ..Lsm::default() }),
        TopDown::Lsm(Lsm { unit_embedding: true, ..Lsm::default() }),
        TopDown::Svr(svr(Kernel::Rbf { gamma: None }, Form::Epsilon { epsilon: 0.01 })),
        TopDown::Svr(svr(Kernel::Linear, Form::Nu { nu: 0.5 })),
        TopDown::LsmSvr(LsmSvr::default()),
        TopDown::Krr(Krr::default()),
        TopDown::Krr(Krr { krr_ridge: Some(0.1), krr_width: Some(0.5), unit_embedding: true }),
        TopDown::LsmKrr(LsmKrr::default()),
    ]
}

pub(crate) fn refiners() -> Vec<Post> {
    vec![
        Post::SelfTraining(SelfTraining { self_training_neighbors: 8, self_training_rounds: 2 }),
        Post::Structured(Structured::default()),
    ]
}

/// Label propagation alone, and after other refiners.
pub(crate) fn propagations() -> Vec<Vec<Post>> {
    let last = Post::Propagation(Propagation { propagation_neighbors: 5, ..Propagation::default() });
    vec![
        vec![last.clone()],
        vec![Post::Balanced(Balanced::default()), last.clone()],
        refiners().into_iter().chain([last]).collect(),
    ]
}

/// Refiners that need nothing but scores.
pub(crate) fn score_refiners() -> Vec<Post> {
    vec![
        Post::Csls(Csls { csls_neighbors: 3 }),
        Post::Nrm(Nrm {}),
        Post::MutualProximity(MutualProximity::default()),
        Post::GlobalCorrection(GlobalCorrection {}),
    ]
}

/// Every learner with the default embedder, every embedder with the default learner, and all latent refiners in a chain;
/// every refiner of scores; and label propagation.
pub(crate) fn pipelines() -> Vec<Pipeline> {
    let with = |bottom_up: BottomUp, top_down: TopDown| Pipeline {
        bottom_up,
        top_down,
        post: refiners(),
        ..Pipeline::default()
    };
    let first = learners().swap_remove(0);
    learners()
        .into_iter()
        .map(|learner| with(learner, TopDown::default()))
        .chain(embedders().into_iter().map(|embedder| with(first.clone(), embedder)))
        .chain(score_refiners().into_iter().map(|post| Pipeline { post: vec![post], ..Pipeline::default() }))
        .chain(propagations().into_iter().map(|post| Pipeline { post, ..Pipeline::default() }))
        .collect()
}

/// Numbers between -1 and 1, the same for the same seed.
pub(crate) fn random(rows: usize, columns: usize, seed: u64) -> faer::Mat<f64> {
    let mut state = seed;
    faer::Mat::from_fn(rows, columns, |_, _| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    })
}
