//! What the engine keeps for one peer, for as long as the table names it with this way. Another way or key makes a
//! new one (`change`), which takes over the counters and the packets that wait.
use crate::carry::{Incoming, Outgoing, frames};
use crate::counters::Counters;
use crate::limits::*;
use crate::sessions::{Identity, Key, Tunnel};
use crate::waiting::Waiting;
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// How packets reach a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Not at all yet: they wait.
    Unknown,
    /// Sealed for this public key, in batches over a stream that the application has.
    Stream(Key),
    /// Unsealed, one by one: a member of an older network.
    Plain,
}

pub struct Peer {
    /// The application's number for it.
    pub id: u32,
    pub way: Way,
    pub counters: Arc<Counters>,
    pub outgoing: Outgoing,
    pub incoming: Arc<Incoming>,
    /// There is a tunnel whose timers have to be looked after, or something waits.
    pub live: AtomicBool,
    link: Mutex<Link>,
}

/// The tunnel and what waits for its first session, or for a way; one lock, never held over a system call.
#[derive(Default)]
pub struct Link {
    tunnel: Option<Box<Tunnel>>,
    preshared: Option<Key>,
    waiting: Waiting,
    /// When the application was told that a way is wanted.
    told: Option<Instant>,
    /// Another one has taken over: a thread that still has the old table may not add anything.
    retired: bool,
}

impl Peer {
    pub fn new(id: u32, way: Way, waiting: Waiting) -> Peer {
        Peer {
            id,
            way,
            counters: Arc::default(),
            outgoing: Outgoing::default(),
            incoming: Arc::default(),
            live: AtomicBool::new(false),
            link: Mutex::new(Link { waiting, ..Link::default() }),
        }
    }

    /// The same peer with another way. Frames that are cut off go on where both come over streams.
    pub fn successor(&self, way: Way) -> Peer {
        let streams = matches!((self.way, way), (Way::Stream(_), Way::Stream(_)));
        let incoming = if streams { self.incoming.clone() } else { Arc::default() };
        let waiting = self.link().waiting.sibling();
        Peer { counters: self.counters.clone(), incoming, ..Peer::new(self.id, way, waiting) }
    }

    pub fn link(&self) -> MutexGuard<'_, Link> {
        self.link.lock()
    }
}

impl Link {
    /// The tunnel, made when it is first asked for. None: the peer has no key, or this is not its link any more.
    #[inline]
    pub fn tunnel(&mut self, peer: &Peer, identity: &Identity) -> Option<&mut Tunnel> {
        if self.tunnel.is_none() {
            let Way::Stream(public) = peer.way else { return None };
            if self.retired {
                return None;
            }
            self.tunnel = Some(Box::new(Tunnel::new(identity, public, self.preshared)));
        }
        self.tunnel.as_deref_mut()
    }

    pub fn existing(&mut self) -> Option<&mut Tunnel> {
        self.tunnel.as_deref_mut()
    }

    /// The secret both ends have besides: for the next handshake.
    pub fn set_preshared_key(&mut self, preshared: Option<Key>) {
        self.preshared = preshared;
        if let Some(tunnel) = &mut self.tunnel {
            tunnel.set_preshared_key(preshared);
        }
    }

    /// Keeps a packet until there is a session. False: too many wait.
    pub fn wait(&mut self, packet: &[u8]) -> bool {
        !self.retired && self.waiting.push(packet)
    }

    pub fn is_waiting(&self) -> bool {
        !self.waiting.frames().is_empty()
    }

    pub fn is_overdue(&self, now: Instant) -> bool {
        self.waiting.is_overdue(now)
    }

    /// The application has to be told that a way is wanted: at first, and then not too often.
    pub fn wants(&mut self, now: Instant) -> bool {
        let wants = self.told.is_none_or(|told| now.saturating_duration_since(told) >= WANTED_AGAIN);
        if wants {
            self.told = Some(now);
        }
        wants && !self.retired
    }

    /// Seals what waited, if there is a session by now; how many packets and bytes that were.
    pub fn release(&mut self, mtu: usize, batch: &mut Vec<u8>) -> (u64, u64) {
        let Some(tunnel) = &mut self.tunnel else { return (0, 0) };
        let (mut packets, mut bytes) = (0, 0);
        for packet in frames(self.waiting.frames()) {
            if !tunnel.seal(packet, mtu, batch) {
                return (packets, bytes);
            }
            (packets, bytes) = (packets + 1, bytes + packet.len() as u64);
        }
        self.waiting.take();
        (packets, bytes)
    }

    /// Forgets what waited; how many packets that were.
    pub fn give_up(&mut self) -> usize {
        frames(&self.waiting.take()).count()
    }

    /// Ends it, for another one to take over what waited.
    pub fn retire(&mut self) -> Vec<u8> {
        (self.retired, self.tunnel) = (true, None);
        self.waiting.take()
    }
}
