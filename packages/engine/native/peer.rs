//! What the engine keeps for one peer, for as long as the table names it with this key.
use crate::carry::{Incoming, Outgoing, frames, push_frame};
use crate::counters::Counters;
use crate::limits::*;
use crate::sessions::{Identity, Key, Tunnel};
use parking_lot::{Mutex, MutexGuard};
use std::sync::atomic::AtomicBool;

pub struct Peer {
    /// The application's number for it.
    pub id: u32,
    pub keys: Option<Keys>,
    pub counters: Counters,
    pub outgoing: Outgoing,
    pub incoming: Incoming,
    /// There is a tunnel whose timers have to be looked after.
    pub live: AtomicBool,
    link: Mutex<Link>,
}

/// A WireGuard peer's public key, and the secret both ends have besides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Keys {
    pub public: Key,
    pub preshared: Option<Key>,
}

/// The tunnel and what waits for its first session; one lock, never held over a system call.
#[derive(Default)]
pub struct Link {
    tunnel: Option<Box<Tunnel>>,
    waiting: Vec<u8>,
}

impl Peer {
    pub fn new(id: u32, keys: Option<Keys>) -> Peer {
        Peer {
            id,
            keys,
            counters: Counters::default(),
            outgoing: Outgoing::default(),
            incoming: Incoming::default(),
            live: AtomicBool::new(false),
            link: Mutex::default(),
        }
    }

    pub fn link(&self) -> MutexGuard<'_, Link> {
        self.link.lock()
    }
}

impl Link {
    /// The tunnel, made when it is first asked for. None: the peer has no keys.
    #[inline]
    pub fn tunnel(&mut self, peer: &Peer, identity: &Identity) -> Option<&mut Tunnel> {
        if self.tunnel.is_none() {
            let keys = peer.keys?;
            self.tunnel = Some(Box::new(Tunnel::new(identity, keys.public, keys.preshared)));
        }
        self.tunnel.as_deref_mut()
    }

    pub fn existing(&mut self) -> Option<&mut Tunnel> {
        self.tunnel.as_deref_mut()
    }

    /// Keeps a packet until there is a session. False: too many wait.
    pub fn wait(&mut self, packet: &[u8]) -> bool {
        if self.waiting.len() + FRAME_PREFIX_BYTES + packet.len() > MAX_WAITING_BYTES {
            return false;
        }
        push_frame(&mut self.waiting, packet);
        true
    }

    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Seals what waited, if there is a session by now; how many packets and bytes that were.
    pub fn release(&mut self, mtu: usize, batch: &mut Vec<u8>) -> (u64, u64) {
        let Some(tunnel) = &mut self.tunnel else { return (0, 0) };
        let (mut packets, mut bytes) = (0, 0);
        for packet in frames(&self.waiting) {
            if !tunnel.seal(packet, mtu, batch) {
                return (packets, bytes);
            }
            (packets, bytes) = (packets + 1, bytes + packet.len() as u64);
        }
        self.waiting = Vec::new();
        (packets, bytes)
    }

    /// Forgets what waited; how many packets that were.
    pub fn give_up(&mut self) -> usize {
        frames(&std::mem::take(&mut self.waiting)).count()
    }

    /// Takes over the sessions of `other`, whose peer has the same key.
    pub fn inherit(&mut self, other: &mut Link, preshared: Option<Key>) {
        *self = std::mem::take(other);
        if let Some(tunnel) = &mut self.tunnel {
            tunnel.set_preshared_key(preshared);
        }
    }
}
