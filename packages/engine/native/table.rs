//! Which peer owns an address: one immutable value, made from the whole and swapped in as a whole.
use crate::peer::{Peer, Tunnel};
use crate::sessions::Key;
use crate::sockets::OWN;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
}

pub struct Entry {
    pub peer: Arc<Peer>,
    /// The longest packet that its tunnel takes, in bytes.
    pub mtu: usize,
    /// The longest of those that its path over the socket takes; longer ones go by the stream.
    pub socket_mtu: usize,
    pub path: Path,
}

impl Entry {
    /// Where the socket sends the peer's datagrams: by its path, or of a guest, where it was heard last.
    #[inline]
    pub fn endpoint(&self) -> Option<SocketAddr> {
        if self.path == Path::HEARD { self.peer.heard() } else { self.path.endpoint }
    }

    /// A stock WireGuard device: it speaks with this node alone, which passes its packets on.
    #[inline]
    pub fn is_guest(&self) -> bool {
        self.path == Path::HEARD
    }

    /// The longest packet that TCP should send, which is told by whoever carries its first one.
    pub fn segment_mtu(&self) -> usize {
        if self.path.endpoint.is_some() { self.socket_mtu } else { self.mtu }
    }
}

/// The carrier of a WireGuard tunnel's datagrams; both, while it is not sure that the socket's arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Where the socket sends them.
    pub endpoint: Option<SocketAddr>,
    /// The application's stream.
    pub stream: bool,
    /// The socket: `OWN`, or the port of a further one.
    pub socket: u16,
}

impl Path {
    pub const STREAM: Path = Path { endpoint: None, stream: true, socket: OWN };
    /// A guest's: the socket sends to the address that the last authentic datagram came from.
    pub const HEARD: Path = Path { endpoint: None, stream: false, socket: OWN };
}

const NOBODY: u32 = u32::MAX;

#[derive(Default)]
pub struct Table {
    entries: Vec<Entry>,
    by_id: HashMap<u32, usize>,
    by_key: HashMap<Key, usize>,
    owners: Families,
    local: Families,
}

impl Table {
    /// `allowed`: for each entry its prefixes, the longest match wins; `local`: what this node receives for.
    pub fn new(entries: Vec<(Entry, Vec<Prefix>)>, local: &[Prefix]) -> Table {
        let owned = entries.iter().enumerate();
        let owned =
            owned.flat_map(|(at, (_, allowed))| allowed.iter().map(move |prefix| (*prefix, at as u32)));
        let owners = Families::new(owned);
        let by_id = entries.iter().enumerate().map(|(at, (entry, _))| (entry.peer.id, at)).collect();
        let by_key = entries.iter().enumerate();
        let by_key = by_key.filter_map(|(at, (entry, _))| match entry.peer.tunnel {
            Tunnel::WireGuard(key) => Some((key, at)),
            Tunnel::None | Tunnel::Legacy => None,
        });
        let by_key = by_key.collect();
        Table {
            by_key,
            entries: entries.into_iter().map(|(entry, _)| entry).collect(),
            by_id,
            owners,
            local: Families::new(local.iter().map(|prefix| (*prefix, 0))),
        }
    }

    #[inline]
    pub fn owner(&self, address: IpAddr) -> Option<&Entry> {
        self.entries.get(self.owners.owner(address) as usize)
    }

    #[inline]
    pub fn is_local(&self, address: IpAddr) -> bool {
        self.local.owner(address) != NOBODY
    }

    pub fn entry(&self, id: u32) -> Option<&Entry> {
        self.entries.get(*self.by_id.get(&id)?)
    }

