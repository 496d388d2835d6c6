//! Support vector regression and the ensemble, against scikit-learn to 1e-3.

use bidilel::ZeroShotMethod;
use bidilel::pipeline::Pipeline;
use bidilel::reference::recognize;
use bidilel::top_down::{Form, Kernel, LsmSvr, Svr, TopDown};
use bidilel_math::Silent;

use crate::support::{Golden, close_up_to_sign, pipeline, task};

#[test]
fn places_and_predictions_agree() {
    let golden = Golden::read("svr");
    let svr = Svr {
        kernel: Kernel::Rbf { gamma: None },
        form: Form::Epsilon { epsilon: golden.number("epsilon") },
        c: golden.number("C"),
        ..Svr::default()
    };
    let cases = [
        (TopDown::Svr(svr.clone()), "B_svr", "pred_svr"),
        (TopDown::LsmSvr(LsmSvr { svr, ..LsmSvr::default() }), "B_ensemble", "pred_ensemble"),
    ];
    let task = task("att");
    for (top_down, places, labels) in cases {
        let pipeline = Pipeline { top_down, ..pipeline() };
        let fitted = pipeline.fit(&task, &Silent).expect("a fit");
        close_up_to_sign(fitted.embedding.points.as_ref(), golden.columns(places).as_ref(), 1e-3, places);
        let found = recognize(&pipeline, &fitted, task.test.prepared(), &Silent).expect("a recognition");
        assert_eq!(found.labels(), golden.indices(labels), "{labels}");
    }
}
