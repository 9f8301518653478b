//! Packets described by their parts, and a filter to send them through.
use crate::filter::{Filter, MAX_REPLY, Matched, PacketMatch, PacketRule, PacketRules, Rules, Verdict, View};
use crate::packet::{TCP, UDP, parse};
use crate::ranges::Prefix;
use std::net::IpAddr;

pub const PEER: u32 = 1;
pub const ACK: u8 = 16;
pub const SYN: u8 = 2;
pub const FIN: u8 = 1;
pub const RST: u8 = 4;

/// A packet's parts. The builder makes bytes of them; the twin judges them as they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub body: Body,
    pub part: Part,
    /// Extension headers of IPv6 before all else: destination options.
    pub options: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Tcp {
        ports: (u16, u16),
        flags: u8,
        sequence: u32,
        payload: usize,
    },
    /// UDP, SCTP and others with ports.
    Ports {
        protocol: u8,
        ports: (u16, u16),
    },
    Ask {
        id: u16,
    },
    Answer {
        id: u16,
    },
    Error {
        quoted: Box<Packet>,
    },
    Message,
    Bare {
        protocol: u8,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    Whole,
    First {
        id: u16,
    },
    /// In units of 8 bytes.
    Later {
        id: u16,
        start: u16,
    },
}

pub fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

pub fn packet(source: &str, destination: &str, body: Body) -> Packet {
    Packet { source: ip(source), destination: ip(destination), body, part: Part::Whole, options: 0 }
}

pub fn tcp(ports: (u16, u16), flags: u8, payload: usize) -> Body {
    Body::Tcp { ports, flags, sequence: 1000, payload }
}

pub fn udp(ports: (u16, u16)) -> Body {
    Body::Ports { protocol: UDP, ports }
}

impl Packet {
    /// What would answer it.
    pub fn reply(&self, flags: u8) -> Packet {
        let body = match &self.body {
            Body::Tcp { ports, payload, .. } => tcp((ports.1, ports.0), flags, *payload),
            Body::Ports { protocol, ports } => Body::Ports { protocol: *protocol, ports: (ports.1, ports.0) },
            Body::Ask { id } => Body::Answer { id: *id },
            other => other.clone(),
        };
        Packet { source: self.destination, destination: self.source, body, ..self.clone() }
    }

    pub fn protocol(&self) -> u8 {
        let icmp = if self.source.is_ipv6() { 58 } else { 1 };
        match &self.body {
            Body::Tcp { .. } => TCP,
            Body::Ports { protocol, .. } | Body::Bare { protocol } => *protocol,
            _ => icmp,
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let body = self.body_bytes();
        if self.source.is_ipv6() { self.bytes_v6(&body) } else { self.bytes_v4(&body) }
    }

    fn bytes_v4(&self, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 20];
        bytes[0] = 0x45;
        bytes[2..4].copy_from_slice(&(20 + body.len() as u16).to_be_bytes());
        let (id, place) = match self.part {
            Part::Whole => (7, 0x4000),
            Part::First { id } => (id, 0x2000),
            Part::Later { id, start } => (id, start),
        };
        bytes[4..6].copy_from_slice(&id.to_be_bytes());
        bytes[6..8].copy_from_slice(&place.to_be_bytes());
        (bytes[8], bytes[9]) = (64, self.protocol());
        put_address(&mut bytes[12..16], self.source);
        put_address(&mut bytes[16..20], self.destination);
        [&bytes, body].concat()
    }

    fn bytes_v6(&self, body: &[u8]) -> Vec<u8> {
        let (mut headers, mut next) = (Vec::new(), self.protocol());
        if self.part != Part::Whole {
            let (id, place) = match self.part {
                Part::Later { id, start } => (id, start << 3),
                Part::First { id } => (id, 1),
                Part::Whole => (0, 0),
            };
            let [a, b] = place.to_be_bytes();
            let [c, d] = id.to_be_bytes();
            headers.extend([next, 0, a, b, 0, 0, c, d]);
            next = 44;
        }
        for _ in 0..self.options {
            headers.splice(0..0, [next, 0, 1, 4, 0, 0, 0, 0]);
            next = 60;
        }
        let mut bytes = vec![0; 40];
        bytes[0] = 0x60;
        bytes[4..6].copy_from_slice(&((headers.len() + body.len()) as u16).to_be_bytes());
        (bytes[6], bytes[7]) = (next, 64);
        put_address(&mut bytes[8..24], self.source);
        put_address(&mut bytes[24..40], self.destination);
        [&bytes, &headers, body].concat()
    }

