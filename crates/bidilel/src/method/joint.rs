//! The alternation of `jlse`: codes, similarity and atoms in turns, from second moments alone.

use faer::{Mat, MatRef};

use bidilel_math::parallel::product;
use bidilel_math::{Result, dictionary, eigen, linear, vector};

use super::linear::Sums;

/// Sums over centered instances.
pub(super) struct Moments {
    /// $X X^\top$, visual x visual dimensions.
    pub(super) scatter: Mat<f64>,
    /// Sums per class, visual dimensions x classes.
    per_class: Mat<f64>,
    counts: Vec<f64>,
}

impl Moments {
    /// The moments around the mean, which is returned, of sums around zero.
    pub(super) fn centered(sums: &Sums, mut gram: Mat<f64>) -> (Self, Vec<f64>) {
        let count: f64 = sums.counts.iter().sum();
        let mean: Vec<f64> = sums.total().into_iter().map(|total| total / count).collect();
        for j in 0..gram.ncols() {
            vector::add_scaled(gram.col_as_slice_mut(j), -count * mean[j], &mean);
        }
        let mut per_class = sums.per_class.clone();
        for (class, &count) in sums.counts.iter().enumerate() {
            vector::add_scaled(per_class.col_as_slice_mut(class), -count, &mean);
        }
        (Self { scatter: gram, per_class, counts: sums.counts.clone() }, mean)
    }
}

/// Weights of the terms of the objective: $\mu$, $\rho$, $\lambda$.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weights {
    pub(super) code_ridge: f64,
    pub(super) pairs: f64,
    pub(super) similarity: f64,
}

/// The unknowns, and what stays fixed.
pub(super) struct Joint<'a> {
    /// $D$, visual dimensions x atoms.
    atoms: Mat<f64>,
    /// $W$, known classes x atoms.
    pub(super) similarity: Mat<f64>,
    /// $Z$, known classes x known classes.
    class_codes: MatRef<'a, f64>,
    /// Eigenpairs of $Z Z^\top$.
    spectrum: eigen::Eigen,
    weights: Weights,
}

/// Codes of all instances: a linear map of the features plus a constant per class.
struct Codes {
    /// Atoms x visual dimensions.
    map: Mat<f64>,
    /// Atoms x classes.
    constants: Mat<f64>,
}

/// Sums over codes.
struct CodeMoments {
    /// $X A^\top$.
    cross: Mat<f64>,
    /// $A A^\top$.
    gram: Mat<f64>,
    /// Sums of codes per class, atoms x classes.
    per_class: Mat<f64>,
}

impl<'a> Joint<'a> {
    pub(super) fn new(atoms: Mat<f64>, class_codes: MatRef<'a, f64>, weights: Weights) -> Result<Self> {
        let outer = product(class_codes, class_codes.transpose());
        let spectrum = eigen::full(outer.as_ref(), outer.nrows())?;
        let similarity = Mat::zeros(class_codes.nrows(), atoms.ncols());
        Ok(Self { atoms, similarity, class_codes, spectrum, weights })
    }

    /// $t$ of a known class and an instance of a class.
    fn target(&self, candidate: usize, class: usize) -> f64 {
        if candidate == class { 1.0 } else { -1.0 / self.class_codes.ncols().saturating_sub(1).max(1) as f64 }
    }

    /// Targets of all known classes, one column per class of the instances.
    fn targets(&self) -> Mat<f64> {
        let classes = self.class_codes.ncols();
        Mat::from_fn(classes, classes, |candidate, class| self.target(candidate, class))
    }