    /// The entry of the peer that has this public key.
    pub fn with_key(&self, key: &Key) -> Option<&Entry> {
        self.entries.get(*self.by_key.get(key)?)
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

/// Who owns which addresses of IPv4, and of IPv6.
#[derive(Default)]
struct Families {
    v4: Ranges,
    v6: Ranges,
}

impl Families {
    fn new(prefixes: impl Iterator<Item = (Prefix, u32)>) -> Families {
        let (v4, v6): (Vec<_>, Vec<_>) = prefixes.partition(|(prefix, _)| prefix.address.is_ipv4());
        Families { v4: Ranges::new(v4), v6: Ranges::new(v6) }
    }

    #[inline]
    fn owner(&self, address: IpAddr) -> u32 {
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

/// The table in use. Threads look at the number alone, and take the lock only after a change.
#[derive(Default)]
pub struct Current {
    number: AtomicU64,
    table: parking_lot::Mutex<Arc<Table>>,
}

impl Current {
    pub fn get(&self) -> Arc<Table> {
        self.table.lock().clone()
    }

    pub fn set(&self, table: Table) {
        let before = std::mem::replace(&mut *self.table.lock(), Arc::new(table));
        self.number.fetch_add(1, Ordering::Release);
        // freed here, outside of the lock, unless a thread still has it
        drop(before);
    }
}

/// One thread's view of the table.
pub struct View {
    number: u64,
    table: Arc<Table>,
}

impl View {
    pub fn new(current: &Current) -> View {
        View { number: current.number.load(Ordering::Acquire), table: current.get() }
    }

    /// True: the table was changed since.
    #[inline]
    pub fn refresh(&mut self, current: &Current) -> bool {
        let number = current.number.load(Ordering::Acquire);
        if number == self.number {
            return false;
        }
        *self = View { number, table: current.get() };
        true
    }

    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random::Random;

    fn table(owners: &[&[&str]], local: &[&str]) -> Table {
        let prefixes =
            |texts: &[&str]| texts.iter().map(|text| Prefix::parse(text).unwrap()).collect::<Vec<_>>();
        let entries = owners.iter().enumerate().map(|(id, allowed)| {
            (
                Entry {
                    peer: Arc::new(Peer::new(id as u32, Tunnel::Legacy, Default::default())),
                    mtu: 1280,
                    socket_mtu: 1280,
                    path: Path::STREAM,
                },
                prefixes(allowed),
            )
        });
        Table::new(entries.collect(), &prefixes(local))
    }

    fn owner(table: &Table, address: &str) -> Option<u32> {
        table.owner(address.parse().unwrap()).map(|entry| entry.peer.id)
    }

    #[test]
    fn the_longest_prefix_owns_an_address() {
        let table =
            table(&[&["10.1.0.2/32", "fd00::2/128"], &["10.1.0.0/16"], &["0.0.0.0/0", "fd00::/8"]], &[]);
        assert_eq!(owner(&table, "10.1.0.2"), Some(0));
        assert_eq!(owner(&table, "10.1.0.3"), Some(1));
        assert_eq!(owner(&table, "10.1.0.1"), Some(1));
        assert_eq!(owner(&table, "255.255.255.255"), Some(2));
        assert_eq!(owner(&table, "fd00::2"), Some(0));
        assert_eq!(owner(&table, "fd00::3"), Some(2));
        assert_eq!(owner(&table, "fe80::1"), None);
    }

    #[test]
    fn knows_what_is_local() {
        let table = table(&[], &["10.1.0.1/32", "192.168.7.0/24", "fd00::1/128"]);
        for (address, expected) in
            [("10.1.0.1", true), ("10.1.0.2", false), ("192.168.7.9", true), ("fd00::1", true)]
        {
            assert_eq!(table.is_local(address.parse().unwrap()), expected, "{address}");
        }
    }

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

    #[test]
    fn a_view_sees_a_change_once() {
        let current = Current::default();
        let mut view = View::new(&current);
        assert!(!view.refresh(&current));
        current.set(table(&[&["10.1.0.2/32"]], &[]));
        assert!(view.refresh(&current));
        assert!(!view.refresh(&current));
        assert_eq!(owner(view.table(), "10.1.0.2"), Some(0));
    }
}
