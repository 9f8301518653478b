//! Ranges of addresses, and which of them an address belongs to: the longest one that holds it.
use std::net::IpAddr;

/// A network address and how many of its bits count. Host bits are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    pub address: IpAddr,
    pub length: u8,
}

impl Prefix {
    /// `10.1.0.0/24`, `fd00::/64`.
    pub fn parse(text: &str) -> Option<Prefix> {
        let (address, length) = text.split_once('/')?;
        let prefix = Prefix { address: address.parse().ok()?, length: length.parse().ok()? };
        let most = if prefix.address.is_ipv4() { 32 } else { 128 };
        (prefix.length <= most).then_some(prefix)
    }

    pub fn text(&self) -> String {
        format!("{}/{}", self.address, self.length)
    }

    /// The bits of an address that do not count.
    fn host(&self) -> u128 {
        let bits = if self.address.is_ipv4() { 32 } else { 128 };
        u128::MAX.checked_shr(128 - bits + u32::from(self.length)).unwrap_or(0)
    }

    /// The network's own address, as a number.
    pub fn first(&self) -> u128 {
        let bits = match self.address {
            IpAddr::V4(v4) => v4.to_bits().into(),
            IpAddr::V6(v6) => v6.to_bits(),
        };
        bits & !self.host()
    }

    fn last(&self) -> u128 {
        self.first() | self.host()
    }

    /// True when it holds one address only.
    pub fn is_address(&self) -> bool {
        self.host() == 0
    }
}

/// No owner.
pub const NOBODY: u32 = u32::MAX;

/// Who owns which addresses of IPv4, and of IPv6.
#[derive(Default)]
pub struct Families {
    v4: Ranges,
    v6: Ranges,
}

impl Families {
    pub fn new(prefixes: impl Iterator<Item = (Prefix, u32)>) -> Families {
        let (v4, v6): (Vec<_>, Vec<_>) = prefixes.partition(|(prefix, _)| prefix.address.is_ipv4());
        Families { v4: Ranges::new(v4), v6: Ranges::new(v6) }
    }

    /// The number that belongs to the longest prefix; `NOBODY` without one.
    #[inline]
    pub fn owner(&self, address: IpAddr) -> u32 {
        match address {
            IpAddr::V4(v4) => self.v4.owner(v4.to_bits().into()),
            IpAddr::V6(v6) => self.v6.owner(v6.to_bits()),
        }
    }
}

/// Prefixes as disjoint ranges, so that the longest match is one binary search, whatever prefixes there are.
struct Ranges {
    /// First addresses, ascending; the first one is the least address there is.
    starts: Vec<u128>,
    owners: Vec<u32>,
}

impl Default for Ranges {
    fn default() -> Self {
        Ranges { starts: vec![0], owners: vec![NOBODY] }
    }
}

impl Ranges {
    /// Prefixes nest or are apart, so a stack knows who owns what behind each end.
    fn new(prefixes: Vec<(Prefix, u32)>) -> Ranges {
        let mut spans: Vec<(u128, u128, u32)> =
            prefixes.into_iter().map(|(prefix, owner)| (prefix.first(), prefix.last(), owner)).collect();
        // the outer one first where two begin alike
        spans.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        let mut ranges = Ranges::default();
        let mut enclosing: Vec<(u128, u32)> = Vec::new();
        for (first, last, owner) in spans {
            ranges.leave(&mut enclosing, Some(first));
            ranges.start(first, owner);
            enclosing.push((last, owner));
        }
        ranges.leave(&mut enclosing, None);
        ranges
    }

    /// Ends those spans that lie wholly before `next`, or all.
    fn leave(&mut self, enclosing: &mut Vec<(u128, u32)>, next: Option<u128>) {
        while let Some((last, _)) = enclosing.pop_if(|(last, _)| next.is_none_or(|next| *last < next)) {
            let outer = enclosing.last().map_or(NOBODY, |(_, owner)| *owner);
            if let Some(behind) = last.checked_add(1) {
                self.start(behind, outer);
            }
        }
    }

    fn start(&mut self, first: u128, owner: u32) {
        match (self.starts.last(), self.owners.last_mut()) {
            (Some(start), Some(last)) if *start == first => *last = owner,
            _ => {
                self.starts.push(first);
                self.owners.push(owner);
            }
        }
    }

    #[inline]
    fn owner(&self, address: u128) -> u32 {
        let behind = self.starts.partition_point(|start| *start <= address);
        behind.checked_sub(1).and_then(|at| self.owners.get(at)).copied().unwrap_or(NOBODY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random::Random;

    #[test]
    fn refuses_prefixes_that_cannot_be() {
        for text in ["10.1.0.0/33", "fd00::/129", "10.1.0.0", "10.1/8", "x/8", "10.1.0.0/-1"] {
            assert_eq!(Prefix::parse(text), None, "{text}");
        }
    }

    /// Every prefix, one by one.
    fn slow(prefixes: &[(Prefix, u32)], address: u128) -> u32 {
        let holds = |prefix: &Prefix| prefix.first() <= address && address <= prefix.last();
        let matching = prefixes.iter().filter(|(prefix, _)| holds(prefix));
        matching.max_by_key(|(prefix, _)| prefix.length).map_or(NOBODY, |(_, owner)| *owner)
    }

    fn agrees(seed: u64, draw: impl Fn(&mut Random) -> u128, to: impl Fn(u128) -> IpAddr, bits: usize) {
        let mut random = Random::new(seed);
        for _ in 0..300 {
            let mut prefixes: Vec<(Prefix, u32)> = Vec::new();
            for owner in 0..random.below(40) as u32 {
                let drawn = Prefix { address: to(draw(&mut random)), length: random.below(bits + 1) as u8 };
                if !prefixes.iter().any(|(other, _)| {
                    slow(&[(*other, 0)], drawn.first()) == 0 && other.length == drawn.length
                }) {
                    prefixes.push((drawn, owner));
                }
            }
            let ranges = Ranges::new(prefixes.clone());
            let edges = prefixes.iter().map(|(prefix, _)| (prefix.first(), prefix.last()));
            let mut asked: Vec<u128> =
                edges.flat_map(|(a, b)| [Some(a), Some(b), b.checked_add(1)]).flatten().collect();
            asked.extend((0..50).map(|_| draw(&mut random)));
            for address in asked {
                let slowly = slow(&prefixes, address);
                assert_eq!(ranges.owner(address), slowly, "seed {seed}: {address:?} in {prefixes:?}");
            }
        }
    }

    #[test]
    fn agrees_with_the_slow_twin() {
        // few distinct bits, so that prefixes nest often
        let v4 = |random: &mut Random| ((random.next() as u32) & 0xc003_0007).into();
        agrees(5, v4, |bits| std::net::Ipv4Addr::from_bits(bits as u32).into(), 32);
        let v6 =
            |random: &mut Random| (random.next() as u128) << 64 & (0xf << 120) | (random.next() & 7) as u128;
        agrees(6, v6, |bits| std::net::Ipv6Addr::from_bits(bits).into(), 128);
    }
}
