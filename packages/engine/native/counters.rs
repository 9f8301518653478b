//! Counters of what passed and what was dropped, for each peer and for the device as a whole.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident => $name:literal,)*) => {
        /// Why a packet was dropped, on its way out, in or both. `src/stats.ts` has the same names.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Reason { $($(#[$doc])* $variant,)* }

        pub const REASON_NAMES: &[&str] = &[$($name,)*];
    };
}

reasons! {
    /// Out: no peer owns the destination.
    NoRoute => "noRoute",
    /// In or out: multicast or broadcast, which has no single peer.
    Multicast => "multicast",
    /// In or out: a header or length that cannot be.
    Malformed => "malformed",
    /// Out: longer than the tunnel's MTU; the sender was told.
    TooBig => "tooBig",
    /// Out: too many packets wait for the first handshake or for a path, or both were given up.
    NoSession => "noSession",
    /// Out: the peer's stream is too slow.
    OutboundFull => "outboundFull",
    /// In or out: waited while the peer's tunnel or key changed, or longer than its session lived.
    Stale => "stale",
    /// In: more than can be opened in time.
    InboundFull => "inboundFull",
    /// In: the stream does not consist of frames any more.
    BadFrame => "badFrame",
    /// In: not a message of WireGuard.
    NotSealed => "notSealed",
    /// In: for a session that does not exist, or no more.
    UnknownSession => "unknownSession",
    /// In: the seal does not fit.
    BadSeal => "badSeal",
    /// In: seen before, or too old to tell.
    Replayed => "replayed",
    /// In: a handshake that does not prove the peer's key.
    HandshakeRefused => "handshakeRefused",
    /// In: more handshakes than a peer can need.
    HandshakeLimit => "handshakeLimit",
    /// In: from a peer whose tunnel is not known yet.
    NoTunnel => "noTunnel",
    /// In: from a peer that the table does not name.
    UnknownPeer => "unknownPeer",
    /// In: the source address is not this peer's.
    SpoofedSource => "spoofedSource",
    /// In: the destination is neither this node's nor routed by it.
    NotForUs => "notForUs",
    /// In or out: the rules do not allow its flow, or its connection is over.
    RefusedByRules => "refusedByRules",
    /// In: the kernel did not take it.
    DeviceRefused => "deviceRefused",
    /// Out: the socket did not take it: its buffer is full, or the way does not take that length.
    NotSent => "notSent",
    /// In: a probe of a path that is not what it says, or was sent again and again.
    ProbeRefused => "probeRefused",
    /// In: more datagrams that are no WireGuard than are looked at.
    DatagramLimit => "datagramLimit",
}

const REASONS: usize = REASON_NAMES.len();

/// Sums of packets and bytes of IP, without what sealing adds. Counting never waits.
#[derive(Default)]
pub struct Counters {
    pub packets_in: AtomicU64,
    pub bytes_in: AtomicU64,
    pub packets_out: AtomicU64,
    pub bytes_out: AtomicU64,
    /// Dropped packets by `Reason`.
    pub drops: [AtomicU64; REASONS],
}

impl Counters {
    pub fn sent(&self, packets: u64, bytes: u64) {
        self.packets_out.fetch_add(packets, Relaxed);
        self.bytes_out.fetch_add(bytes, Relaxed);
    }

    pub fn received(&self, packets: u64, bytes: u64) {
        self.packets_in.fetch_add(packets, Relaxed);
        self.bytes_in.fetch_add(bytes, Relaxed);
    }

    pub fn drop_one(&self, reason: Reason) {
        self.drop_many(reason, 1);
    }

    pub fn drop_many(&self, reason: Reason, count: usize) {
        if count > 0 {
            self.drops[reason as usize].fetch_add(count as u64, Relaxed);
        }
    }

    pub fn dropped(&self, reason: Reason) -> u64 {
        self.drops[reason as usize].load(Relaxed)
    }

    /// The reasons that occurred, with how often.
    pub fn drops(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.drops.iter().map(|count| count.load(Relaxed));
        REASON_NAMES.iter().copied().zip(counts).filter(|(_, count)| *count > 0)
    }
}
