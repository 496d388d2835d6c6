//! Recognition and both refiners: predictions exact, centers to 1e-5.

use bidilel::ZeroShotMethod;
use bidilel::metrics::{accuracy, hubness};
use bidilel::pipeline::Pipeline;
use bidilel::post::{Post, SelfTraining, Structured};
use bidilel::reference::recognize;
use bidilel_math::Silent;

use crate::support::{Golden, close, close_up_to_sign, pipeline, task};

#[test]
fn predictions_centers_accuracies_and_hubness_agree() {
    let golden = Golden::read("recognition");
    for semantic in ["att", "wv", "fused"] {
        let task = task(semantic);
        let plain = pipeline();
        let fitted = plain.fit(&task, &Silent).expect("a fit");
        let key = |name: &str| format!("{semantic}.{name}");
        let self_training = SelfTraining { self_training_neighbors: 6, self_training_rounds: 1 };
        let cases = [
            (vec![], "pred", "acc", "B_u"),
            (vec![Post::SelfTraining(self_training)], "pred_st", "acc_st", "B_st"),
            (vec![Post::Structured(Structured::default())], "pred_sp", "acc_sp", "B_sp"),
        ];
        for (post, labels, score, embedding) in cases {
            let pipeline = Pipeline { post, ..plain.clone() };
            let found = recognize(&pipeline, &fitted, task.test.prepared(), &Silent).expect("a recognition");
            assert_eq!(found.labels(), golden.indices(&key(labels)), "{semantic} {labels}");
            let expected = golden.columns(&key(embedding));
            close_up_to_sign(
                found.latent.as_ref().expect("points").embedding.as_ref(),
                expected.as_ref(),
                1e-5,
                embedding,
            );
            let scores = accuracy(&found.labels(), &task.test.labels, 3);
            assert!((scores.per_class - golden.number(&key(score))).abs() < 1e-12, "{semantic} {score}");
            if labels == "pred" {
                close(
                    found.scores.distances().as_ref(),
                    golden.columns(&key("dist_test_to_B")).as_ref(),
                    1e-5,
                    "distances",
                );
                assert!((hubness(&found.scores, 1) - golden.number(&key("skew_N1"))).abs() < 1e-9);
            }
        }
    }
}
