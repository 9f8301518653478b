//! IP packets: every header and length is checked here before anything else believes it.
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub const TCP: u8 = 6;
pub const UDP: u8 = 17;
pub const ICMP: u8 = 1;
pub const ICMP_V6: u8 = 58;
pub const IPV4_HEADER: usize = 20;
pub const IPV6_HEADER: usize = 40;

/// A header or length that cannot be.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed;

/// The fields of a checked IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip {
    pub source: IpAddr,
    pub destination: IpAddr,
    /// Bytes of the whole packet by its header; never more than there are.
    pub len: usize,
    /// Where the next header starts: at most `len`.
    pub transport: usize,
    /// The protocol at `transport`; of IPv6, the first next header.
    pub protocol: u8,
    /// A part of a longer packet: there may be no transport header.
    pub fragment: bool,
}

impl Ip {
    pub fn is_v6(&self) -> bool {
        self.source.is_ipv6()
    }
}

/// Checks the version, the header's length and the whole length. Bytes behind the packet are allowed (padding).
#[inline]
pub fn parse(bytes: &[u8]) -> Result<Ip, Malformed> {
    match bytes.first().ok_or(Malformed)? >> 4 {
        4 => parse_v4(bytes),
        6 => parse_v6(bytes),
        _ => Err(Malformed),
    }
}

#[inline]
fn parse_v4(bytes: &[u8]) -> Result<Ip, Malformed> {
    let header: &[u8; IPV4_HEADER] = bytes.first_chunk().ok_or(Malformed)?;
    let transport = (header[0] & 15) as usize * 4;
    let len = u16::from_be_bytes([header[2], header[3]]) as usize;
    if transport < IPV4_HEADER || len < transport || len > bytes.len() {
        return Err(Malformed);
    }
    let address =
        |at: usize| IpAddr::from(Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]));
    Ok(Ip {
        source: address(12),
        destination: address(16),
        len,
        transport,
        protocol: header[9],
        fragment: header[6] & 0x3f != 0 || header[7] != 0,
    })
}

#[inline]
fn parse_v6(bytes: &[u8]) -> Result<Ip, Malformed> {
    let header: &[u8; IPV6_HEADER] = bytes.first_chunk().ok_or(Malformed)?;
    let len = IPV6_HEADER + u16::from_be_bytes([header[4], header[5]]) as usize;
    // no jumbograms: the longest packet is 65,535 bytes with its header
    if len > bytes.len() || len > crate::limits::MAX_PACKET_BYTES {
        return Err(Malformed);
    }
    let address = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&header[at..at + 16]);
        IpAddr::from(Ipv6Addr::from(octets))
    };
    let protocol = header[6];
    let transport = IPV6_HEADER;
    Ok(Ip {
        source: address(8),
        destination: address(24),
        len,
        transport,
        protocol,
        fragment: protocol == 44,
    })
}

/// No single peer can be meant: multicast, or IPv4's broadcast to everyone.
#[inline]
pub fn is_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_multicast() || v4.is_broadcast(),
        IpAddr::V6(v6) => v6.is_multicast(),
    }
}

#[inline]
pub fn get16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

#[inline]
pub fn get32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[inline]
pub fn put16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// Stores a folded sum, which is in native order.
#[inline]
pub fn put_sum(bytes: &mut [u8], at: usize, sum: u16) {
    bytes[at..at + 2].copy_from_slice(&sum.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::packets::{Spec, build};
    use crate::testing::random::Random;

    #[test]
    fn reads_both_families() {
        let v4 = build(&Spec { payload: 100, ..Spec::default() });
        let ip = parse(&v4).unwrap();
        assert_eq!(
            (ip.source.to_string().as_str(), ip.destination.to_string().as_str()),
            ("10.1.0.1", "10.1.0.2")
        );
        assert_eq!((ip.len, ip.transport, ip.protocol, ip.fragment), (v4.len(), 20, TCP, false));
        let v6 = build(&Spec { v6: true, tcp: false, payload: 9, ..Spec::default() });
        let ip = parse(&v6).unwrap();
        assert_eq!((ip.len, ip.transport, ip.protocol, ip.is_v6()), (v6.len(), 40, UDP, true));
    }

    #[test]
    fn does_not_take_an_ipv6_packet_with_a_traffic_class_for_ipv4() {
        let mut packet = build(&Spec { v6: true, ..Spec::default() });
        packet[0] = 0x65;
        assert!(parse(&packet).unwrap().is_v6());
    }

    #[test]
    fn refuses_headers_and_lengths_that_cannot_be() {
        let v4 = build(&Spec { tcp: false, payload: 10, ..Spec::default() });
        let with = |at: usize, value: u8| {
            let mut bytes = v4.clone();
            bytes[at] = value;
            parse(&bytes)
        };
        assert_eq!(parse(&[]), Err(Malformed));
        assert_eq!(parse(&v4[..19]), Err(Malformed));
        assert_eq!(parse(&v4[..v4.len() - 1]), Err(Malformed), "cut short");
        assert_eq!(with(0, 0x44), Err(Malformed), "header shorter than 20 bytes");
        assert_eq!(with(0, 0x4f), Err(Malformed), "header longer than the packet");
        assert_eq!(with(0, 0x55), Err(Malformed), "no such version");
        assert_eq!(with(2, 0xff), Err(Malformed), "longer than there are bytes");
        let v6 = build(&Spec { v6: true, ..Spec::default() });
        assert_eq!(parse(&v6[..39]), Err(Malformed));
        let mut jumbo = vec![0; 66_000];
        jumbo[0] = 0x60;
        jumbo[4..6].fill(0xff);
        assert_eq!(parse(&jumbo), Err(Malformed));
    }

    #[test]
    fn never_points_outside_of_random_bytes() {
        let mut random = Random::new(2);
        for _ in 0..200_000 {
            let len = random.below(80);
            let mut bytes = random.bytes(len);
            if let Some(first) = bytes.first_mut().filter(|_| !len.is_multiple_of(3)) {
                *first = if len % 3 == 1 { 0x45 } else { 0x60 };
            }
            if len > 5 && random.below(2) == 0 {
                (bytes[2], bytes[4]) = (0, 0);
            }
            if let Ok(ip) = parse(&bytes) {
                assert!(ip.transport <= ip.len && ip.len <= bytes.len(), "{bytes:?}");
            }
        }
    }
}
