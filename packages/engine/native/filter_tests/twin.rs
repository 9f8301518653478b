//! The filter's slow twin: lists that are searched from end to end, nothing forgotten but by time, packets as they were
//! described. It says what the filter should say.
use super::lab::*;
use crate::filter::{Matched, PacketMatch, PacketRule, PacketRules};
use crate::ranges::Prefix;
use std::net::IpAddr;

type End = (IpAddr, u16);

#[derive(Debug)]
struct Flow {
    protocol: u8,
    /// Who began it, and with whom.
    ends: [End; 2],
    ours: bool,
    generation: u32,
    refused: bool,
    answered: bool,
    /// Where the bytes of each end are over.
    over: [Option<u32>; 2],
    reset: bool,
    /// In seconds.
    seen: u32,
}

#[derive(Debug)]
struct First {
    packet: Packet,
    id: u16,
    end: usize,
    seen: u32,
}

#[derive(Default)]
pub struct Twin {
    pub rules: Option<PacketRules>,
    pub generation: u32,
    pub now: u32,
    flows: Vec<Flow>,
    firsts: Vec<First>,
}

impl Flow {
    fn is_over(&self) -> bool {
        self.reset || self.over.iter().all(Option::is_some)
    }

    fn lasts_for(&self) -> u32 {
        let is_fleeting = !self.answered || self.is_over() || self.refused;
        match self.protocol {
            6 if self.reset => 10,
            6 if is_fleeting => 120,
            6 => 5 * 3600,
            17 | 136 if !is_fleeting => 180,
            17 | 136 | 1 | 58 => 30,
            132 | 33 if is_fleeting => 30,
            _ => 600,
        }
    }
}

impl Twin {
    pub fn judge(&mut self, packet: &Packet, inbound: bool) -> bool {
        if !inbound || self.rules.is_none() {
            return matches!(packet.part, Part::Later { .. }) || self.judge_body(packet, inbound);
        }
        match packet.part {
            Part::Whole => self.judge_body(packet, inbound),
            Part::First { id } if self.first(packet, id).is_some() => false,
            Part::First { id } => {
                let passes = self.judge_body(packet, inbound);
                if passes {
                    let whole = Packet { part: Part::Whole, ..packet.clone() };
                    let header = if packet.source.is_ipv6() { 40 + packet.options * 8 } else { 20 };
                    let end = whole.bytes().len() - header;
                    self.firsts.push(First { packet: whole, id, end, seen: self.now });
                }
                passes
            }
            Part::Later { id, start } => {
                self.first(packet, id).is_some_and(|first| usize::from(start) * 8 >= first.end)
            }
        }
    }

    fn first(&self, packet: &Packet, id: u16) -> Option<&First> {
        self.firsts.iter().find(|first| {
            let same = first.packet.protocol() == packet.protocol() || packet.source.is_ipv6();
            let (source, destination) = (first.packet.source, first.packet.destination);
            (source, destination, first.id) == (packet.source, packet.destination, id)
                && same
                && self.now - first.seen <= 30
        })
    }

    fn judge_body(&mut self, packet: &Packet, inbound: bool) -> bool {
        let (from, to) = ends(packet);
        match &packet.body {
            Body::Error { quoted } => {
                !inbound || self.is_related(packet, quoted) || self.allows(packet.protocol(), from, to)
            }
            Body::Message => !inbound || self.allows(packet.protocol(), from, to),
            _ => self.judge_flow(packet, inbound),
        }
    }

    fn is_related(&self, error: &Packet, quoted: &Packet) -> bool {
        quoted.source == error.destination
            && is_peers(quoted.destination)
            && !matches!(quoted.part, Part::Later { .. })
            && self.find(quoted).is_some_and(|at| {
                let flow = &self.flows[at];
                !flow.refused && (flow.ours || flow.generation == self.generation)
            })
    }

    fn find(&self, packet: &Packet) -> Option<usize> {
        let (from, to) = ends(packet);
        self.flows.iter().position(|flow| {
            let ends = match packet.body {
                Body::Ask { .. } => flow.ends == [from, to],
                Body::Answer { .. } => flow.ends == [to, from],
                _ => flow.ends == [from, to] || flow.ends == [to, from],
            };
            ends && flow.protocol == packet.protocol() && self.now - flow.seen <= flow.lasts_for()
        })
    }

