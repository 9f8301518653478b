//! What the engine's threads share: the kernel's table as it was told, and the ways into streams.
use super::FIRST_PEER;
use super::link::Link;
use super::probes::Probes;
use super::relay::RelayPeer;
use super::wireguard::{Change, PeerState, WireguardDevice};
use crate::counters::Counters;
use crate::datagrams::Datagrams;
use crate::events::{Event, Events};
use crate::interface::Routes;
use crate::limits::PATH_NEEDED_AGAIN;
use crate::link_watch::LinkWatch;
use crate::peer::Tunnel;
use crate::peer_config::PeerConfig;
use crate::poll::Poll;
use crate::sessions::Key;
use crate::table::Prefix;
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::time::Instant;
use zeroize::Zeroizing;

pub struct Shared {
    pub name: String,
    pub port: u16,
    pub probes: Option<Probes>,
    pub links: Option<LinkWatch>,
    pub events: Events,
    pub datagrams: Datagrams,
    pub counters: Counters,
    pub tables: Mutex<Tables>,
    /// Those with a tunnel, by their numbers.
    pub relays: Mutex<HashMap<u32, Arc<RelayPeer>>>,
    pub work: Mutex<VecDeque<Arc<RelayPeer>>>,
    pub poll: Poll,
    pub stop: AtomicBool,
}

/// What the kernel was told, and what it said last.
pub struct Tables {
    pub link: Link,
    pub device: WireguardDevice,
    pub routes: Routes,
    pub known: HashMap<u32, Known>,
    /// Peers without a tunnel: the kernel does not say whether packets wait for them, so each is looked for.
    pub wanted: Vec<u32>,
    pub wanted_at: Instant,
    /// A change was refused: the next one begins anew.
    pub is_unsure: bool,
}

pub struct Known {
    pub key: Key,
    pub preshared: Option<Zeroizing<Key>>,
    pub allowed: Vec<Prefix>,
    pub endpoint: Option<SocketAddr>,
    pub state: PeerState,
    /// The sum of bytes when somebody asked last whether any passed.
    pub seen: u64,
}

impl Shared {
    pub fn relay(&self, peer: u32) -> Option<Arc<RelayPeer>> {
        self.relays.lock().get(&peer).cloned()
    }

    pub fn set_table(&self, peers: Vec<PeerConfig>) -> io::Result<()> {
        let mut tables = self.tables.lock();
        if tables.is_unsure {
            tables.device.remove_all()?;
            tables.known.clear();
            tables.is_unsure = false;
        }
        let (removed, changed) = self.changes(&mut tables, peers)?;
        let result = tables.device.apply(removed).and_then(|()| tables.device.apply(changed));
        if result.is_err() {
            tables.is_unsure = true;
        }
        for peer in &tables.wanted {
            self.events.note(Event::PathNeeded, *peer);
        }
        tables.wanted_at = Instant::now();
        self.events.wake();
        result
    }

    /// What is to be told to the kernel, so that it has this table: first who leaves, then who comes or changes.
    fn changes(&self, tables: &mut Tables, peers: Vec<PeerConfig>) -> io::Result<(Vec<Change>, Vec<Change>)> {
        let Tables { known, wanted, .. } = tables;
        let (mut kept, mut changed) = (HashMap::new(), Vec::new());
        wanted.clear();
        for config in peers {
            let Tunnel::WireGuard(public) = config.tunnel else {
                if config.tunnel == Tunnel::None {
                    wanted.push(config.id);
                }
                continue;
            };
            let before = known.remove(&config.id).filter(|before| {
                let stays = before.key == public;
                if !stays {
                    changed.push(Change::Remove(before.key));
                }
                stays
            });
            let endpoint = self.endpoint_of(&config)?;
            let is_same = before.as_ref().is_some_and(|before| {
                before.preshared == config.preshared
                    && before.endpoint == endpoint
                    && before.allowed == config.allowed
            });
            if !is_same {
                let ranges_changed = before.as_ref().is_none_or(|before| before.allowed != config.allowed);
                changed.push(Change::Set {
                    key: public,
                    preshared: config.preshared.as_deref().copied(),
                    allowed: ranges_changed.then(|| config.allowed.clone()),
                    endpoint,
                });
            }
            let (state, seen) = before.map_or_else(Default::default, |before| (before.state, before.seen));
            let PeerConfig { id, preshared, allowed, .. } = config;
            kept.insert(id, Known { key: public, preshared, allowed, endpoint, state, seen });
        }
        let removed = known.drain().map(|(_, gone)| Change::Remove(gone.key)).collect();
        *known = kept;
        self.relays.lock().retain(|id, _| known.contains_key(id));
        Ok((removed, changed))
    }

    /// Where the kernel is to send: over UDP where a path takes the longest packet, else to the relay. It has one place
    /// for each peer, so packets never go both ways.
    fn endpoint_of(&self, config: &PeerConfig) -> io::Result<Option<SocketAddr>> {
        let relay = self.relay_for(config.id)?;
        let over_udp = config.path.endpoint.filter(|_| config.socket_mtu >= config.mtu);
        Ok(Some(over_udp.unwrap_or_else(|| relay.address())))
    }

    fn relay_for(&self, id: u32) -> io::Result<Arc<RelayPeer>> {
        let mut relays = self.relays.lock();
        if let Some(relay) = relays.get(&id) {
            return Ok(relay.clone());
        }
        let relay = Arc::new(RelayPeer::open(id, self.port)?);
        self.poll.add(relay.fd(), FIRST_PEER + u64::from(id))?;
        relays.insert(id, relay.clone());
        Ok(relay)
    }

    /// Asks the kernel what its peers do, tells of new sessions, and sets right where it sends: a datagram that came
    /// another way has led it there.
    pub fn look(&self) {
        let mut tables = self.tables.lock();
        let state = match tables.device.read() {
            Ok(state) => state,
            Err(error) => return self.read_failed(error),
        };
        let by_key: HashMap<Key, PeerState> = state.peers.into_iter().collect();
        let mut moved = Vec::new();
        for (id, known) in &mut tables.known {
            let Some(now) = by_key.get(&known.key) else { continue };
            if now.handshake != known.state.handshake && now.handshake != (0, 0) {
                self.events.note(Event::Session, *id);
                if let Some(relay) = self.relay(*id) {
                    relay.answered();
                }
            }
            if known.endpoint.is_some() && now.endpoint != known.endpoint {
                moved.push(Change::Set {
                    key: known.key,
                    preshared: None,
                    allowed: None,
                    endpoint: known.endpoint,
                });
            }
            known.state = *now;
        }
        if tables.device.apply(moved).is_err() {
            tables.is_unsure = true;
        }
        if tables.wanted_at.elapsed() >= PATH_NEEDED_AGAIN {
            tables.wanted_at = Instant::now();
            for peer in &tables.wanted {
                self.events.note(Event::PathNeeded, *peer);
            }
        }
        drop(tables);
        for (id, relay) in self.relays.lock().iter() {
            if relay.is_silent() {
                self.events.note(Event::Silent, *id);
            }
        }
        self.events.wake();
    }

    fn read_failed(&self, error: io::Error) {
        if !self.stop.load(Relaxed) {
            self.events.fail(format!("the kernel's WireGuard interface {} is gone: {error}", self.name));
        }
    }
}
