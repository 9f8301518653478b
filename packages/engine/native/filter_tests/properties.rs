//! Drawn packets of all kinds, in both directions, while rules change and time passes: the filter says what its slow twin
//! says. And arbitrary bytes: nothing panics.
use super::lab::*;
use super::twin::{Twin, matches, sets};
use crate::filter::{PacketRule, PacketRules, Rules, rules::Question};
use crate::ranges::Prefix;
use crate::testing::cases::at_least;
use proptest::collection::vec;
use proptest::prelude::*;
use std::net::IpAddr;

#[derive(Clone, Debug)]
enum Deed {
    Packet {
        packet: Packet,
        inbound: bool,
    },
    /// What answers the packet before, the other way.
    Reply {
        flags: u8,
    },
    Swap(Option<PacketRules>),
    Wait(u32),
}

fn addresses() -> impl Strategy<Value = (IpAddr, IpAddr)> {
    let v4 = ["10.1.0.1", "10.1.0.2", "192.168.7.9"];
    let v6 = ["fd00::1", "fd00::2", "fd07::9"];
    (any::<bool>(), 0usize..3, 1usize..3).prop_map(move |(is_v6, from, step)| {
        let of = if is_v6 { v6 } else { v4 };
        (ip(of[from]), ip(of[(from + step) % 3]))
    })
}

fn ports() -> impl Strategy<Value = (u16, u16)> {
    let port = prop_oneof![Just(22u16), Just(53), Just(443), Just(40_000), Just(40_001)];
    (port.clone(), port)
}

fn tcp_body() -> impl Strategy<Value = Body> {
    let flags = prop_oneof![
        3 => Just(SYN),
        2 => Just(SYN | ACK),
        4 => Just(ACK),
        2 => Just(ACK | FIN),
        1 => Just(RST),
        1 => any::<u8>(),
    ];
    (ports(), flags, 0u32..40, prop_oneof![Just(0usize), Just(8), Just(24)])
        .prop_map(|(ports, flags, sequence, payload)| Body::Tcp { ports, flags, sequence, payload })
}

fn simple_body() -> impl Strategy<Value = Body> {
    let protocol = prop_oneof![3 => Just(17u8), 1 => Just(132), 1 => Just(33), 1 => Just(136)];
    prop_oneof![
        5 => tcp_body(),
        4 => (protocol, ports()).prop_map(|(protocol, ports)| Body::Ports { protocol, ports }),
        2 => (0u16..2).prop_map(|id| Body::Ask { id }),
        2 => (0u16..2).prop_map(|id| Body::Answer { id }),
        1 => prop_oneof![Just(47u8), Just(50), Just(89)].prop_map(|protocol| Body::Bare { protocol }),
    ]
}

fn simple_packet() -> impl Strategy<Value = Packet> {
    (addresses(), simple_body()).prop_map(|((source, destination), body)| Packet {
        source,
        destination,
        body,
        part: Part::Whole,
        options: 0,
    })
}

fn drawn_packet() -> impl Strategy<Value = Packet> {
    let body = prop_oneof![
        8 => simple_body(),
        2 => simple_packet().prop_map(|quoted| Body::Error { quoted: Box::new(quoted) }),
        1 => Just(Body::Message),
    ];
    let part = prop_oneof![
        6 => Just(Part::Whole),
        1 => (0u16..3).prop_map(|id| Part::First { id }),
        1 => (0u16..3, 1u16..9).prop_map(|(id, start)| Part::Later { id, start }),
    ];
    (addresses(), body, part, 0usize..3).prop_map(|((source, destination), body, part, options)| Packet {
        source,
        destination,
        body,
        part,
        options,
    })
}

fn drawn_rule() -> impl Strategy<Value = PacketRule> {
    let words = ["tcp", "tcp 22", "tcp 400-50000", "udp 53", "udp", "icmp"];
    let set = || prop::option::of(0u32..4);
    (set(), set(), vec(0..words.len(), 0..3)).prop_map(move |(from, to, on)| {
        rule(from, to, &on.into_iter().map(|at| words[at]).collect::<Vec<_>>())
    })
}

fn drawn_rules() -> impl Strategy<Value = PacketRules> {
    let texts = ["10.1.0.1/32", "10.1.0.2/32", "10.1.0.0/24", "0.0.0.0/0", "192.168.7.0/24"];
    let texts6 = ["fd00::1/128", "fd00::2/128", "fd00::/64", "::/0"];
    let all: Vec<&str> = texts.into_iter().chain(texts6).collect();
    let ranges = prop::sample::subsequence(all.clone(), 0..=all.len());
    let sets = vec(vec(0u32..4, 0..3), all.len());
    let layers = vec(vec(drawn_rule(), 0..4), 0..3);
    (ranges, sets, layers).prop_map(|(ranges, sets, layers)| {
        let ranges = ranges.into_iter().map(|text| Prefix::parse(text).unwrap());
        PacketRules { ranges: ranges.zip(sets).collect(), layers, silent: false }
    })
}

