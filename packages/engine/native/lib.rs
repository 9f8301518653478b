//! Packets between the kernel and peers: a device, WireGuard sessions, and the table that joins them. No policy:
//! `@mesh/vpn` says who may talk, and through which tunnel.
//!
//! Out: `device` -> `outbound` (`table`, `clamp`, `segments`, `sessions`) -> `queues` -> the application's stream.
//! In: the stream -> `queues` -> `inbound` (`sessions`, `packet`, `table`, `segments`) -> `device`.
mod change;
mod checksum;
mod clamp;
pub mod counters;
pub mod device;
pub mod engine;
pub mod events;
mod inbound;
pub mod interface;
pub mod limits;
// its functions are called by Node alone
#[cfg(all(feature = "node", not(test)))]
mod node;
mod outbound;
pub mod packet;
pub mod peer;
pub mod queues;
mod segments;
pub mod sessions;
pub mod table;
mod timers;
mod waiting;

#[cfg(test)]
mod engine_tests;
#[cfg(test)]
mod test_packets;
#[cfg(test)]
mod test_random;
