//! Bounds of the engine, with the unit in the name. `src/limits.ts` says those again that TypeScript shows.
use std::time::Duration;

/// What IP fixes: the longest packet, and so the longest super-segment.
pub const MAX_PACKET_BYTES: usize = 65_535;
/// What WireGuard adds to a packet: type, receiver, counter (16 bytes) and the seal (16).
pub const SEAL_BYTES: usize = 32;
/// A frame in a carried batch: a big-endian length of two bytes, then the datagram or packet.
pub const FRAME_PREFIX_BYTES: usize = 2;
/// Frames that wait for one peer's stream: 40 ms at 50 Mbit/s. More would only be delay.
pub const MAX_OUTBOUND_BYTES: usize = 256 * 1024;
/// Handshakes and keepalives may use this much beyond `MAX_OUTBOUND_BYTES`: a full queue must not end a session.
pub const HANDSHAKE_RESERVE_BYTES: usize = 4 * 1024;
/// What one `take` hands out at most, unless a single frame is longer: with yamux's header one sealed block of
/// libp2p's Noise. A little more makes two blocks of it, and costs a fifth of what a stream carries.
pub const MAX_BATCH_BYTES: usize = 65_507;
/// Frames from one peer's stream that wait to be opened.
pub const MAX_INBOUND_BYTES: usize = 256 * 1024;
/// Packets that wait for the first handshake with one peer, or until there is a tunnel to it.
pub const MAX_WAITING_BYTES: usize = 64 * 1024;
/// Packets that wait so for all peers together: somebody may knock at every address there is.
pub const MAX_ALL_WAITING_BYTES: usize = 16 * 1024 * 1024;
/// How long they wait for a tunnel; WireGuard gives a handshake up after as long.
pub const MAX_WAIT: Duration = Duration::from_secs(90);
/// The event `pathNeeded` of a peer is repeated at most this often while packets come for it.
pub const PATH_NEEDED_AGAIN: Duration = Duration::from_secs(5);
/// Handshakes that are sent again because a stream was lost, or because the peer lost the session, keep this apart.
pub const HANDSHAKE_RETRY_APART: Duration = Duration::from_millis(100);
pub const REHANDSHAKE_APART: Duration = Duration::from_secs(5);
/// Events that wait for JavaScript. `readable`, `writable`, `pathNeeded` and `failed` are not among them: each is one mark
/// for a peer.
pub const MAX_EVENTS: usize = 1024;
/// As long as the device has more to read at once, so much is gathered before the application is woken.
pub const GATHER_BYTES: usize = 16 * 1024;
/// Datagrams that are opened before a session's lock is given to the other direction.
pub const OPEN_RUN: usize = 64;
/// Handshake messages taken from one peer: a burst, then a rate. An honest peer needs one each two minutes.
pub const HANDSHAKE_BURST: u32 = 20;
pub const HANDSHAKES_PER_SECOND: u32 = 5;
/// How often sessions are asked for what is due. WireGuard's shortest timer is 5 s.
pub const TICK: Duration = Duration::from_millis(250);
/// What IPv4 and IPv6 fix as the least MTU that a path may have for us to work on it.
pub const MIN_MTU: u16 = 576;
pub const MIN_MTU_V6: u16 = 1280;
