//! What was refused, counted until somebody asks, and how often refusals are told: bounded by peer and in all.
use super::flow::Ticks;
use crate::limits::*;
use std::collections::HashMap;
use std::net::IpAddr;

/// Who wanted what of whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Refused {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub protocol: u8,
    /// The destination's; none: it has none, or the peer asked for too many to count each.
    pub port: Option<u16>,
}

#[derive(Default)]
pub struct Refusals {
    counts: HashMap<Refused, u64>,
    /// How many of `counts` each peer has.
    peers: HashMap<u32, usize>,
    told: Told,
}

/// How often refusals were told in this second.
#[derive(Default)]
struct Told {
    second: u32,
    all: u32,
    peers: HashMap<u32, u32>,
}

impl Refusals {
    pub fn count(&mut self, peer: u32, refused: Refused) {
        if let Some(count) = self.counts.get_mut(&refused) {
            *count += 1;
            return;
        }
        let all = self.counts.len();
        let own = self.peers.entry(peer).or_default();
        let refused = if *own < REFUSALS_PER_PEER { refused } else { Refused { port: None, ..refused } };
        let has_room = *own < 2 * REFUSALS_PER_PEER && all < MAX_REFUSALS;
        match self.counts.get_mut(&refused) {
            Some(count) => *count += 1,
            None if has_room => {
                *own += 1;
                self.counts.insert(refused, 1);
            }
            // counted as dropped alone
            None => {}
        }
    }

    pub fn take(&mut self) -> Vec<(Refused, u64)> {
        self.peers.clear();
        std::mem::take(&mut self.counts).into_iter().collect()
    }

    /// Counts one that is told; false: enough were told in this second.
    pub fn may_tell(&mut self, peer: u32, now: Ticks) -> bool {
        let (told, second) = (&mut self.told, now / TICKS_PER_SECOND);
        if told.second != second {
            (told.second, told.all) = (second, 0);
            told.peers.clear();
        }
        let own = told.peers.entry(peer).or_default();
        if *own >= TOLD_PER_PEER || told.all >= TOLD_PER_SECOND {
            return false;
        }
        (*own, told.all) = (*own + 1, told.all + 1);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(port: u16) -> Refused {
        let address = |last: u8| [10, 1, 0, last].into();
        Refused { source: address(1), destination: address(2), protocol: 6, port: Some(port) }
    }

    #[test]
    fn a_scan_of_ports_takes_little_room_and_is_counted() {
        let mut refusals = Refusals::default();
        (0..u16::MAX).for_each(|port| refusals.count(1, refused(port)));
        refusals.count(2, Refused { port: Some(22), ..refused(1) });
        let taken = refusals.take();
        assert!(taken.len() <= REFUSALS_PER_PEER + 2, "{}", taken.len());
        assert_eq!(taken.iter().map(|(_, count)| count).sum::<u64>(), 65_536);
        assert!(refusals.take().is_empty());
    }

    #[test]
    fn many_sources_are_bounded_together() {
        let mut refusals = Refusals::default();
        for n in 0..u32::from(u16::MAX) {
            let source = std::net::Ipv4Addr::from_bits((n << 8) + n % 100).into();
            refusals.count(n % 100, Refused { source, ..refused(n as u16) });
        }
        assert!(refusals.counts.len() <= MAX_REFUSALS);
        assert!(refusals.peers.len() <= 100);
    }

    #[test]
    fn refusals_are_told_so_often_a_second() {
        let mut refusals = Refusals::default();
        let told =
            |refusals: &mut Refusals, now| (0..1000).filter(|n| refusals.may_tell(n % 2, now)).count() as u32;
        assert_eq!(told(&mut refusals, 40), 2 * TOLD_PER_PEER);
        assert_eq!(told(&mut refusals, 41), 0);
        assert_eq!(told(&mut refusals, 44), 2 * TOLD_PER_PEER);
        let all = (0..100_000).filter(|n| refusals.may_tell(*n, 80)).count() as u32;
        assert_eq!(all, TOLD_PER_SECOND);
    }
}
