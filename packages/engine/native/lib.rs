//! Packets between the kernel and peers: a device, WireGuard sessions, and the table that joins them. No policy:
//! `@mesh/vpn` says who may talk, and through which tunnel.
//!
//! Out: `device` -> `outbound` (`table`, `clamp`, `segments`, `sessions`) -> `outbox` -> `sockets`, or -> `queues` -> the
//! application's stream.
//! In: `socket` -> `from_socket`, or the stream -> `queues` -> `inbound`, then both -> `opener` (`sessions`, `packet`,
//! `table`, `segments`) -> `device`.
//! Both ask `filter` which flows may begin.
//! Each queue of the device (`tun_queues`) and each socket on the engine's port (`port_group`) has a thread of its own.
pub mod carrier;
mod change;
mod checksum;
mod claim;
mod clamp;
pub mod counters;
mod datagrams;
pub mod device;
pub mod engine;
pub mod events;
pub mod filter;
mod forward;
mod from_socket;
mod greetings;
mod icmp_error;
mod inbound;
pub mod interface;
pub mod kernel;
pub mod limits;
mod link_watch;
// its functions are called by Node alone
#[cfg(all(feature = "node", not(any(test, feature = "tools"))))]
mod node;
#[cfg(all(feature = "node", not(any(test, feature = "tools"))))]
mod node_table;
mod opener;
mod outbound;
mod outbox;
pub mod packet;
pub mod peer;
pub mod peer_config;
mod poll;
mod port_group;
mod probe_gate;
pub mod queues;
mod ranges;
mod receivers;
mod restore;
mod segments;
pub mod sessions;
mod shared;
pub mod socket;
mod sockets;
mod source_limits;
pub mod table;
mod timers;
mod tun_queues;
mod waiting;
mod wiped;
mod work;

#[cfg(test)]
mod engine_tests;
#[cfg(test)]
mod parsers_tests;
#[cfg(test)]
mod testing {
    pub mod cases;
    pub mod packets;
    pub mod random;
}