fn deed() -> impl Strategy<Value = Deed> {
    let flags = prop_oneof![Just(ACK), Just(SYN | ACK), Just(ACK | FIN), Just(RST)];
    let wait = prop_oneof![6 => 1u32..12, 2 => 20u32..200, 1 => 17_000u32..20_000];
    prop_oneof![
        10 => (drawn_packet(), any::<bool>()).prop_map(|(packet, inbound)| Deed::Packet { packet, inbound }),
        6 => flags.prop_map(|flags| Deed::Reply { flags }),
        1 => prop::option::weighted(0.8, drawn_rules()).prop_map(Deed::Swap),
        2 => wait.prop_map(Deed::Wait),
    ]
}

fn agree(deeds: &[Deed]) -> Result<(), TestCaseError> {
    let (mut lab, mut twin, mut last) = (Lab::new(None), Twin::default(), None);
    twin.generation = lab.generation;
    for (at, deed) in deeds.iter().enumerate() {
        let (packet, inbound) = match deed {
            Deed::Swap(rules) => {
                lab.swap(rules.clone());
                (twin.rules, twin.generation) = (rules.clone(), lab.generation);
                continue;
            }
            Deed::Wait(seconds) => {
                lab.wait(*seconds);
                twin.now += seconds;
                continue;
            }
            Deed::Packet { packet, inbound } => (packet.clone(), *inbound),
            Deed::Reply { flags } => {
                let Some((packet, inbound)) = &last else { continue };
                let packet: &Packet = packet;
                (packet.reply(*flags), !inbound)
            }
        };
        let (fast, slow) = (lab.bytes_pass(&packet.bytes(), inbound), twin.judge(&packet, inbound));
        prop_assert_eq!(fast, slow, "deed {}: {:?} inbound {}", at, &packet, inbound);
        last = Some((packet, inbound));
    }
    Ok(())
}

proptest! {
    #![proptest_config(at_least(3_000))]

    #[test]
    fn the_filter_says_what_its_slow_twin_says(deeds in vec(deed(), 1..80)) {
        agree(&deeds)?;
    }

    #[test]
    fn rules_allow_what_one_by_one_they_allow(
        rules in drawn_rules(),
        more in vec(drawn_rule(), 0..200),
        (source, destination) in addresses(),
        (protocol, port) in (prop_oneof![Just(6u8), Just(17), Just(1), Just(58), Just(47)], ports()),
    ) {
        let mut rules = rules;
        rules.layers.push(more);
        let compiled = Rules::new(rules.clone(), None);
        let question = Question { source, destination, protocol, port: port.1 };
        let (from, to) = (sets(&rules, source), sets(&rules, destination));
        let is_about = |rule: &PacketRule| {
            rule.from.is_none_or(|set| from.contains(&set))
                && rule.to.is_none_or(|set| to.contains(&set))
                && (rule.on.is_empty() || rule.on.iter().any(|on| matches(on, protocol, (source, port.1))))
        };
        let slow = rules.layers.iter().all(|layer| layer.iter().any(is_about));
        prop_assert_eq!(compiled.allow(&question, true), slow);
        let firsts = rules.layers.iter().map(|layer| layer.iter().position(is_about));
        let expected: Vec<u64> = rules.layers.iter().zip(firsts).flat_map(|(layer, first)| {
            (0..layer.len()).map(move |at| (slow && Some(at) == first) as u64)
        }).collect();
        prop_assert_eq!(compiled.hits(), expected);
    }

    #[test]
    fn bytes_of_any_kind_do_no_harm(
        packets in vec((drawn_packet(), vec((0usize..120, any::<u8>()), 0..4), 0usize..60, any::<bool>()), 1..20),
    ) {
        let mut lab = Lab::new(Some(rules(vec![rule(None, None, &["tcp", "icmp"])])));
        for (packet, changes, missing, inbound) in packets {
            let mut bytes = packet.bytes();
            for (at, byte) in changes {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            bytes.truncate(bytes.len().saturating_sub(missing));
            let Ok(ip) = crate::packet::parse(&bytes) else { continue };
            let bytes = &bytes[..ip.len];
            lab.bytes_pass(bytes, inbound);
            if let Some(reply) = lab.told(bytes) {
                let told = crate::packet::parse(&reply);
                prop_assert!(told.is_ok_and(|told| (told.len, told.destination) == (reply.len(), ip.source)));
                prop_assert!(lab.told(&reply).is_none(), "no answer to an answer");
            }
            lab.wait(1);
        }
    }
}
