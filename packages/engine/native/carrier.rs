//! What the application asks of an engine: of this crate's own (`engine`), or of the kernel's WireGuard (`kernel`).
use crate::counters::Counters;
use crate::datagrams::Datagrams;
use crate::events::Events;
use crate::filter::{Refused, RulesChange};
use crate::interface::{Interface, OpenError};
use crate::peer_config::PeerConfig;
use crate::restore::Restored;
use crate::sessions::Key;
use crate::table::Prefix;
use std::io;
use std::net::SocketAddr;

pub trait Carrier {
    fn public_key(&self) -> Key;
    fn interface(&self) -> io::Result<Interface>;
    fn events(&self) -> &Events;
    fn datagrams(&self) -> &Datagrams;
    fn set_addresses(&self, addresses: &[Prefix]) -> io::Result<()>;
    fn set_routes(&self, routes: &[Prefix]) -> Result<(), OpenError>;
    /// Puts back what others took away from the interface.
    fn restore(&self, addresses: &[Prefix], mtu: u16) -> io::Result<Restored>;
    /// Swaps in a new table. A peer with the same id, tunnel and key keeps its sessions and queues; with another tunnel it
    /// keeps its counters and the packets that wait. The kernel's WireGuard has no rules.
    fn set_table(&self, peers: Vec<PeerConfig>, local: &[Prefix], rules: RulesChange) -> io::Result<()>;
    /// What the rules refused since the last call, and how often.
    fn take_refusals(&self) -> Vec<(Refused, u64)> {
        Vec::new()
    }
    /// How many flows each rule allowed, layer by layer.
    fn rule_hits(&self) -> Vec<u64> {
        Vec::new()
    }
    /// The number of flows that the filter follows.
    fn flow_count(&self) -> usize {
        0
    }
    /// The next batch of whole frames for the peer's stream.
    fn take(&self, peer: u32) -> Option<Vec<u8>>;
    /// Takes the next bytes of the peer's stream, cut anywhere. They are copied. False: crowded.
    fn inject(&self, peer: u32, bytes: &[u8]) -> bool;
    /// Takes whole packets, one behind the other, that came unsealed from a legacy member. They are copied. The kernel
    /// takes none.
    fn inject_packets(&self, _peer: u32, _packets: &[u8]) {}
    /// Begins anew with the peer's stream: what comes, comes by a new one, which begins with a whole frame. Frames that
    /// wait to be taken stay: those are whole.
    fn restart(&self, peer: u32);
    /// A stream was lost, in either direction: what waits to be taken is announced again, and a handshake that may
    /// have been lost begins anew.
    fn retry_handshake(&self, peer: u32);
    /// The port of the engine's own socket, if there is one.
    fn port(&self) -> Option<u16>;
    /// Opens a socket beside the engine's own, and gives its port; none where that cannot be.
    fn open_socket(&self) -> Option<u16> {
        None
    }
    /// Closes such a one.
    fn close_socket(&self, _port: u16) {}
    /// Sends a datagram that is no WireGuard, by `socket`. False: there is none, or the way does not take it.
    fn send_datagram(&self, to: SocketAddr, datagram: &[u8], socket: u16) -> bool;
    /// Gives the numbers of the peers with packets since the last call, in either direction, or with packets that wait.
    fn active(&self) -> Vec<u32>;
    /// Calls `each` with the counters of the device (number 0), and of each peer.
    fn each_counters(&self, each: &mut dyn FnMut(u32, &Counters));
    /// The guests that were heard, and from where.
    fn heard(&self) -> Vec<(u32, SocketAddr)> {
        Vec::new()
    }
}
