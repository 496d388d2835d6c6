//! The other bottom-up learners: landmark distances to 1e-7, stress to 1e-8, predictions exact.

use bidilel::ZeroShotMethod;
use bidilel::bottom_up::{BottomUp, Cca, Lda, Lpp, Pca, Unchanged};
use bidilel::metrics::accuracy;
use bidilel::pipeline::Pipeline;
use bidilel::reference::recognize;
use bidilel_math::Silent;

use crate::support::{Golden, all_pairs, close, locality, task};

#[test]
fn each_learner_leads_to_the_same_landmarks_stress_and_predictions() {
    let golden = Golden::read("baselines");
    let task = task("att");
    let cases = [
        ("pca", BottomUp::Pca(Pca { dim: Some(4) })),
        ("lda", BottomUp::Lda(Lda { dim: None, ridge: 0.0 })),
        ("cca", BottomUp::Cca(Cca { dim: Some(4), ridge: golden.number("cca_reg") })),
        ("vis", BottomUp::None(Unchanged {})),
        ("lpp", BottomUp::Lpp(Lpp { locality: locality() })),
    ];
    for (name, bottom_up) in cases {
        let pipeline = Pipeline { bottom_up, ..Pipeline::default() };
        let fitted = pipeline.fit(&task, &Silent).expect("a fit");
        let key = |what: &str| format!("{name}.{what}");
        let expected = golden.columns(&key("landmark_dist"));
        close(all_pairs(&fitted.landmarks.points).as_ref(), expected.as_ref(), 1e-7, name);
        let off = fitted.stress - golden.number(&key("stress_wmean"));
        assert!(off.abs() < 1e-8, "{name}: stress off by {off:e}");
        let found = recognize(&pipeline, &fitted, task.test.prepared(), &Silent).expect("a recognition");
        assert_eq!(found.labels(), golden.indices(&key("pred")), "{name}");
        let score = accuracy(&found.labels(), &task.test.labels, 3).per_class;
        assert!((score - golden.number(&key("acc"))).abs() < 1e-12, "{name}");
    }
}
