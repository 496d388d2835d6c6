//! Round-robin tournament schedule: which pairs of blocks are processed concurrently.
//!
//! Every pair of blocks occurs in exactly one round, and a block occurs at most once per round, so that threads never share
//! a block within a round. The sums of a block are accumulated in the order of the rounds, for any number of threads.
//!
//! The circle method: one player is fixed, the others rotate. With an odd number of players one of them has a bye.

/// The rounds of a round-robin tournament among `players`; each is the list of its pairs.
pub fn round_robin(players: usize) -> impl ExactSizeIterator<Item = Vec<(usize, usize)>> {
    let seats = players + players % 2;
    let rounds = seats.saturating_sub(1);
    (0..rounds).map(move |round| {
        let player = |seat: usize| (round + seat) % rounds;
        let pair = |table: usize| match table {
            0 => (seats - 1, player(0)),
            table => (player(table), player(rounds - table)),
        };
        (0..seats / 2).map(pair).filter(|&(one, other)| one < players && other < players).collect()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_two_players_meet_once_and_nobody_plays_twice_in_a_round() {
        for players in 0..12 {
            let mut met = BTreeSet::new();
            for round in round_robin(players) {
                let playing: BTreeSet<usize> = round.iter().flat_map(|&(one, other)| [one, other]).collect();
                assert_eq!(playing.len(), 2 * round.len());
                assert!(round.iter().all(|&(one, other)| met.insert((one.min(other), one.max(other)))));
            }
            assert_eq!(met.len(), players * players.saturating_sub(1) / 2);
        }
    }
}
