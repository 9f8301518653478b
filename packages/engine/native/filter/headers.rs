//! The headers that the filter judges by: IPv6's extension headers, fragments, and the transport's first bytes. Whatever
//! cannot be read to its end is refused, because another reader might see something else in it.
use crate::limits::MAX_EXTENSION_HEADERS;
use crate::packet::{ICMP, ICMP_V6, IPV4_HEADER, IPV6_HEADER, Ip, TCP, UDP, get16, get32};

pub const DCCP: u8 = 33;
pub const SCTP: u8 = 132;
pub const UDP_LITE: u8 = 136;

pub const FIN: u8 = 1;
pub const SYN: u8 = 2;
pub const RST: u8 = 4;
pub const ACK: u8 = 16;

/// Headers that are cut short, too many, out of order, or of a kind that changes what a packet means.
#[derive(Debug, PartialEq, Eq)]
pub struct Unreadable;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    pub protocol: u8,
    /// Where the transport's header starts.
    pub at: usize,
    /// The source's and the destination's port; of an ICMP query, its id twice; else 0.
    pub ports: (u16, u16),
    pub kind: Kind,
    pub part: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Tcp(Tcp),
    /// Another protocol with ports.
    Ports,
    /// A question of ICMP, such as an echo request.
    Ask,
    /// The answer to such a question.
    Answer,
    /// An ICMP error, which quotes a packet.
    Error,
    /// Another message of ICMP.
    Message,
    /// A protocol without ports, or a later fragment.
    Bare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    pub flags: u8,
    pub sequence: u32,
    pub acknowledged: u32,
    /// Bytes behind the header.
    pub payload: u32,
}

impl Tcp {
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// True for a packet that asks for a new connection.
    pub fn is_opening(&self) -> bool {
        self.flags & (SYN | ACK | RST) == SYN
    }
}

/// Which part of a packet this is; offsets count from the end of the headers that every fragment repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Whole,
    First { id: u32, end: usize },
    Later { id: u32, start: usize },
}

/// `packet` is as long as its header says.
#[inline]
pub fn read(packet: &[u8], ip: &Ip) -> Result<Headers, Unreadable> {
    if ip.is_v6() { read_v6(packet, ip) } else { read_v4(packet, ip) }
}

#[inline]
fn read_v4(packet: &[u8], ip: &Ip) -> Result<Headers, Unreadable> {
    if ip.transport > IPV4_HEADER && has_source_route(&packet[IPV4_HEADER..ip.transport]) {
        return Err(Unreadable);
    }
    let place = get16(packet, 6);
    let (start, more) = ((place & 0x1fff) as usize * 8, place & 0x2000 != 0);
    let fragment = (start, more, get16(packet, 4).into());
    read_part(packet, (ip.protocol, false), ip.transport, (ip.transport, fragment))
}

fn read_v6(packet: &[u8], ip: &Ip) -> Result<Headers, Unreadable> {
    let walked = walk(packet, ip.protocol, IPV6_HEADER)?;
    let fragment = walked.fragment.unwrap_or((walked.at, (0, false, 0)));
    read_part(packet, (walked.protocol, true), walked.at, fragment)
}

/// Where a fragment's own bytes begin in the packet, and its offset, whether more follow, and the id.
type Fragment = (usize, (usize, bool, u32));

#[inline]
fn read_part(
    packet: &[u8],
    (protocol, v6): (u8, bool),
    at: usize,
    (from, (start, more, id)): Fragment,
) -> Result<Headers, Unreadable> {
    if start > 0 {
        let part = Part::Later { id, start };
        return Ok(Headers { protocol, at, ports: (0, 0), kind: Kind::Bare, part });
    }
    let part = if more { Part::First { id, end: packet.len() - from } } else { Part::Whole };
    let (ports, kind) = transport(packet, (protocol, v6), at)?;
    Ok(Headers { protocol, at, ports, kind, part })
}

/// What stands behind IPv6's extension headers.
pub struct Walked {
    pub protocol: u8,
    pub at: usize,
    fragment: Option<Fragment>,
}