    /// Codes that minimize the objective for these atoms and this similarity.
    fn codes(&self) -> Result<Codes> {
        let directions = product(self.similarity.transpose(), self.class_codes);
        let mut inner = product(self.atoms.transpose(), self.atoms.as_ref());
        let pairs = product(directions.as_ref(), directions.transpose());
        inner += pairs * faer::Scale(self.weights.pairs);
        (0..inner.nrows()).for_each(|i| inner[(i, i)] += self.weights.code_ridge);
        let pull = product(directions.as_ref(), self.targets().as_ref()) * faer::Scale(self.weights.pairs);
        let (dim, classes) = (self.atoms.nrows(), pull.ncols());
        let both = Mat::from_fn(inner.nrows(), dim + classes, |k, j| {
            if j < dim { self.atoms[(j, k)] } else { pull[(k, j - dim)] }
        });
        let solved = linear::solve(inner, both)?;
        Ok(Codes {
            map: solved.subcols(0, dim).to_owned(),
            constants: solved.subcols(dim, classes).to_owned(),
        })
    }

    /// The similarity that minimizes the objective for these codes, in the eigenvectors of both Gram matrices.
    fn fit_similarity(&mut self, codes: &CodeMoments) -> Result<()> {
        let pulled = product(self.targets().as_ref(), codes.per_class.transpose());
        let right = product(self.class_codes, pulled.as_ref());
        let of_codes = eigen::full(codes.gram.as_ref(), codes.gram.nrows())?;
        let rotated = product(self.spectrum.vectors.transpose(), right.as_ref());
        let rotated = product(rotated.as_ref(), of_codes.vectors.as_ref());
        let ridge = self.weights.similarity / self.weights.pairs;
        let solved = Mat::from_fn(rotated.nrows(), rotated.ncols(), |i, j| {
            rotated[(i, j)] / (self.spectrum.values[i].max(0.0) * of_codes.values[j].max(0.0) + ridge)
        });
        let back = product(self.spectrum.vectors.as_ref(), solved.as_ref());
        self.similarity = product(back.as_ref(), of_codes.vectors.transpose());
        Ok(())
    }

    /// One round: codes, similarity, atoms.
    pub(super) fn round(&mut self, moments: &Moments) -> Result<()> {
        let codes = self.codes()?.moments(moments);
        self.fit_similarity(&codes)?;
        dictionary::update(&mut self.atoms, codes.cross.as_ref(), codes.gram.as_ref());
        Ok(())
    }

    /// Fits the similarity to codes without labels, and returns the map to them: atoms x visual dimensions.
    pub(super) fn finish(&mut self, moments: &Moments) -> Result<Mat<f64>> {
        let map = dictionary::coder(self.atoms.as_ref(), self.weights.code_ridge)?;
        let constants = Mat::zeros(map.nrows(), self.class_codes.ncols());
        let codes = Codes { map, constants };
        self.fit_similarity(&codes.moments(moments))?;
        Ok(codes.map)
    }
}

