//! WireGuard: its handshake, sessions, replay window and timers are gotatun's; here they meet our buffers, and its
//! errors our reasons.
use crate::counters::Reason;
use crate::limits::*;
use crate::queues::push_frame;
use crate::receivers::{OwnIndexes, Receivers};
use crate::wiped::Wiped;
use bytes::BytesMut;
use gotatun::noise::errors::WireGuardError;
use gotatun::noise::handshake::parse_handshake_anon;
use gotatun::noise::index_table::IndexTable;
use gotatun::noise::rate_limiter::RateLimiter;
use gotatun::noise::{Tunn, TunnResult};
use gotatun::packet::{Packet, WgKind};
use gotatun::tun::MtuWatcher;
use gotatun::x25519::{PublicKey, StaticSecret};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

pub type Key = [u8; 32];

/// A handshake's first message.
pub type Initiation = [u8; INITIATION_BYTES];

/// The kind of a datagram of WireGuard, by its type and length alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    Handshake,
    Sealed,
}

#[inline]
pub fn message_of(datagram: &[u8]) -> Option<Message> {
    match (datagram.first_chunk::<4>()?, datagram.len()) {
        ([1, 0, 0, 0], 148) | ([2, 0, 0, 0], 92) | ([3, 0, 0, 0], 64) => Some(Message::Handshake),
        ([4, 0, 0, 0], SEAL_BYTES..) => Some(Message::Sealed),
        _ => None,
    }
}

/// This node's key, and what all its sessions share.
pub struct Identity {
    secret: StaticSecret,
    public: PublicKey,
    limiter: Arc<RateLimiter>,
    /// Asks everybody for a proof of its address.
    cookies: RateLimiter,
    indexes: IndexTable,
    pub receivers: Receivers,
}

impl Identity {
    pub fn new(private_key: Key) -> Identity {
        let secret = StaticSecret::from(private_key);
        let public = PublicKey::from(&secret);
        // Streams come from proven members, and `Allowance` limits each one. They need no cookies, which prove
        // an address.
        let limiter = Arc::new(RateLimiter::new(&public, u64::MAX));
        let (cookies, indexes) = (RateLimiter::new(&public, 0), IndexTable::from_os_rng());
        Identity { limiter, cookies, indexes, receivers: Receivers::default(), secret, public }
    }

    /// True when a handshake message was made for this node's key; what costs more comes after.
    pub fn is_for_us(&self, message: &[u8]) -> bool {
        self.limiter.verify_packet(nowhere(), copy_of(message)).is_ok()
    }

    /// Under load: whether the sender has proven its address. If not, the cookie for it, to be sent there.
    pub fn cookie(&self, from: SocketAddr, message: &[u8]) -> Result<(), Option<Vec<u8>>> {
        self.cookies.try_reset_count();
        match self.cookies.verify_packet(from, copy_of(message)) {
            Ok(_) => Ok(()),
            Err(TunnResult::WriteToNetwork(cookie)) => Err(Some(Packet::from(cookie).to_vec())),
            Err(_) => Err(None),
        }
    }

    /// The key that an initiation says its sender has; it is not proven yet.
    pub fn initiator(&self, message: &[u8]) -> Option<Key> {
        let Ok(WgKind::HandshakeInit(message)) = copy_of(message).try_into_wg() else { return None };
        let half = parse_handshake_anon(&self.secret, &self.public, &message).ok()?;
        Some(half.peer_static_public)
    }

    pub fn public_key(&self) -> Key {
        *self.public.as_bytes()
    }
}

/// The address that stands for the sender's where that does not matter.
fn nowhere() -> SocketAddr {
    (Ipv4Addr::UNSPECIFIED, 0).into()
}

fn copy_of(message: &[u8]) -> Packet {
    Packet::from_bytes(BytesMut::from(message))
}