impl Walked {
    /// True for a fragment other than the first.
    pub fn is_later(&self) -> bool {
        self.fragment.is_some_and(|(_, (start, ..))| start > 0)
    }
}

/// Walks over IPv6's extension headers, up to the transport or to a later fragment's bytes.
pub fn walk(packet: &[u8], first: u8, from: usize) -> Result<Walked, Unreadable> {
    let mut walked = Walked { protocol: first, at: from, fragment: None };
    for count in 0..=MAX_EXTENSION_HEADERS {
        let units = match walked.protocol {
            0 if count > 0 => return Err(Unreadable),
            0 | 43 | 60 => 8,
            51 => 4,
            44 => 0,
            // mobility, HIP, shim6 and experiments
            135 | 139 | 140 | 253 | 254 => return Err(Unreadable),
            _ => return Ok(walked),
        };
        let header: &[u8; 8] =
            packet.get(walked.at..).and_then(|rest| rest.first_chunk()).ok_or(Unreadable)?;
        // a routing header with a way to go names another destination
        if walked.protocol == 43 && header[3] != 0 {
            return Err(Unreadable);
        }
        let is_fragment = walked.protocol == 44;
        walked.at += match units {
            8 => 8 + header[1] as usize * 8,
            4 => 8 + header[1] as usize * 4,
            _ => 8,
        };
        walked.protocol = header[0];
        if walked.at > packet.len() || is_fragment && walked.fragment.is_some() {
            return Err(Unreadable);
        }
        if is_fragment {
            let place = get16(header, 2);
            let start = (place & 0xfff8) as usize;
            walked.fragment = Some((walked.at, (start, place & 1 != 0, get32(header, 4))));
            if start > 0 {
                return Ok(walked);
            }
        }
    }
    Err(Unreadable)
}

#[inline]
fn transport(packet: &[u8], (protocol, v6): (u8, bool), at: usize) -> Result<((u16, u16), Kind), Unreadable> {
    let least = match protocol {
        TCP => 20,
        UDP | UDP_LITE => 8,
        SCTP | DCCP => 12,
        ICMP if !v6 => 8,
        ICMP_V6 if v6 => 8,
        _ => return Ok(((0, 0), Kind::Bare)),
    };
    let header = packet.get(at..).filter(|header| header.len() >= least).ok_or(Unreadable)?;
    if least == 8 && protocol != UDP && protocol != UDP_LITE {
        return Ok(icmp(header, v6));
    }
    let ports = (get16(header, 0), get16(header, 2));
    if protocol != TCP {
        return Ok((ports, Kind::Ports));
    }
    let own = (header[12] >> 4) as usize * 4;
    if own < least {
        return Err(Unreadable);
    }
    let payload = header.len().saturating_sub(own) as u32;
    let (sequence, acknowledged) = (get32(header, 4), get32(header, 8));
    Ok((ports, Kind::Tcp(Tcp { flags: header[13], sequence, acknowledged, payload })))
}

fn icmp(header: &[u8], v6: bool) -> ((u16, u16), Kind) {
    let kind = match (v6, header[0]) {
        (false, 8 | 13 | 15 | 17) | (true, 128) => Kind::Ask,
        (false, 0 | 14 | 16 | 18) | (true, 129) => Kind::Answer,
        (false, 3 | 4 | 11 | 12) | (true, 1..=4) => Kind::Error,
        _ => Kind::Message,
    };
    let id = if matches!(kind, Kind::Ask | Kind::Answer) { get16(header, 4) } else { 0 };
    ((id, id), kind)
}

/// IPv4's options that name another destination.
fn has_source_route(mut options: &[u8]) -> bool {
    while let Some(option) = options.first() {
        let len = match option {
            0 => return false,
            1 => 1,
            131 | 137 => return true,
            _ => options.get(1).map_or(0, |len| *len as usize),
        };
        let Some(rest) = options.get(len.max(1)..).filter(|_| len > 0) else { return true };
        options = rest;
    }
    false
}
