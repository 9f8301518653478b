//! What names a flow: the protocol, both addresses and both ports, the same for both directions.
use super::headers::{Headers, Kind};
use std::net::IpAddr;

/// The lesser end stands first; of ICMP's queries, the end that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    ends: [([u8; 16], u16); 2],
    /// The protocol, and 256 more for IPv6.
    protocol: u16,
}

/// One of the two ends of a key.
pub type Side = u8;

impl Key {
    /// The key of a packet's flow, and the side of the packet's source.
    #[inline]
    pub fn of(source: IpAddr, destination: IpAddr, headers: &Headers) -> (Key, Side) {
        let (from, to) = headers.ports;
        let ends = [(octets(source), from), (octets(destination), to)];
        let swaps = match headers.kind {
            Kind::Ask => false,
            Kind::Answer => true,
            _ => ends[0] > ends[1],
        };
        let protocol = u16::from(headers.protocol) | u16::from(source.is_ipv6()) << 8;
        let ends = if swaps { [ends[1], ends[0]] } else { ends };
        (Key { ends, protocol }, swaps as Side)
    }

    /// The protocol's number.
    pub fn protocol(&self) -> u8 {
        self.protocol as u8
    }

    pub fn port(&self, side: Side) -> u16 {
        self.ends[side as usize & 1].1
    }

    /// The key's bytes, for hashing.
    pub fn bytes(&self) -> [u8; 38] {
        let mut bytes = [0; 38];
        for (end, part) in self.ends.iter().zip(bytes.chunks_exact_mut(18)) {
            part[..16].copy_from_slice(&end.0);
            part[16..].copy_from_slice(&end.1.to_ne_bytes());
        }
        bytes[36..].copy_from_slice(&self.protocol.to_ne_bytes());
        bytes
    }
}

fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}
