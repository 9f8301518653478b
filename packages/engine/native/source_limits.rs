//! How much of one kind may come from one address a second, and from all together, by all sockets: the threads that read
//! them share each count. A fixed size: spoofed sources cost no memory. Sources share a count where their hashes meet.
use crate::limits::*;
use parking_lot::{Mutex, MutexGuard};
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

const SLOTS: usize = 1024;
const PERIOD: Duration = Duration::from_secs(1);

/// The bounds of the handshakes that strangers may send to the engine's sockets.
pub struct SocketLimits {
    pub handshakes: SourceLimits,
    /// Handshake messages under load, whose senders say that they proved their address: to look costs something.
    pub claims: SourceLimits,
    /// Those who did.
    pub proven: SourceLimits,
    /// Cookies, by which senders prove their address.
    pub cookies: SourceLimits,
}

impl Default for SocketLimits {
    fn default() -> SocketLimits {
        SocketLimits {
            handshakes: SourceLimits::new(HANDSHAKES_PER_SOURCE, SOCKET_HANDSHAKES_PER_SECOND),
            claims: SourceLimits::new(HANDSHAKES_PER_SOURCE, CLAIMS_PER_SECOND),
            proven: SourceLimits::new(HANDSHAKES_PER_SOURCE, SOCKET_HANDSHAKES_PER_SECOND),
            cookies: SourceLimits::new(HANDSHAKES_PER_SOURCE, COOKIES_PER_SECOND),
        }
    }
}

/// One of them. Its lock is held for a count, never over what is counted.
pub struct SourceLimits {
    hasher: RandomState,
    counts: Mutex<Counts>,
    each_limit: u32,
    all_limit: u32,
}

struct Counts {
    each: Box<[u32; SLOTS]>,
    all: u32,
    since: Instant,
}

impl SourceLimits {
    pub fn new(each_limit: u32, all_limit: u32) -> SourceLimits {
        let counts = Counts { each: Box::new([0; SLOTS]), all: 0, since: Instant::now() };
        SourceLimits { hasher: RandomState::new(), counts: Mutex::new(counts), each_limit, all_limit }
    }

    /// Counts one more; false: the source, or all of them, had their share of this second.
    pub fn take(&self, from: SocketAddr, now: Instant) -> bool {
        let slot = self.hasher.hash_one(group(from.ip())) as usize % SLOTS;
        let mut counts = self.counts_of(now);
        if counts.each[slot] >= self.each_limit || counts.all >= self.all_limit {
            return false;
        }
        counts.each[slot] += 1;
        counts.all += 1;
        true
    }

    /// How many were taken in this second.
    pub fn all(&self, now: Instant) -> u32 {
        self.counts_of(now).all
    }

    /// The counts of this second.
    fn counts_of(&self, now: Instant) -> MutexGuard<'_, Counts> {
        let mut counts = self.counts.lock();
        if now.saturating_duration_since(counts.since) >= PERIOD {
            (counts.since, counts.all) = (now, 0);
            counts.each.fill(0);
        }
        counts
    }
}

/// Anyone who has one address of IPv6 has all of its /64.
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
        let limits = SourceLimits::new(3, 100);
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
        let limits = SourceLimits::new(3, 100);
        let now = Instant::now();
        let from = |n: u16| SocketAddr::new(Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, n).into(), 5);
        assert_eq!((0..50).filter(|n| limits.take(from(*n), now)).count(), 3);
    }
    #[test]
    fn threads_that_share_it_get_no_more_together_than_one() {
        let limits = SourceLimits::new(300, 1000);
        let now = Instant::now();
        let taken = |of: u8| {
            let from = SocketAddr::new([10, 0, of, 1].into(), 7);
            (0..1000).filter(|_| limits.take(from, now)).count()
        };
        let same: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| taken(1))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(same, 300);
        let others: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (2..10).map(|of| scope.spawn(move || taken(of))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(same + others, 1000);
    }
}
