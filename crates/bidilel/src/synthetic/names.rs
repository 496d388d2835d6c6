//! Readable class names: an adjective for the class, a noun for its group.

const NOUNS: [&str; 32] = [
    "finch", "wolf", "whale", "otter", "beetle", "heron", "lynx", "gecko", "moth", "badger", "salmon",
    "falcon", "bison", "viper", "crab", "owl", "hare", "toad", "seal", "wasp", "crane", "ibex", "perch",
    "mole", "raven", "tapir", "newt", "puffin", "weasel", "carp", "swift", "boar",
];

const ADJECTIVES: [&str; 32] = [
    "spotted",
    "grey",
    "crested",
    "dwarf",
    "striped",
    "golden",
    "marsh",
    "northern",
    "horned",
    "pale",
    "long_tailed",
    "river",
    "giant",
    "hooded",
    "desert",
    "silver",
    "masked",
    "mountain",
    "ringed",
    "dusky",
    "painted",
    "island",
    "bearded",
    "crimson",
    "forest",
    "arctic",
    "slender",
    "white_faced",
    "coastal",
    "banded",
    "shy",
    "ashen",
];

/// The name of the `member`-th class of a group; unique, with a number once the words run out.
pub(super) fn class_name(group: usize, member: usize) -> String {
    let noun = NOUNS[group % NOUNS.len()];
    // The start differs by group, else every group would begin with the same adjective.
    let adjective = ADJECTIVES[(member + 5 * group) % ADJECTIVES.len()];
    match (group / NOUNS.len(), member / ADJECTIVES.len()) {
        (0, 0) => format!("{adjective}_{noun}"),
        (lap, round) => format!("{adjective}_{noun}_{lap}_{round}"),
    }
}
