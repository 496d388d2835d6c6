//! The four stages that dominate the time of a fit: what an accelerator would take over.
//!
//! Each stage is one function or one type. They take matrices and return matrices, report to an [`Observer`](crate::Observer),
//! and know nothing of each other: any of them can be replaced alone.
//!
//! | stage | entry point | computes | cost |
//! | --- | --- | --- | --- |
//! | neighbors | [`exact`] | the $k$ nearest columns of every column of $X$ ($d \times n$) | $n^2 d$ |
//! | scatter | [`of_graph`]; [`of_graphs`] for several graphs at once | $A = X D X^\top$ and $B = X L X^\top$ of a graph over the columns, as a [`Pencil`] | $n d^2$ |
//! | eigenpairs | [`leading`] | the leading $m$ pairs of $A p = \lambda (B + \alpha I) p$ | $d^3$ |
//! | projection | [`Projector`] | $P^\top X$ for $P$ ($d \times m$) | $n d m$ |
//!
//! What a replacement must keep: neighbor lists and scatter matrices pass [`crate::neighbors::verify`] and
//! [`crate::scatter::verify_graph`]; eigenvectors are normalized to $p^\top (B + \alpha I) p = 1$, with the entry of largest
//! magnitude positive, in descending order of the eigenvalues.
//!
//! ```
//! use std::borrow::Cow;
//!
//! use bidilel_math::Silent;
//! use bidilel_math::backend::{Projector, Selected, exact, leading, of_graph};
//! use bidilel_math::graph::{Affinity, Weights};
//!
//! let points = faer::Mat::<f32>::from_fn(3, 40, |i, j| ((7 * j + 5 * i * j + i) % 11) as f32);
//! let neighbors = exact(points.as_ref(), 5, &Silent);
//! let graph = Affinity::new(&neighbors, None, Weights::Heat);
//! let data = Selected { points: points.as_ref(), rows: &[0, 1, 2], center: None };
//! let pencil = of_graph(data, &graph, &Silent);
//! let found = leading(Cow::Owned(pencil), 0.1, 2, &Silent)?;
//! assert!(found.values[0] >= found.values[1]);
//! let projected = Projector::new(found.vectors.as_ref()).project(points.as_ref());
//! assert_eq!((projected.nrows(), projected.ncols()), (2, 40));
//! # Ok::<(), bidilel_math::Error>(())
//! ```

pub use crate::eigen::{Eigen, Pencil, leading};
pub use crate::neighbors::{Neighbors, exact};
pub use crate::projection::Projector;
pub use crate::scatter::{Selected, of_graph, of_graphs};
