//! Which blocks meet when, so that threads never touch the same block.
//!
//! All pairs of blocks meet once, in the rounds of a tournament: in one round no block plays twice. What a block
//! gathers therefore comes in the order of the rounds, for any number of threads.
//!
//! The circle method: the last player stays, the others move round it. With an odd number the last is a bye.

/// The rounds among `players`; in each, the pairs that meet.
pub fn rounds(players: usize) -> impl ExactSizeIterator<Item = Vec<(usize, usize)>> {
    let seats = players + players % 2;
    let rounds = seats.saturating_sub(1);
    (0..rounds).map(move |round| {
        let place = |seat: usize| (round + seat) % rounds;
        let pair = |table: usize| match table {
            0 => (seats - 1, place(0)),
            table => (place(table), place(rounds - table)),
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
            for round in rounds(players) {
                let playing: BTreeSet<usize> = round.iter().flat_map(|&(one, other)| [one, other]).collect();
                assert_eq!(playing.len(), 2 * round.len());
                assert!(round.iter().all(|&(one, other)| met.insert((one.min(other), one.max(other)))));
            }
            assert_eq!(met.len(), players * players.saturating_sub(1) / 2);
        }
    }
}
