//! The state that the engine keeps for one peer, for as long as the table names it with this tunnel. Another tunnel or
//! key makes a new one (`change`), which takes over the counters and the packets that wait.
use crate::counters::Counters;
use crate::limits::*;
use crate::queues::{Incoming, Outgoing, frames};
use crate::sessions::{Identity, Key, Sessions};
use crate::waiting::Waiting;
use parking_lot::{Mutex, MutexGuard};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;
use zeroize::Zeroizing;

/// How packets reach a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tunnel {
    /// There is no path yet: packets wait.
    None,
    /// Sealed for this public key, in batches over a stream that the application has.
    WireGuard(Key),
    /// Unsealed, one by one: a legacy member.
    Legacy,
}

pub struct Peer {
    /// The application's number for it.
    pub id: u32,
    pub tunnel: Tunnel,
    pub counters: Arc<Counters>,
    pub outgoing: Outgoing,
    pub incoming: Arc<Incoming>,
    /// There are sessions whose timers have to be looked after, or something waits.
    pub live: AtomicBool,
    /// How many packets had passed when somebody asked last whether any do.
    pub seen: AtomicU64,
    state: Mutex<TunnelState>,
    /// Of a guest: the address that its last authentic datagram came from.
    heard: Mutex<Option<SocketAddr>>,
}

/// The sessions, and what waits for the first one or for a path; one lock, never held over a system call.
#[derive(Default)]
pub struct TunnelState {
    sessions: Option<Box<Sessions>>,
    preshared: Option<Zeroizing<Key>>,
    waiting: Waiting,
    /// When the application was told that a path is needed.
    told: Option<Instant>,
    /// Another one has taken over: a thread that still has the old table may not add anything.
    retired: bool,
}

impl Peer {
    pub fn new(id: u32, tunnel: Tunnel, waiting: Waiting) -> Peer {
        Peer {
            id,
            tunnel,
            counters: Arc::default(),
            outgoing: Outgoing::default(),
            incoming: Arc::default(),
            live: AtomicBool::new(false),
            seen: AtomicU64::new(0),
            state: Mutex::new(TunnelState { waiting, ..TunnelState::default() }),
            heard: Mutex::default(),
        }
    }

    #[inline]
    pub fn heard(&self) -> Option<SocketAddr> {
        *self.heard.lock()
    }

    /// Must be called only for what proved to be the peer's: packets for it go there from now on.
    #[inline]
    pub fn hear(&self, from: SocketAddr) {
        *self.heard.lock() = Some(from);
    }

    /// The same peer with another tunnel. Frames that are cut off go on where both tunnels are WireGuard's.
    pub fn successor(&self, tunnel: Tunnel) -> Peer {
        let streams = matches!((self.tunnel, tunnel), (Tunnel::WireGuard(_), Tunnel::WireGuard(_)));
        let incoming = if streams { self.incoming.clone() } else { Arc::default() };
        let waiting = self.state().waiting.sibling();
        Peer { counters: self.counters.clone(), incoming, ..Peer::new(self.id, tunnel, waiting) }
    }

    pub fn state(&self) -> MutexGuard<'_, TunnelState> {
        self.state.lock()
    }
}

impl TunnelState {
    /// The sessions, made when it is first asked for. None: the peer has no key, or this is not its state any more.
    #[inline]
    pub fn sessions(&mut self, peer: &Peer, identity: &Identity) -> Option<&mut Sessions> {
        if self.sessions.is_none() {
            let Tunnel::WireGuard(public) = peer.tunnel else { return None };
            if self.retired {
                return None;
            }
            self.sessions =
                Some(Box::new(Sessions::new(identity, peer.id, public, self.preshared.as_deref().copied())));
        }
        self.sessions.as_deref_mut()
    }

    pub fn existing(&mut self) -> Option<&mut Sessions> {
        self.sessions.as_deref_mut()
    }

    /// The secret both ends have besides: for the next handshake.
    pub fn set_preshared_key(&mut self, preshared: Option<Key>) {
        self.preshared = preshared.map(Zeroizing::new);
        if let Some(sessions) = &mut self.sessions {
            sessions.set_preshared_key(preshared);
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

    /// True when the application has to be told that a path is needed: at first, and then not too often.
    pub fn asks_for_path(&mut self, now: Instant) -> bool {
        let asks = self.told.is_none_or(|told| now.saturating_duration_since(told) >= PATH_NEEDED_AGAIN);
        if asks {
            self.told = Some(now);
        }
        asks && !self.retired
    }

    /// Seals what waited, if there is a session by now; how many packets and bytes that were.
    pub fn release(&mut self, mtu: usize, batch: &mut Vec<u8>) -> (u64, u64) {
        let Some(sessions) = &mut self.sessions else { return (0, 0) };
        let (mut packets, mut bytes) = (0, 0);
        for packet in frames(self.waiting.frames()) {
            if !sessions.seal(packet, mtu, batch) {
                return (packets, bytes);
            }
            (packets, bytes) = (packets + 1, bytes + packet.len() as u64);
        }
        self.waiting.take();
        (packets, bytes)
    }

    /// Forgets what waited; gives the number of packets.
    pub fn give_up(&mut self) -> usize {
        frames(&self.waiting.take()).count()
    }

    /// Ends it, for another one to take over what waited.
    pub fn retire(&mut self) -> Vec<u8> {
        (self.retired, self.sessions) = (true, None);
        self.waiting.take()
    }
}
