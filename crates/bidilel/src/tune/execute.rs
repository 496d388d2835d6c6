//! Carries out the tree of a batch on some folds.
//!
//! Scatter matrices that are sums over edges are made for all folds together ([`super::cache`]). What is left of these
//! settings are independent eigenproblems, one per fold, graph and alpha, each followed by its spaces: as many run
//! concurrently as there are threads, whichever folds they belong to, and instances are read where they lie. All other
//! settings are scored fold by fold, on a copy of the fold's training instances.

use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, PoisonError};

use faer::MatRef;

use bidilel_math::parallel::run_jobs;
use bidilel_math::{Check, Columns, Observer, Scalar, scatter};

use super::cache::{Cache, ScatterKey, Space};
use super::evaluator::Evaluator;
use super::fold::Fold;
use super::naive::fit_and_score;
use super::sink::Sink;
use super::spaces::Spaces;
use super::tree::{Branch, GraphSettings, LearnerNode, Setting, SpaceNode, ViewsKey, ViewsNode};
use crate::bottom_up::{LatentSpaceLearner, Scatters};
use crate::error::Result;
use crate::semantic::ClassSemantics;
use crate::settings::Settings;
use crate::task::{SharedScatter, Task, Training};
use crate::visual::{KernelForm, Views};

/// A batch on some folds.
pub(super) struct Executor<'a, T> {
    pub(super) evaluator: &'a Evaluator<T>,
    /// The folds to score on.
    pub(super) range: Range<usize>,
    pub(super) batch: &'a [Settings],
    pub(super) settings: &'a [Setting],
    pub(super) tree: &'a [Branch],
    /// The semantic representations of the batch, for every fold.
    pub(super) semantics: &'a [Vec<ClassSemantics>],
    pub(super) sink: &'a Sink<'a>,
    pub(super) watch: &'a dyn Observer,
}

/// An eigenproblem: one space for all settings that differ in what follows it.
type Problem<'a, T, F> = (&'a Spaces<'a, T, F>, &'a Scatters, &'a SpaceNode);
/// One that may have been solved before, and by what its space is kept.
type SharedProblem<'a, T> = (&'a Spaces<'a, T, T>, &'a ScatterKey, &'a SpaceNode);
/// A learner over a graph, and which scatter matrices it needs.
type GraphNode<'a> = (ScatterKey, &'a LearnerNode);