/// How a handshake message changed things.
#[derive(Debug, PartialEq, Eq)]
pub enum Handshake {
    /// Both ends have the session's keys now, or this end has and the answer is on its way.
    Established,
    /// Nothing to do yet.
    Taken,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Tick {
    Fine,
    /// No answer for 90 seconds, or no handshake for nine minutes: these sessions have to go, with their keys.
    Expired,
}

/// All sessions with one peer. Frames are appended to the caller's batch.
pub struct Sessions {
    /// Its sessions' keys are no types that would wipe themselves.
    tunn: Wiped<Tunn>,
    limiter: Arc<RateLimiter>,
    indexes: OwnIndexes,
    /// One piece of memory, used in turn by the packets that pass through gotatun.
    pool: BytesMut,
    allowance: Allowance,
    /// When this end began or repeated a handshake.
    initiated: Option<Instant>,
    /// That has no answer yet.
    unanswered: bool,
    /// This end answered a handshake, and nothing came since.
    unconfirmed: bool,
    /// It has to be repeated, but not yet.
    again: bool,
    /// When the last handshake ended well; before the first, when this was made.
    keyed: Instant,
    /// The last initiation of the peer that was taken; none: there was none, or it is refused already.
    last_initiation: Option<Box<Initiation>>,
}

impl Sessions {
    /// Costs two multiplications on the curve, so it is made at the first packet.
    /// `peer` is the application's number for it.
    pub fn new(identity: &Identity, peer: u32, key: Key, preshared: Option<Key>) -> Sessions {
        let (indexes, limiter) = (identity.indexes.clone(), identity.limiter.clone());
        let secret = identity.secret.clone();
        let tunn = Tunn::new(secret, PublicKey::from(key), preshared, None, indexes, limiter.clone());
        Sessions {
            tunn: Wiped::new(tunn),
            limiter,
            indexes: identity.receivers.of(peer),
            pool: BytesMut::new(),
            allowance: Allowance::new(Instant::now()),
            initiated: None,
            unanswered: false,
            unconfirmed: false,
            again: false,
            keyed: Instant::now(),
            last_initiation: None,
        }
    }

    /// The same, that refuses this initiation of the peer and all older ones, as those that took it would: somebody may
    /// have recorded them.
    pub fn refusing(mut self, last: Option<Box<Initiation>>) -> Sessions {
        if let Some(Ok(initiation)) = last.as_ref().map(|last| copy_of(&last[..]).try_into_wg()) {
            // takes the time that it names for the latest; the session that it begins is not the peer's, and ends at once
            let _ = self.tunn.handle_incoming_packet(initiation);
            self.tunn.reset();
        }
        self.last_initiation = last;
        self
    }

    /// The last initiation of the peer that was taken: for those that come after these. They are not moved for it, as what
    /// is moved leaves a copy of its keys behind.
    pub fn take_last_initiation(&mut self) -> Option<Box<Initiation>> {
        self.last_initiation.take()
    }

    /// Sets it for the next handshake; sessions go on.
    pub fn set_preshared_key(&mut self, preshared: Option<Key>) {
        self.tunn.set_preshared_key(preshared);
    }

    /// Seals a packet into a frame. False: no session.
    #[inline]
    pub fn seal(&mut self, packet: &[u8], mtu: usize, batch: &mut Vec<u8>) -> bool {
        self.seal_with(packet, mtu, |sealed| push_frame(batch, sealed))
    }

    /// Seals a packet, filled up with zeros to 16 bytes where `mtu` allows, and gives it to `each`. False: no session.
    #[inline]
    pub fn seal_with(&mut self, packet: &[u8], mtu: usize, each: impl FnOnce(&[u8])) -> bool {
        let padded = packet.len().next_multiple_of(16).min(mtu).max(packet.len());
        self.pool.reserve(padded);
        self.pool.extend_from_slice(packet);
        self.pool.resize(padded, 0);
        match self.tunn.encapsulate_with_session(Packet::from_bytes(self.pool.split())) {
            Ok(sealed) => {
                each(&sealed.into_bytes());
                true
            }
            Err(_) => false,
        }
    }

    /// Opens a sealed packet into `out`, which is at least as long. 0: a keepalive.
    #[inline]
    pub fn open(&mut self, datagram: &[u8], out: &mut [u8]) -> Result<usize, Reason> {
        let Ok(WgKind::Data(message)) = self.packet(datagram).try_into_wg() else {
            return Err(Reason::NotSealed);
        };
        let packet = match self.tunn.handle_incoming_packet(WgKind::Data(message)) {
            TunnResult::WriteToTunnel(packet) => packet,
            TunnResult::Err(error) => return Err(reason_of(error)),
            TunnResult::Done | TunnResult::WriteToNetwork(_) => return Err(Reason::NotSealed),
        };
        let out = out.get_mut(..packet.len()).ok_or(Reason::Malformed)?;
        out.copy_from_slice(&packet);
        self.unconfirmed = false;
        Ok(packet.len())
    }

    /// True when one more handshake message may come by the peer's own streams. Those from the socket may be anybody's.
    pub fn may_handshake(&mut self) -> bool {
        self.allowance.take(Instant::now())
    }