impl Codes {
    fn moments(&self, of: &Moments) -> CodeMoments {
        let weighted = Mat::from_fn(self.constants.nrows(), self.constants.ncols(), |k, class| {
            self.constants[(k, class)] * of.counts[class]
        });
        let mapped = product(self.map.as_ref(), of.per_class.as_ref());
        let per_class = &mapped + &weighted;
        let mut cross = product(of.scatter.as_ref(), self.map.transpose());
        cross += product(of.per_class.as_ref(), self.constants.transpose());
        let mut gram = product(self.map.as_ref(), cross.as_ref());
        gram += product(self.constants.as_ref(), per_class.transpose());
        CodeMoments { cross, gram, per_class }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bidilel_math::{Silent, simplex};

    fn wave(rows: usize, columns: usize, seed: usize) -> Mat<f64> {
        Mat::from_fn(rows, columns, |i, j| ((i * 31 + j * 17 + seed * 7) as f64 * 0.61).sin())
    }

    struct Data {
        x: Mat<f64>,
        labels: Vec<usize>,
        moments: Moments,
        class_codes: Mat<f64>,
    }

    fn data() -> Data {
        let labels: Vec<usize> = (0..30).map(|i| i % 4).collect();
        let (noise, centers) = (wave(7, 30, 1), wave(7, 4, 2));
        let x = Mat::from_fn(7, 30, |i, j| noise[(i, j)] + centers[(i, labels[j])]);
        let per_class = Mat::from_fn(7, 4, |i, c| (0..30).filter(|j| j % 4 == c).map(|j| x[(i, j)]).sum());
        let counts = (0..4).map(|c| labels.iter().filter(|&&label| label == c).count() as f64).collect();
        let moments = Moments { scatter: &x * x.transpose(), per_class, counts };
        let points = wave(3, 4, 5);
        let class_codes = simplex::codes(points.as_ref(), points.as_ref(), 0.05, &Silent).expect("codes");
        Data { x, labels, moments, class_codes }
    }

    fn coded(codes: &Codes, data: &Data) -> Mat<f64> {
        let mapped = &codes.map * &data.x;
        Mat::from_fn(mapped.nrows(), 30, |k, i| mapped[(k, i)] + codes.constants[(k, data.labels[i])])
    }

    fn objective(joint: &Joint<'_>, a: &Mat<f64>, data: &Data) -> f64 {
        let Weights { code_ridge, pairs, similarity } = joint.weights;
        let scores = data.class_codes.transpose() * &joint.similarity * a;
        let targets = Mat::from_fn(4, 30, |c, i| joint.target(c, data.labels[i]));
        0.5 * ((&data.x - &joint.atoms * a).squared_norm_l2()
            + code_ridge * a.squared_norm_l2()
            + pairs * (targets - scores).squared_norm_l2()
            + similarity * joint.similarity.squared_norm_l2())
    }

    #[test]
    fn sums_over_codes_are_those_of_the_instances_and_no_step_raises_the_objective() {
        let data = data();
        let weights = Weights { code_ridge: 0.2, pairs: 0.7, similarity: 0.4 };
        let atoms = dictionary::init(data.moments.scatter.as_ref(), 5, &Silent).expect("atoms");
        let mut joint = Joint::new(atoms, data.class_codes.as_ref(), weights).expect("a problem");
        let mut last = f64::INFINITY;
        for _ in 0..15 {
            let codes = joint.codes().expect("codes");
            let (a, moments) = (coded(&codes, &data), codes.moments(&data.moments));
            assert!((&a * a.transpose() - &moments.gram).norm_max() < 1e-9);
            assert!((&data.x * a.transpose() - &moments.cross).norm_max() < 1e-9);
            let at_codes = objective(&joint, &a, &data);
            joint.fit_similarity(&moments).expect("a similarity");
            let at_similarity = objective(&joint, &a, &data);
            dictionary::update(&mut joint.atoms, moments.cross.as_ref(), moments.gram.as_ref());
            let at_atoms = objective(&joint, &a, &data);
            for (before, after) in [(last, at_codes), (at_codes, at_similarity), (at_similarity, at_atoms)] {
                assert!(after <= before * (1.0 + 1e-12), "{after} after {before}");
            }
            last = at_atoms;
        }
    }

    #[test]
    fn codes_and_similarity_satisfy_their_normal_equations() {
        let data = data();
        let weights = Weights { code_ridge: 0.2, pairs: 0.7, similarity: 0.4 };
        let atoms = wave(7, 3, 9) * faer::Scale(0.3);
        let mut joint = Joint::new(atoms, data.class_codes.as_ref(), weights).expect("a problem");
        joint.similarity = wave(4, 3, 4);
        let codes = joint.codes().expect("codes");
        let a = coded(&codes, &data);
        let targets = Mat::from_fn(4, 30, |c, i| joint.target(c, data.labels[i]));
        let z = &data.class_codes;
        let misses = z.transpose() * &joint.similarity * &a - &targets;
        let slope = joint.atoms.transpose() * (&joint.atoms * &a - &data.x)
            + &a * faer::Scale(0.2)
            + joint.similarity.transpose() * z * &misses * faer::Scale(0.7);
        assert!(slope.norm_max() < 1e-9);
        joint.fit_similarity(&codes.moments(&data.moments)).expect("a similarity");
        let misses = z.transpose() * &joint.similarity * &a - &targets;
        let slope = z * misses * a.transpose() * faer::Scale(0.7) + &joint.similarity * faer::Scale(0.4);
        assert!(slope.norm_max() < 1e-9);
    }
}
