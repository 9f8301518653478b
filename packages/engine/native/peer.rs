//! The state that the engine keeps for one peer, for as long as the table names it with this tunnel. Another tunnel or
//! key makes a new one (`change`), which takes over the counters and the packets that wait.
use crate::counters::Counters;
use crate::limits::*;
use crate::queues::{Incoming, Outgoing, frames};
use crate::sessions::{Identity, Initiation, Key, Sessions, Tick};
use crate::waiting::Waiting;
use parking_lot::{Mutex, MutexGuard};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
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
    /// The number of the device's queue that what came from it by a socket was written to last.
    pub queue: AtomicUsize,
    state: Mutex<TunnelState>,
    /// Of a guest: the address that its last authentic datagram came from.
    heard: Mutex<Option<SocketAddr>>,
}

/// The sessions, and what waits for the first one or for a path; one lock, never held over a system call.
#[derive(Default)]
pub struct TunnelState {
    sessions: Option<Box<Sessions>>,
    /// The peer's last initiation, while there are no sessions.
    last_initiation: Option<Box<Initiation>>,
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
            queue: AtomicUsize::new(0),
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
            let sessions = Sessions::new(identity, peer.id, public, self.preshared.as_deref().copied());
            self.sessions = Some(Box::new(sessions.refusing(self.last_initiation.take())));
        }
        self.sessions.as_deref_mut()
    }

    pub fn existing(&mut self) -> Option<&mut Sessions> {
        self.sessions.as_deref_mut()
    }

    /// Does what is due in the sessions. True: they expired, and their keys are overwritten; the next packet makes others.
    pub fn tick(&mut self, now: Instant, batch: &mut Vec<u8>) -> bool {
        let Some(sessions) = &mut self.sessions else { return false };
        if sessions.tick(now, batch) == Tick::Fine {
            return false;
        }
        self.last_initiation = sessions.take_last_initiation();
        self.sessions = None;
        true
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Reason;
    use crate::testing::packets::{Spec, build};
    use std::time::Duration;

    /// A peer's state here, and its own sessions with this end.
    fn ends() -> (Identity, Peer, Sessions) {
        let (here, there) = (Identity::new([1; 32]), Identity::new([2; 32]));
        let tunnel = Tunnel::WireGuard(there.public_key());
        let theirs = Sessions::new(&there, 1, here.public_key(), None);
        (here, Peer::new(2, tunnel, Waiting::default()), theirs)
    }

    /// The peer begins a handshake: its initiation, after this end has answered.
    fn shake_hands(here: &Identity, peer: &Peer, theirs: &mut Sessions) -> Vec<u8> {
        let (mut initiation, mut answer, mut confirmation) = (Vec::new(), Vec::new(), Vec::new());
        theirs.initiate(true, &mut initiation);
        let message = frames(&initiation).next().unwrap().to_vec();
        let mut state = peer.state();
        state.sessions(peer, here).unwrap().handshake(&message, &mut answer).unwrap();
        theirs.handshake(frames(&answer).next().unwrap(), &mut confirmation).unwrap();
        let sealed = frames(&confirmation).next().unwrap();
        assert_eq!(state.existing().unwrap().open(sealed, &mut [0; 100]), Ok(0));
        message
    }

    #[test]
    fn keys_go_nine_minutes_after_the_last_handshake_though_the_peer_stays() {
        let (here, peer, mut theirs) = ends();
        let recorded = [shake_hands(&here, &peer, &mut theirs), shake_hands(&here, &peer, &mut theirs)];
        let (now, mut batch) = (Instant::now(), Vec::new());
        let sealed = {
            assert!(theirs.seal(&build(&Spec::default()), 1280, &mut batch));
            frames(&batch).next().unwrap().to_vec()
        };
        assert!(!peer.state().tick(now + KEYS_KEPT - Duration::from_secs(1), &mut batch));
        assert!(peer.state().existing().is_some());
        assert!(peer.state().tick(now + KEYS_KEPT, &mut batch));
        assert!(peer.state().existing().is_none());
        let mut state = peer.state();
        let sessions = state.sessions(&peer, &here).unwrap();
        assert_eq!(sessions.open(&sealed, &mut [0; 2000]), Err(Reason::UnknownSession));
        for message in recorded {
            assert_eq!(sessions.handshake(&message, &mut Vec::new()), Err(Reason::HandshakeRefused));
        }
    }

    #[test]
    fn after_that_a_new_handshake_begins_and_recorded_ones_stay_refused_for_good() {
        let (here, peer, mut theirs) = ends();
        let mut recorded = Vec::new();
        for round in 0..3 {
            recorded.push(shake_hands(&here, &peer, &mut theirs));
            let mut batch = Vec::new();
            assert!(peer.state().sessions(&peer, &here).unwrap().seal(&[0x45; 60], 1280, &mut batch));
            let sealed = frames(&batch).next().unwrap();
            assert!(theirs.open(sealed, &mut [0; 100]).is_ok(), "round {round}");
            // twice: between two expiries the peer need not have been heard
            for _ in 0..2 {
                assert!(peer.state().sessions(&peer, &here).is_some());
                assert!(peer.state().tick(Instant::now() + KEYS_KEPT, &mut Vec::new()));
            }
            let mut state = peer.state();
            let sessions = state.sessions(&peer, &here).unwrap();
            for message in &recorded {
                assert_eq!(sessions.handshake(message, &mut Vec::new()), Err(Reason::HandshakeRefused));
            }
        }
    }

    #[test]
    fn a_handshake_that_is_under_way_is_not_forgotten() {
        let (here, peer, _theirs) = ends();
        let mut batch = Vec::new();
        peer.state().sessions(&peer, &here).unwrap().initiate(false, &mut batch);
        assert!(!peer.state().tick(Instant::now() + KEYS_KEPT, &mut batch));
    }
}
