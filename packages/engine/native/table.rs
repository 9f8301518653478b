//! Which peer owns an address: one immutable value, made from the whole and swapped in as a whole.
use crate::filter::{self, Rules};
use crate::peer::{Peer, Tunnel};
pub use crate::ranges::Prefix;
use crate::ranges::{Families, NOBODY};
use crate::sessions::Key;
use crate::sockets::OWN;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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

#[derive(Default)]
pub struct Table {
    entries: Vec<Entry>,
    by_id: HashMap<u32, usize>,
    by_key: HashMap<Key, usize>,
    owners: Families,
    /// `OWN_ADDRESS` or `ROUTED`.
    local: Families,
    rules: Option<Arc<Rules>>,
    generation: u32,
}

/// Of what is local: an address of this node's, and a network that it routes for others.
const OWN_ADDRESS: u32 = 0;
const ROUTED: u32 = 1;

fn kind_of(prefix: &Prefix) -> u32 {
    if prefix.is_address() { OWN_ADDRESS } else { ROUTED }
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
            local: Families::new(local.iter().map(|prefix| (*prefix, kind_of(prefix)))),
            rules: None,
            generation: 0,
        }
    }

    /// The same with the rules by which flows may begin. Each change of rules has another number.
    pub fn with_rules(self, rules: Option<Arc<Rules>>, generation: u32) -> Table {
        Table { rules, generation, ..self }
    }

    /// How the filter sees a packet that comes from the peer, or goes to it.
    pub fn filter_view<'a>(
        &'a self,
        peer: u32,
        inbound: bool,
        owner: &'a dyn Fn(IpAddr) -> Option<u32>,
    ) -> filter::View<'a> {
        filter::View { rules: self.rules.as_deref(), generation: self.generation, owner, peer, inbound }
    }

    pub fn rules(&self) -> Option<&Arc<Rules>> {
        self.rules.as_ref()
    }

    pub fn generation(&self) -> u32 {
        self.generation
    }

    #[inline]
    pub fn owner(&self, address: IpAddr) -> Option<&Entry> {
        self.entries.get(self.owners.owner(address) as usize)
    }

    #[inline]
    pub fn is_local(&self, address: IpAddr) -> bool {
        self.local.owner(address) != NOBODY
    }

    /// True for an address of this node's own; false for those that it routes.
    #[inline]
    pub fn is_own(&self, address: IpAddr) -> bool {
        self.local.owner(address) == OWN_ADDRESS
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
