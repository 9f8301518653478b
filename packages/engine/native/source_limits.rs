//! How much of one kind may come from one address a second, and from all together. A fixed size: spoofed sources cost
//! no memory. Sources share a count where their hashes meet.
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

const SLOTS: usize = 1024;
const PERIOD: Duration = Duration::from_secs(1);

pub struct SourceLimits {
    hasher: RandomState,
    counts: Box<[u32; SLOTS]>,
    all: u32,
    since: Instant,
    each_limit: u32,
    all_limit: u32,
}

impl SourceLimits {
    pub fn new(each_limit: u32, all_limit: u32) -> SourceLimits {
        let counts = Box::new([0; SLOTS]);
        SourceLimits {
            hasher: RandomState::new(),
            counts,
            all: 0,
            since: Instant::now(),
            each_limit,
            all_limit,
        }
    }

    /// Counts one more; false: the source, or all of them, had their share of this second.
    pub fn take(&mut self, from: SocketAddr, now: Instant) -> bool {
        self.renew(now);
        let slot = self.hasher.hash_one(group(from.ip())) as usize % SLOTS;
        let count = &mut self.counts[slot];
        if *count >= self.each_limit || self.all >= self.all_limit {
            return false;
        }
        (*count, self.all) = (*count + 1, self.all + 1);
        true
    }

    /// How many were taken in this second.
    pub fn all(&mut self, now: Instant) -> u32 {
        self.renew(now);
        self.all
    }

    fn renew(&mut self, now: Instant) {
        if now.saturating_duration_since(self.since) >= PERIOD {
            (self.since, self.all) = (now, 0);
            self.counts.fill(0);
        }
    }
}

/// Whoever has one address of IPv6 has all of its /64.
fn group(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_source_is_limited_by_itself_and_all_together() {
        let mut limits = SourceLimits::new(3, 100);
        let now = Instant::now();
        let address = |n: u8| SocketAddr::new([10, 0, n, 1].into(), 1000 + n as u16);
        let taken = (0..9).filter(|_| limits.take(address(1), now)).count();
        assert_eq!(taken, 3);
        let all = (0..250).filter(|n| limits.take(address(*n), now)).count() + taken;
        assert!((90..=100).contains(&all), "{all}");
        assert!(limits.take(address(1), now + PERIOD));
    }

    #[test]
    fn neighbours_in_one_network_of_ipv6_are_one_source() {
        let mut limits = SourceLimits::new(3, 100);
        let now = Instant::now();
        let from = |n: u16| SocketAddr::new(Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, n).into(), 5);
        assert_eq!((0..50).filter(|n| limits.take(from(*n), now)).count(), 3);
    }
}