impl<T: Scalar> Executor<'_, T> {
    /// Scores everything that the sink wants.
    pub(super) fn run(&self, cache: &mut Cache) {
        self.run_shared(cache);
        for fold in self.range.clone() {
            for branch in self.tree {
                let (settings, outcome) = match branch {
                    Branch::Shared(node) => (&node.settings, self.run_views(fold, node)),
                    Branch::Whole(settings) => (settings, self.run_whole(fold, settings)),
                };
                outcome.unwrap_or_else(|failure| self.sink.fail(fold, settings, failure));
            }
        }
    }

    /// Settings whose scatter matrices can be summed for several folds.
    fn run_shared(&self, cache: &mut Cache) {
        let Evaluator { pool, folds, .. } = self.evaluator;
        // The matrices of the best setting so far are held besides.
        let capacity = (pool.scatter_capacity() / folds.len().max(1)).saturating_sub(1);
        if capacity > 0 || folds.len() == 1 {
            let mut nodes = self.additive(self.range.clone());
            // Matrices that are kept may be dropped for better ones: first what needs them.
            nodes.sort_by_key(|(key, _)| cache.get(key).is_empty());
            // One fold holds no more than the threads need, and two pairs besides.
            let at_once = capacity.max(graphs_at_once(nodes.iter().map(|(_, node)| *node)));
            for some in nodes.chunks(at_once) {
                let found = self.run_graphs(some, cache, true);
                let node = |key: &ScatterKey| some.iter().find(|(own, _)| own == key).map(|(_, node)| *node);
                cache.keep_best(|key| node(key).map_or(0.0, |node| self.sink.best_mean(&node.settings)));
                cache.keep_spaces(found, |key, alpha| {
                    let space = node(key)?.children.iter().find(|node| node.key == alpha)?;
                    Some(self.sink.best_mean(&space.settings))
                });
            }
            return;
        }
        // No memory for all folds: one by one, with as many graphs as keep the threads busy, and nothing is kept.
        for fold in self.range.clone() {
            let nodes = self.additive(fold..fold + 1);
            let some = nodes.chunks(graphs_at_once(nodes.iter().map(|(_, node)| *node)));
            some.for_each(|some| drop(self.run_graphs(some, &mut Cache::default(), false)));
        }
    }

    /// Learners whose scatter matrices are sums over edges, in the visual dimensions, on all of these folds.
    fn additive(&self, folds: Range<usize>) -> Vec<GraphNode<'_>> {
        let primal = |fold: &Fold, key| fold.method(key).is_ok_and(|method| method == KernelForm::Primal);
        let mut found = Vec::new();
        for branch in self.tree {
            let Branch::Shared(ViewsNode { key, children, .. }) = branch else { continue };
            if self.evaluator.folds[folds.clone()].iter().all(|fold| primal(fold, key)) {
                let additive = |node: &&LearnerNode| {
                    GraphSettings::of(&node.key.learner).is_some_and(|graph| graph.locality.is_additive())
                };
                found.extend(children.iter().filter(additive).map(|node| {
                    let (views, learner) = (key.views.clone(), node.key.learner.clone());
                    (ScatterKey { views, learner, folds: folds.clone() }, node)
                }));
            }
        }
        found
    }

    /// All spaces over some graphs, and those that were found where they are to be kept.
    fn run_graphs<'s>(&'s self, nodes: &[GraphNode<'_>], cache: &mut Cache, keep: bool) -> Vec<Space> {
        let Evaluator { pool, folds, .. } = self.evaluator;
        let dim = |node: &SpaceNode| {
            let own = node.children.iter().map(|dim| dim.key).max().unwrap_or(1);
            if keep { self.settings[node.settings[0]].asked.map_or(own, |asked| asked.max(own)) } else { own }
        };
        let unsolved = |cache: &Cache, key: &ScatterKey, fold: usize, node: &SpaceNode| {
            self.sink.wants(fold, &node.settings) && cache.space(key, fold, node.key, dim(node)).is_none()
        };
        for (key, node) in nodes {
            let missing = |fold| node.children.iter().any(|node| unsolved(cache, key, fold, node));
            if key.folds.clone().any(missing) {
                cache.fill(key, pool, &folds[key.folds.clone()], self.watch);
            }
        }
        let columns = |instances| Columns::new(pool.features.as_ref(), instances);
        let spaces = |(fold, Fold { train, test, mean, .. }): (usize, &'s Fold)| {
            let (train, test) = (columns(train), columns(test));
            Spaces { run: self, fold, train, test, mean }
        };
        let spaces: Vec<Spaces<'_, T, T>> = folds.iter().enumerate().map(spaces).collect();
        let mut problems: Vec<SharedProblem<'_, T>> = Vec::new();
        for (key, node) in nodes {
            for spaces in &spaces[key.folds.clone()] {
                problems.extend(node.children.iter().map(|node| (spaces, key, node)));
            }
        }
        let (cache, found) = (&*cache, Mutex::new(Vec::new()));
        self.each(&problems, |&(spaces, key, node)| {
            if let Some(map) = cache.space(key, spaces.fold, node.key, dim(node)) {
                spaces.score_map(map.clone(), node);
            } else if let Some(scatters) = cache.get(key).get(spaces.fold - key.folds.start) {
                let solved = spaces.solve(scatters, node, dim(node));
                if let Some(map) = solved.filter(|_| keep) {
                    let space = Space::new(key.clone(), spaces.fold, node.key, map);
                    found.lock().unwrap_or_else(PoisonError::into_inner).push(space);
                }
            }
        });
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        // In the order of the problems, whichever was solved first: among equals the first is kept.
        let at = |space: &Space| {
            problems.iter().position(|(spaces, key, node)| {
                (spaces.fold, *key, node.key) == (space.fold, &space.key, space.alpha)
            })
        };
        found.sort_by_cached_key(at);
        found
    }

    /// As many at a time as there are threads.
    fn each<P: Sync>(&self, problems: &[P], solve: impl Fn(&P) + Sync) {
        if !problems.is_empty() {
            self.watch.stage("eigen");
            run_jobs(problems, |problem| {
                solve(problem);
                true
            });
        }
    }

    fn solve<F: Scalar>(&self, problems: &[Problem<'_, T, F>]) {
        self.each(problems, |(spaces, scatters, node)| {
            spaces.solve(scatters, node, 0);
        });
    }

    /// Settings over the same views on one fold, as far as they are still wanted.
    fn run_views(&self, fold: usize, node: &ViewsNode) -> Result<()> {
        if !self.sink.wants(fold, &node.settings) {
            return Ok(());
        }
        let Evaluator { pool, folds, .. } = self.evaluator;
        let ViewsKey { views, fusion, direct } = &node.key;
        let method = folds[fold].method(&node.key)?;
        let train = pool.gather(&folds[fold].train);
        if method == KernelForm::Primal {
            let test = Columns::new(pool.features.as_ref(), &folds[fold].test);
            self.run_learners(fold, node, (train.as_ref(), test), views, false);
            return Ok(());
        }
        let mapped = fusion.mapped(method, *direct, views, train.as_ref(), self.watch)?;
        let test = mapped.map(pool.gather(&folds[fold].test).as_ref());
        let views = Views::single("kernel", mapped.train.nrows());
        let features = (mapped.train.as_ref(), test.as_ref().into());
        self.run_learners(fold, node, features, &views, *direct && method == KernelForm::NSpace);
        Ok(())
    }

    /// Learners over the features of a fold, or over those of its fused kernel; `over_all` is the kernel form over all
    /// training instances.
    fn run_learners<F: Scalar>(
        &self,
        fold: usize,
        ViewsNode { key, children, .. }: &ViewsNode,
        (train, test): (MatRef<'_, F>, Columns<'_, F>),
        views: &Views,
        over_all: bool,
    ) {
        let Evaluator { pool, folds, .. } = self.evaluator;
        // Learners over these features have the total scatter in common.
        let total = SharedScatter::new();
        let training = |semantics: usize| {
            let semantics = &self.semantics[fold][semantics];
            let (classes, semantics) = (semantics.known, semantics.known_vectors());
            Training {
                features: train,
                labels: &folds[fold].labels,
                classes,
                semantics,
                views,
                total: Some(&total),
            }
        };
        let mean = scatter::mean(train);
        let spaces = Spaces { run: self, fold, train: train.into(), test, mean: &mean };
        let wanted = children.iter().filter(|node| self.sink.wants(fold, &node.settings));
        let wanted: Vec<&LearnerNode> = wanted.collect();
        for some in wanted.chunks(graphs_at_once(wanted.iter().copied())) {
            let mut made: Vec<(Scatters, &LearnerNode)> = Vec::new();
            for &node in some {
                let learner = |&setting: &usize| &self.settings[setting].pipeline.bottom_up;
                let training = training(node.key.semantics.unwrap_or(0));
                let own = learner(&node.settings[0]).over_kernel(over_all);
                let outcome = if let Some(graph) = GraphSettings::of(&own) {
                    let affinity = pool.graph(&folds[fold], &graph, &key.views, self.watch);
                    let scatters = graph.locality.scatters(&training, &affinity, self.watch);
                    scatters.map(|scatters| made.push((scatters, node)))
                } else {
                    // All dims in one space: the learner of the setting that has the most.
                    let [space] = &node.children[..] else { continue };
                    let Some(most) = space.children.iter().max_by_key(|dim| dim.key) else { continue };
                    let learned = learner(&most.settings[0]).fit(&training, self.watch);
                    learned.map(|learned| spaces.score(&learned, space))
                };
                outcome.unwrap_or_else(|failure| self.sink.fail(fold, &node.settings, failure));
            }
            let spaces = &spaces;
            let problems = made
                .iter()
                .flat_map(|(scatters, node)| node.children.iter().map(move |node| (spaces, scatters, node)));
            self.solve(&problems.collect::<Vec<_>>());
        }
    }

    /// Settings that share nothing but the task of a fold.
    fn run_whole(&self, fold: usize, settings: &[usize]) -> Result<()> {
        let Evaluator { dataset, folds, seed, .. } = self.evaluator;
        let wanted = self.sink.wanted(fold, settings);
        let Some(&first) = wanted.first() else { return Ok(()) };
        let choice = self.batch[first].choice(dataset)?;
        let mut task = Task::new(dataset, &folds[fold].trial, &choice, self.watch)?;
        for setting in wanted {
            let Setting { views, semantics, .. } = &self.settings[setting];
            task.views.clone_from(views);
            task.semantics.clone_from(&self.semantics[fold][*semantics]);
            self.sink.put(fold, setting, fit_and_score(&task, &self.batch[setting], *seed, self.watch));
        }
        Ok(())
    }
}

/// Graphs whose eigenproblems, one thread each, keep all threads busy.
fn graphs_at_once<'a>(nodes: impl Iterator<Item = &'a LearnerNode>) -> usize {
    rayon::current_num_threads().div_ceil(nodes.map(|node| node.children.len()).max().unwrap_or(1))
}

/// Passes on notes and checks only: the stages of concurrent work have no order.
pub(super) struct NotesOnly<'a>(pub(super) &'a dyn Observer);

impl Observer for NotesOnly<'_> {
    fn check(&self, check: &Check) {
        self.0.check(check);
    }

    fn note(&self, message: &str) {
        self.0.note(message);
    }

    fn poll(&self) -> ControlFlow<()> {
        self.0.poll()
    }
}