    fn body_bytes(&self) -> Vec<u8> {
        if matches!(self.part, Part::Later { .. }) {
            return vec![0xee; 24];
        }
        let v6 = self.source.is_ipv6();
        let icmp = |kind: u8, id: u16| [&[kind, 0, 0, 0][..], &id.to_be_bytes(), &[0, 1]].concat();
        match &self.body {
            Body::Tcp { ports, flags, sequence, payload } => {
                let mut bytes = vec![0; 20 + payload];
                put_ports(&mut bytes, *ports);
                bytes[4..8].copy_from_slice(&sequence.to_be_bytes());
                (bytes[11], bytes[12], bytes[13]) = (9, 0x50, *flags);
                bytes
            }
            Body::Ports { ports, .. } => {
                let mut bytes = vec![0; 32];
                put_ports(&mut bytes, *ports);
                bytes
            }
            Body::Ask { id } => icmp(if v6 { 128 } else { 8 }, *id),
            Body::Answer { id } => icmp(if v6 { 129 } else { 0 }, *id),
            Body::Error { quoted } => [icmp(if v6 { 1 } else { 3 }, 0), quoted.bytes()].concat(),
            Body::Message => icmp(if v6 { 133 } else { 5 }, 0),
            Body::Bare { .. } => vec![0; 16],
        }
    }
}

fn put_ports(bytes: &mut [u8], ports: (u16, u16)) {
    bytes[..2].copy_from_slice(&ports.0.to_be_bytes());
    bytes[2..4].copy_from_slice(&ports.1.to_be_bytes());
}

fn put_address(place: &mut [u8], address: IpAddr) {
    match address {
        IpAddr::V4(v4) => place.copy_from_slice(&v4.octets()),
        IpAddr::V6(v6) => place.copy_from_slice(&v6.octets()),
    }
}

/// `tcp 22`, `udp 53-60`, `icmp`.
pub fn on(text: &str) -> PacketMatch {
    let (protocol, ports) = text.split_once(' ').unwrap_or((text, "0-65535"));
    let (first, last) = ports.split_once('-').unwrap_or((ports, ports));
    let protocol = match protocol {
        "tcp" => Matched::Tcp,
        "udp" => Matched::Udp,
        _ => Matched::Icmp,
    };
    PacketMatch { protocol, first_port: first.parse().unwrap(), last_port: last.parse().unwrap() }
}

/// A rule from one set to another.
pub fn rule(from: Option<u32>, to: Option<u32>, words: &[&str]) -> PacketRule {
    PacketRule { from, to, on: words.iter().map(|word| on(word)).collect() }
}

/// Sets 1, 2 and 3 are 10.1.0.1 (this node), 10.1.0.2 (the peer) and 10.1.0.3, with fd00::1 to ::3.
pub fn rules(layer: Vec<PacketRule>) -> PacketRules {
    let each = |set: u32| {
        [format!("10.1.0.{set}/32"), format!("fd00::{set}/128")]
            .map(|text| (Prefix::parse(&text).unwrap(), vec![set]))
    };
    PacketRules { ranges: (1..4).flat_map(each).collect(), layers: vec![layer], silent: false }
}

/// A filter with the rules in force, and the time.
pub struct Lab {
    pub filter: Filter,
    pub rules: Option<Rules>,
    pub generation: u32,
    pub now: u32,
}

impl Lab {
    pub fn new(rules: Option<PacketRules>) -> Lab {
        let mut lab = Lab { filter: Filter::default(), rules: None, generation: 0, now: 0 };
        lab.swap(rules);
        lab
    }

    pub fn swap(&mut self, rules: Option<PacketRules>) {
        self.rules = rules.map(|rules| Rules::new(rules, self.rules.as_ref()));
        self.generation += 1;
    }

    pub fn wait(&mut self, seconds: u32) {
        self.now += seconds * crate::limits::TICKS_PER_SECOND;
        self.filter.set_now(self.now);
    }

    pub fn bytes_pass(&self, bytes: &[u8], inbound: bool) -> bool {
        let Ok(ip) = parse(bytes) else { return false };
        self.with_view(inbound, |view| {
            matches!(self.filter.judge(view, &bytes[..ip.len], &ip), Verdict::Pass { .. })
        })
    }

    /// What the peer is told about a packet of its own that was refused.
    pub fn told(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let (ip, mut out) = (parse(bytes).unwrap(), [0; MAX_REPLY]);
        let len = self.with_view(true, |view| self.filter.refuse(view, bytes, &ip, &mut out))?;
        Some(out[..len].to_vec())
    }

    fn with_view<T>(&self, inbound: bool, work: impl FnOnce(View) -> T) -> T {
        let owner = |address: IpAddr| is_peers(address).then_some(PEER);
        let Lab { rules, generation, .. } = self;
        work(View { rules: rules.as_ref(), generation: *generation, owner: &owner, peer: PEER, inbound })
    }

    pub fn comes(&self, packet: &Packet) -> bool {
        self.bytes_pass(&packet.bytes(), true)
    }

    pub fn leaves(&self, packet: &Packet) -> bool {
        self.bytes_pass(&packet.bytes(), false)
    }
}

/// The peer has the address that ends with 2.
pub fn is_peers(address: IpAddr) -> bool {
    [ip("10.1.0.2"), ip("fd00::2")].contains(&address)
}
