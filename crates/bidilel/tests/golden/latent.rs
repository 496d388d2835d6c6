//! Latent points, landmarks (1e-8) and semantic distances (1e-12).

use bidilel::ZeroShotMethod;
use bidilel::reference::project;
use bidilel::semantic::SemanticDistances;
use bidilel_math::Silent;
use faer::Mat;

use crate::support::{Golden, all_pairs, close, close_up_to_sign, pipeline, semantics, task};

#[test]
fn projections_and_landmarks_agree() {
    let golden = Golden::read("latent");
    let task = task("att");
    let fitted = pipeline().fit(&task, &Silent).expect("a fit");
    let train = project(&fitted.space, task.train.features.as_ref()).expect("matching dimensions");
    let test = project(&fitted.space, task.test.features.as_ref()).expect("matching dimensions");
    close_up_to_sign(train.as_ref(), golden.columns("Yl_hat").as_ref(), 1e-8, "Y^l");
    close_up_to_sign(test.as_ref(), golden.columns("Yu_hat").as_ref(), 1e-8, "Y^u");
    close((train.transpose() * &train).as_ref(), golden.columns("Gram_Yl").as_ref(), 1e-8, "Gram of Y^l");
    let landmarks = &fitted.landmarks.points;
    close_up_to_sign(landmarks.as_ref(), golden.columns("landmarks").as_ref(), 1e-8, "B^l");
    close(
        all_pairs(landmarks).as_ref(),
        golden.columns("landmark_dist").as_ref(),
        1e-8,
        "landmark distances",
    );
    let mean = Mat::from_fn(4, 1, |i, _| fitted.space.mean[i].abs());
    let expected = golden.vector("mean");
    close(mean.as_ref(), Mat::from_fn(4, 1, |i, _| expected[i].abs()).as_ref(), 1e-8, "latent mean");
}

#[test]
fn semantic_distances_agree() {
    let golden = Golden::read("semantic");
    for (name, key) in [("att", "delta_att"), ("wv", "delta_wv_cos"), ("fused", "delta_fused")] {
        let all = golden.columns(key);
        let SemanticDistances { known_unseen, unseen_unseen } = semantics(name).distances;
        close(known_unseen.as_ref(), all.submatrix(0, 6, 6, 3), 1e-12, key);
        close(unseen_unseen.to_matrix().as_ref(), all.submatrix(6, 6, 3, 3), 1e-12, key);
    }
}
