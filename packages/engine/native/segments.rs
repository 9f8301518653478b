//! Super-segments: what the kernel hands over or takes in one piece, up to 64 KiB, cut into packets and joined
//! from packets. Layouts: the virtio specification's network header ('struct virtio_net_hdr').
mod cut;
mod join;

pub use cut::{Refused, cut};
pub use join::Joiner;
pub use tun_rs::VIRTIO_NET_HDR_LEN as HEADER;

/// The checksum field holds only the pseudo header's sum; the rest is for whoever sends the packet on.
const NEEDS_CSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCP_V4: u8 = 1;
const GSO_TCP_V6: u8 = 4;
const GSO_UDP: u8 = 5;
/// May stand beside a TCP type: the first segment alone carries CWR.
const GSO_ECN: u8 = 0x80;

const FIN: u8 = 1;
const PSH: u8 = 8;
const ACK: u8 = 16;
const CWR: u8 = 128;
/// Longest IP and TCP header: 60 bytes each, with room for IPv6.
const MAX_HEADERS: usize = 160;
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
/// Where the checksum stands in the transport's header.
const TCP_SUM: usize = 16;
const UDP_SUM: usize = 6;

/// Has the kernel left the transport's checksum to us?
pub fn is_unfinished(header: &tun_rs::VirtioNetHdr) -> bool {
    header.flags & NEEDS_CSUM != 0
}

use crate::checksum::{fold, pseudo, sum};
use crate::packet::{IPV4_HEADER, IPV6_HEADER, put_sum, put16};

/// Writes the packet's length into its IP header, and IPv4's checksum.
#[inline]
fn set_ip_len(packet: &mut [u8], v6: bool, transport: usize, len: usize) {
    if v6 {
        put16(packet, 4, (len - IPV6_HEADER) as u16);
    } else {
        put16(packet, 2, len as u16);
        put16(packet, 10, 0);
        let value = !fold(sum(&packet[..transport], 0));
        put_sum(packet, 10, value);
    }
}

/// Both addresses, as they stand in the header.
#[inline]
fn addresses(packet: &[u8], v6: bool) -> &[u8] {
    if v6 { &packet[8..IPV6_HEADER] } else { &packet[12..IPV4_HEADER] }
}

/// Sum of the transport's pseudo header.
#[inline]
fn pseudo_of(packet: &[u8], v6: bool, protocol: u8, transport_len: usize) -> u64 {
    pseudo(addresses(packet, v6), protocol, transport_len)
}

#[cfg(test)]
#[path = "segments_tests.rs"]
mod tests;