    fn judge_flow(&mut self, packet: &Packet, inbound: bool) -> bool {
        let (from, to) = ends(packet);
        let protocol = packet.protocol();
        let flags = if let Body::Tcp { flags, .. } = packet.body { flags } else { 0 };
        let is_tcp = protocol == 6;
        let is_syn = is_tcp && flags & (SYN | ACK | RST) == SYN;
        let makes_none = matches!(packet.body, Body::Answer { .. }) || flags & RST != 0;
        let Some(at) = self.find(packet) else {
            let (own, other) = if inbound { (to, from) } else { (from, to) };
            if is_tcp && !is_syn && !makes_none && self.rules.is_none() {
                let ours = own.1 > other.1;
                let origin = if ours { own } else { other };
                return self.begin(packet, origin != from, ours);
            }
            return match inbound {
                true if makes_none => self.allows(protocol, from, to),
                true => self.allows(protocol, from, to) && self.begin(packet, false, false),
                false if makes_none => true,
                false if is_tcp && !is_syn && self.allows(protocol, to, from) => {
                    self.begin(packet, true, false)
                }
                false if is_tcp && !is_syn && from.1 <= to.1 => false,
                false => self.begin(packet, false, true),
            };
        };
        let (current, flow) = (self.generation, &self.flows[at]);
        let began = flow.ends[0] == from;
        let is_opening = is_syn || matches!(packet.body, Body::Ask { .. });
        if !inbound && is_opening && (!flow.ours || flow.refused || flow.is_over()) {
            self.flows.remove(at);
            return self.begin(packet, false, true);
        }
        if inbound && is_syn && (flow.is_over() || !began) {
            if !self.allows(protocol, from, to) {
                return false;
            }
            self.flows.remove(at);
            return self.begin(packet, false, false);
        }
        if !flow.ours && flow.generation != current {
            let [a, b] = flow.ends;
            let allowed = self.allows(protocol, a, b);
            (self.flows[at].generation, self.flows[at].refused) = (current, !allowed);
        }
        if self.flows[at].refused {
            self.flows[at].seen = self.now;
            return false;
        }
        self.step(at, packet, inbound)
    }

    fn begin(&mut self, packet: &Packet, reversed: bool, ours: bool) -> bool {
        let (from, to) = ends(packet);
        let gone = self.find_any(packet);
        if let Some(at) = gone {
            self.flows.remove(at);
        }
        self.flows.push(Flow {
            protocol: packet.protocol(),
            ends: if reversed { [to, from] } else { [from, to] },
            ours,
            generation: self.generation,
            refused: false,
            answered: false,
            over: [None; 2],
            reset: false,
            seen: self.now,
        });
        self.step(self.flows.len() - 1, packet, false)
    }

    /// Also one that is too old.
    fn find_any(&self, packet: &Packet) -> Option<usize> {
        let (from, to) = ends(packet);
        let is_ask = matches!(packet.body, Body::Ask { .. });
        self.flows.iter().position(|flow| {
            flow.protocol == packet.protocol()
                && (flow.ends == [from, to] || !is_ask && flow.ends == [to, from])
        })
    }

    fn step(&mut self, at: usize, packet: &Packet, inbound: bool) -> bool {
        let (from, now) = (ends(packet).0, self.now);
        let flow = &mut self.flows[at];
        flow.seen = now;
        let side = (flow.ends[0] != from) as usize;
        flow.answered |= side == 1;
        let Body::Tcp { flags, sequence, payload, .. } = packet.body else { return true };
        if flags & RST != 0 {
            flow.reset = true;
            return true;
        }
        let upto = sequence + payload as u32;
        let goes_on = flow.over[side].is_some_and(|over| upto > over);
        if self.rules.is_some() && inbound && payload > 0 && (flow.reset || goes_on) {
            return false;
        }
        if flags & FIN != 0 {
            flow.over[side].get_or_insert(upto);
        }
        true
    }

    fn allows(&self, protocol: u8, from: End, to: End) -> bool {
        let Some(rules) = &self.rules else { return true };
        let (sources, destinations) = (sets(rules, from.0), sets(rules, to.0));
        let is_about = |rule: &PacketRule| {
            rule.from.is_none_or(|set| sources.contains(&set))
                && rule.to.is_none_or(|set| destinations.contains(&set))
                && (rule.on.is_empty() || rule.on.iter().any(|each| matches(each, protocol, (from.0, to.1))))
        };
        rules.layers.iter().all(|layer| layer.iter().any(is_about))
    }
}

pub fn sets(rules: &PacketRules, address: IpAddr) -> &[u32] {
    let holding = rules.ranges.iter().filter(|(prefix, _)| holds(prefix, address));
    holding.max_by_key(|(prefix, _)| prefix.length).map_or(&[], |(_, sets)| sets)
}

pub fn matches(each: &PacketMatch, protocol: u8, (source, port): (IpAddr, u16)) -> bool {
    let has_port = each.first_port <= port && port <= each.last_port;
    match each.protocol {
        Matched::Tcp => protocol == 6 && has_port,
        Matched::Udp => protocol == 17 && has_port,
        Matched::Icmp => protocol == if source.is_ipv6() { 58 } else { 1 },
    }
}

fn holds(prefix: &Prefix, address: IpAddr) -> bool {
    let bits = |address: IpAddr| -> Vec<bool> {
        let octets = match address {
            IpAddr::V4(v4) => v4.octets().to_vec(),
            IpAddr::V6(v6) => v6.octets().to_vec(),
        };
        octets.iter().flat_map(|octet| (0..8).rev().map(move |bit| octet >> bit & 1 == 1)).collect()
    };
    prefix.address.is_ipv4() == address.is_ipv4()
        && bits(prefix.address)[..prefix.length as usize] == bits(address)[..prefix.length as usize]
}

fn ends(packet: &Packet) -> (End, End) {
    let (from, to) = match packet.body {
        Body::Tcp { ports, .. } | Body::Ports { ports, .. } => ports,
        Body::Ask { id } | Body::Answer { id } => (id, id),
        _ => (0, 0),
    };
    ((packet.source, from), (packet.destination, to))
}