    /// Takes a handshake message; the answer is appended to `batch`.
    pub fn handshake(&mut self, datagram: &[u8], batch: &mut Vec<u8>) -> Result<Handshake, Reason> {
        let packet = self.packet(datagram);
        let message = self.limiter.verify_packet(nowhere(), packet).map_err(|_| Reason::HandshakeRefused)?;
        let answers = matches!(message, WgKind::HandshakeInit(_));
        match self.tunn.handle_incoming_packet(message) {
            TunnResult::WriteToNetwork(reply) => {
                self.push(&Packet::from(reply), batch);
                // gotatun keeps packets of its own only for keepalives without a session
                self.tunn.get_queued_packets(&mut MtuWatcher::new(u16::MAX)).for_each(drop);
                (self.unanswered, self.unconfirmed, self.keyed) = (false, answers, Instant::now());
                if answers {
                    self.last_initiation =
                        datagram.try_into().ok().map(|message: &Initiation| Box::new(*message));
                }
                Ok(Handshake::Established)
            }
            TunnResult::Done => Ok(Handshake::Taken),
            TunnResult::Err(_) | TunnResult::WriteToTunnel(_) => Err(Reason::HandshakeRefused),
        }
    }

    /// Starts a handshake. With one under way, only when it has to be sent `again`.
    pub fn initiate(&mut self, again: bool, batch: &mut Vec<u8>) {
        if let Some(message) = self.tunn.format_handshake_initiation(again) {
            self.push(&message.into_bytes(), batch);
            self.began();
        }
    }

    /// A stream was lost, and a handshake perhaps with it: one that is under way, or that was answered without a
    /// sign of life since, begins anew. Right after the last one `tick` does that.
    pub fn retry_handshake(&mut self, batch: &mut Vec<u8>) {
        if !self.unanswered && !self.unconfirmed {
            return;
        }
        self.again = self.initiated.is_some_and(|at| at.elapsed() < HANDSHAKE_RETRY_APART);
        if !self.again {
            self.initiate(true, batch);
        }
    }

    /// Repeats a handshake that has no answer for a while: on a path that loses datagrams, and takes less time for them.
    pub fn repeat_handshake(&mut self, now: Instant, batch: &mut Vec<u8>) {
        let is_late = |at: Instant| now.saturating_duration_since(at) >= HANDSHAKE_REPEAT;
        if self.unanswered && self.initiated.is_some_and(is_late) {
            self.initiate(true, batch);
        }
    }

    /// The peer uses a session that this end does not have: it would learn so only after 15 seconds.
    pub fn rehandshake(&mut self, batch: &mut Vec<u8>) {
        if self.initiated.is_none_or(|at| at.elapsed() >= REHANDSHAKE_APART) {
            self.initiate(false, batch);
        }
    }

    /// Does what is due: keepalives, new handshakes, forgetting. By `now` goes how long keys are kept; all else goes by
    /// gotatun's own clock.
    pub fn tick(&mut self, now: Instant, batch: &mut Vec<u8>) -> Tick {
        if now.saturating_duration_since(self.keyed) >= KEYS_KEPT && !self.unanswered {
            return Tick::Expired;
        }
        match self.tunn.update_timers() {
            Ok(Some(message)) => {
                if matches!(message, WgKind::HandshakeInit(_)) {
                    self.began();
                }
                self.push(&Packet::from(message), batch);
                Tick::Fine
            }
            Ok(None) => {
                if std::mem::take(&mut self.again) {
                    self.retry_handshake(batch);
                }
                Tick::Fine
            }
            Err(_) => Tick::Expired,
        }
    }

    fn push(&mut self, message: &[u8], batch: &mut Vec<u8>) {
        self.indexes.learn(message);
        push_frame(batch, message);
    }

    fn began(&mut self) {
        (self.initiated, self.unanswered, self.again) = (Some(Instant::now()), true, false);
    }

    fn packet(&mut self, bytes: &[u8]) -> Packet {
        self.pool.reserve(bytes.len());
        self.pool.extend_from_slice(bytes);
        Packet::from_bytes(self.pool.split())
    }
}

fn reason_of(error: WireGuardError) -> Reason {
    match error {
        WireGuardError::NoCurrentSession | WireGuardError::WrongIndex => Reason::UnknownSession,
        WireGuardError::InvalidCounter | WireGuardError::DuplicateCounter => Reason::Replayed,
        _ => Reason::BadSeal,
    }
}

/// A peer's handshake messages: a burst, then a rate.
struct Allowance {
    left: f64,
    at: Instant,
}

impl Allowance {
    fn new(now: Instant) -> Allowance {
        Allowance { left: HANDSHAKE_BURST as f64, at: now }
    }

    fn take(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.left = (self.left + passed * HANDSHAKES_PER_SECOND as f64).min(HANDSHAKE_BURST as f64);
        self.at = now;
        let granted = self.left >= 1.0;
        self.left -= if granted { 1.0 } else { 0.0 };
        granted
    }
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
