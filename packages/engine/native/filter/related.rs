//! The packet that an ICMP error quotes: an error passes when it is about a flow that is known.
use super::headers::{DCCP, Headers, Kind, Part, SCTP, UDP_LITE, walk};
use super::key::{Key, Side};
use crate::packet::{ICMP, ICMP_V6, IPV4_HEADER, IPV6_HEADER, TCP, UDP, get16};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The flow that a quoted packet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quoted {
    pub key: Key,
    /// The side that sent the quoted packet.
    pub from: Side,
    pub source: IpAddr,
    pub destination: IpAddr,
}

/// The bytes of ICMP's header before the quoted packet.
const BEFORE_QUOTE: usize = 8;

/// Reads what the error in `packet` quotes. The quote may be cut short behind the ports.
pub fn quoted(packet: &[u8], at: usize) -> Option<Quoted> {
    let quote = packet.get(at + BEFORE_QUOTE..)?;
    let (source, destination, protocol, at) = match quote.first()? >> 4 {
        4 => v4(quote)?,
        6 => v6(quote)?,
        _ => return None,
    };
    let rest = quote.get(at..)?;
    let first: &[u8; 8] = rest.first_chunk()?;
    let (ports, kind) = match (protocol, first[0]) {
        (TCP | UDP | UDP_LITE | SCTP | DCCP, _) => ((get16(first, 0), get16(first, 2)), Kind::Ports),
        (ICMP, 8 | 13 | 15 | 17) | (ICMP_V6, 128) => ((get16(first, 4), get16(first, 4)), Kind::Ask),
        (ICMP, 0 | 14 | 16 | 18) | (ICMP_V6, 129) => ((get16(first, 4), get16(first, 4)), Kind::Answer),
        (ICMP | ICMP_V6, _) => return None,
        _ => ((0, 0), Kind::Bare),
    };
    let headers = Headers { protocol, at, ports, kind, part: Part::Whole };
    let (key, from) = Key::of(source, destination, &headers);
    Some(Quoted { key, from, source, destination })
}

type Quote = (IpAddr, IpAddr, u8, usize);

fn v4(quote: &[u8]) -> Option<Quote> {
    let header: &[u8; IPV4_HEADER] = quote.first_chunk()?;
    let at = (header[0] & 15) as usize * 4;
    // only a first fragment has the ports
    if at < IPV4_HEADER || get16(header, 6) & 0x1fff != 0 || header[9] == ICMP_V6 {
        return None;
    }
    let address = |from: usize| -> Option<IpAddr> {
        Some(Ipv4Addr::from(*header.get(from..)?.first_chunk::<4>()?).into())
    };
    Some((address(12)?, address(16)?, header[9], at))
}

fn v6(quote: &[u8]) -> Option<Quote> {
    let header: &[u8; IPV6_HEADER] = quote.first_chunk()?;
    let walked = walk(quote, header[6], IPV6_HEADER).ok()?;
    if walked.is_later() || walked.protocol == ICMP {
        return None;
    }
    let address = |from: usize| -> Option<IpAddr> {
        Some(Ipv6Addr::from(*header.get(from..)?.first_chunk::<16>()?).into())
    };
    Some((address(8)?, address(24)?, walked.protocol, walked.at))
}
