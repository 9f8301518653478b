//! Rules between whole engines: refused, told, counted and changed, by streams, sockets and through a node to its guest.
use super::guests::{Lab, lab};
use super::sockets::received;
use super::*;
use crate::filter::{Matched, PacketMatch, PacketRule, PacketRules};

const SYN: u8 = 2;
const RST_ACK: u8 = 0x14;
/// A great one, as clients have.
const CLIENT_PORT: [u8; 2] = [0x9c, 0x40];

fn range(text: &str, set: u32) -> (Prefix, Vec<u32>) {
    (Prefix::parse(text).unwrap(), vec![set])
}

/// Set 1 may reach set 2 by TCP on port 0x0304, to which all packets of these tests go.
fn rules(ranges: &[(&str, u32)]) -> PacketRules {
    let on = PacketMatch { protocol: Matched::Tcp, first_port: 0x304, last_port: 0x304 };
    let rule = PacketRule { from: Some(1), to: Some(2), on: vec![on] };
    PacketRules {
        ranges: ranges.iter().map(|(text, set)| range(text, *set)).collect(),
        layers: vec![vec![rule]],
        silent: false,
    }
}

/// Gives `end` rules; its peer keeps its tunnel.
fn ruled(end: &End, secret: u8, rules: Option<PacketRules>) {
    let (theirs, ours): (&[&str], &[&str]) = match secret {
        1 => (&["10.1.0.1/32", "fd00::1/128"], &["10.1.0.2/32", "fd00::2/128"]),
        _ => (&["10.1.0.2/32", "fd00::2/128"], &["10.1.0.1/32", "fd00::1/128"]),
    };
    let local: Vec<Prefix> = ours.iter().map(|text| Prefix::parse(text).unwrap()).collect();
    end.engine.set_table(vec![peer(secret, theirs)], &local, RulesChange::Set(rules)).unwrap();
}

const OPEN: [(&str, u32); 2] = [("10.1.0.1/32", 1), ("10.1.0.2/32", 2)];

#[test]
fn a_refused_connection_is_reset_and_a_refused_datagram_answered() {
    let (mut a, mut b) = connected();
    arrives(&mut a, &mut b, &from_client(9));
    ruled(&b, 1, Some(rules(&[])));
    let syn = Spec { flags: SYN, ..Spec::default() };
    // a connection from before is ended, and so is told
    assert!(a.kernel.send(&from_client(9)));
    let reset = until(&mut a, &mut b, |a, _| a.kernel.receive());
    assert_eq!((reset[33] & 4, &reset[12..20]), (4, &[10, 1, 0, 2, 10, 1, 0, 1][..]));
    assert!(a.kernel.send(&build(&Spec { v6: true, ..syn })));
    let reset = until(&mut a, &mut b, |a, _| a.kernel.receive());
    assert_eq!(reset[53], RST_ACK);
    assert!(a.kernel.send(&build(&Spec { tcp: false, payload: 30, ..Spec::default() })));
    let error = until(&mut a, &mut b, |a, _| a.kernel.receive());
    assert_eq!(error[20..22], [3, 13]);
    assert_eq!(b.dropped(Reason::RefusedByRules), 3);
    let refused = b.engine.take_refusals();
    assert_eq!((refused.len(), refused.iter().map(|(_, count)| count).sum::<u64>()), (3, 3));
    assert_eq!(b.kernel.receive(), None);
}

#[test]
fn rules_change_under_traffic_and_end_what_they_do_not_allow() {
    let (mut a, mut b) = connected();
    ruled(&b, 1, Some(rules(&OPEN)));
    arrives(&mut a, &mut b, &from_client(40));
    arrives(&mut b, &mut a, &answer());
    assert!(a.kernel.send(&build(&Spec { tcp: false, payload: 30, ..Spec::default() })));
    until(&mut a, &mut b, |a, b| {
        (a.kernel.receive().is_some() && b.dropped(Reason::RefusedByRules) == 1).then_some(())
    });
    // the same table again changes nothing
    b.table(peer(1, &["10.1.0.1/32", "fd00::1/128"]), &["10.1.0.2/32", "fd00::2/128"]);
    assert!(a.kernel.send(&build(&Spec { tcp: false, payload: 30, ..Spec::default() })));
    until(&mut a, &mut b, |_, b| (b.dropped(Reason::RefusedByRules) == 2).then_some(()));
    ruled(&b, 1, Some(rules(&[])));
    assert!(b.kernel.send(&answer()));
    let reset = until(&mut a, &mut b, |_, b| b.kernel.receive());
    assert_eq!(reset[33] & 4, 4, "the own side hears that the connection is over");
    ruled(&b, 1, None);
    arrives(&mut a, &mut b, &build(&Spec { tcp: false, payload: 30, ..Spec::default() }));
}

/// What a sends on a connection that it made.
fn from_client(payload: usize) -> Vec<u8> {
    let mut packet = build(&Spec { payload, ..Spec::default() });
    packet[20..22].copy_from_slice(&CLIENT_PORT);
    packet
}

/// What b sends back on it.
fn answer() -> Vec<u8> {
    let mut packet =
        build(&Spec { source: "10.1.0.2", destination: "10.1.0.1", payload: 4, ..Spec::default() });
    packet[20..22].copy_from_slice(&[3, 4]);
    packet[22..24].copy_from_slice(&CLIENT_PORT);
    packet
}

#[test]
fn super_segments_pass_whole_where_their_flow_may() {
    let (mut a, mut b) = joined(true);
    ruled(&b, 1, Some(rules(&OPEN)));
    let (header, bytes) = build_super(&Spec { payload: 1300 * 30, ..Spec::default() }, 1300);
    let mut piece = vec![0; HEADER];
    header.encode(&mut piece).unwrap();
    piece.extend_from_slice(&bytes);
    assert!(a.kernel.send_piece(&piece));
    let mut payload = 0;
    until(&mut a, &mut b, |_, b| {
        while let Some(got) = b.kernel.receive() {
            payload += got.len() - HEADER - header.hdr_len as usize;
        }
        (payload == 1300 * 30).then_some(())
    });
    assert_eq!((b.engine.rule_hits(), b.dropped(Reason::RefusedByRules)), (vec![1], 0));
}

/// The node is an exit and routes a network: the longest range says who may reach what.
#[test]
fn exit_and_routed_networks_are_judged_by_their_longest_range() {
    let (mut a, mut b) = connected();
    a.table(peer(2, &["0.0.0.0/0"]), &["10.1.0.1/32"]);
    let local = ["10.1.0.2/32", "192.168.7.0/24", "0.0.0.0/0"].map(|text| Prefix::parse(text).unwrap());
    let ruled = |b: &End, ranges: &[(&str, u32)]| {
        let rules = RulesChange::Set(Some(rules(ranges)));
        b.engine.set_table(vec![peer(1, &["10.1.0.1/32"])], &local, rules).unwrap();
    };
    let to =
        |destination: &'static str| build(&Spec { destination, flags: SYN, payload: 9, ..Spec::default() });
    ruled(&b, &[("10.1.0.1/32", 1), ("0.0.0.0/0", 2), ("192.168.7.0/24", 3)]);
    arrives(&mut a, &mut b, &to("192.0.2.5"));
    for (count, destination) in [(1, "192.168.7.5"), (2, "192.168.7.9")] {
        assert!(a.kernel.send(&to(destination)));
        until(&mut a, &mut b, |_, b| (b.dropped(Reason::RefusedByRules) == count).then_some(()));
    }
    ruled(&b, &[("10.1.0.1/32", 1), ("0.0.0.0/0", 3), ("192.168.7.0/24", 2)]);
    arrives(&mut a, &mut b, &to("192.168.7.5"));
    assert!(a.kernel.send(&to("192.0.2.5")));
    until(&mut a, &mut b, |_, b| (b.dropped(Reason::RefusedByRules) == 3).then_some(()));
}

#[test]
fn a_legacy_member_is_judged_like_others() {
    let a = End::new(1, false);
    let config = PeerConfig { tunnel: Tunnel::Legacy, ..peer(2, &["10.1.0.2/32"]) };
    let local = [Prefix::parse("10.1.0.1/32").unwrap()];
    let only = rules(&[("10.1.0.2/32", 1), ("10.1.0.1/32", 2)]);
    a.engine.set_table(vec![config], &local, RulesChange::Set(Some(only))).unwrap();
    let from_legacy = |tcp| Spec { tcp, source: "10.1.0.2", destination: "10.1.0.1", ..Spec::default() };
    let stream = [build(&from_legacy(false)), build(&from_legacy(true))].concat();
    a.engine.inject_packets(PEER, &stream);
    assert_eq!(received(&a), build(&from_legacy(true)));
    assert_eq!(a.dropped(Reason::RefusedByRules), 1);
}

fn packet(source: &'static str, destination: &'static str) -> Vec<u8> {
    build(&Spec { source, destination, flags: SYN, payload: 20, ..Spec::default() })
}

impl Lab {
    fn rule(&self, rules: PacketRules) {
        self.set_ruled_table(true, RulesChange::Set(Some(rules)));
    }
}

#[test]
fn a_member_reaches_a_guest_as_the_rules_of_its_node_say() {
    let lab = lab();
    lab.rule(rules(&[("10.1.0.9/32", 2)]));
    assert!(lab.guest.kernel.send(&packet("10.1.0.9", "10.1.0.2")), "the member judges this, not the node");
    assert_eq!(received(&lab.member), packet("10.1.0.9", "10.1.0.2"));
    let from_member = build(&Spec {
        tcp: false,
        source: "10.1.0.2",
        destination: "10.1.0.9",
        payload: 20,
        ..Spec::default()
    });
    assert!(lab.member.kernel.send(&from_member));
    assert_eq!(received(&lab.member)[20..22], [3, 13]);
    assert_eq!(lab.guest.kernel.receive(), None);
    lab.rule(rules(&[("10.1.0.9/32", 2), ("10.1.0.2/32", 1)]));
    assert!(lab.member.kernel.send(&packet("10.1.0.2", "10.1.0.9")));
    assert_eq!(received(&lab.guest), packet("10.1.0.2", "10.1.0.9"));
}

#[test]
fn a_guest_reaches_its_own_node_as_the_rules_say() {
    let lab = lab();
    lab.rule(rules(&[("10.1.0.1/32", 2)]));
    assert!(lab.guest.kernel.send(&packet("10.1.0.9", "10.1.0.1")));
    assert_eq!(received(&lab.guest)[33] & 4, 4, "a reset");
    assert!(lab.node.kernel.send(&packet("10.1.0.1", "10.1.0.9")), "what the node itself begins passes");
    assert_eq!(received(&lab.guest), packet("10.1.0.1", "10.1.0.9"));
}

#[test]
fn a_routed_machine_reaches_a_guest_as_the_rules_say() {
    let lab = lab();
    lab.rule(rules(&[("10.1.0.9/32", 2)]));
    assert!(lab.guest.kernel.send(&packet("10.1.0.9", "10.1.0.2")), "the guest is heard");
    received(&lab.member);
    assert!(lab.node.kernel.send(&packet("10.1.0.77", "10.1.0.9")));
    assert_eq!(received(&lab.node)[33] & 4, 4, "a reset");
    lab.rule(rules(&[("10.1.0.9/32", 2), ("10.1.0.77/32", 1)]));
    assert!(lab.node.kernel.send(&packet("10.1.0.77", "10.1.0.9")));
    assert_eq!(received(&lab.guest), packet("10.1.0.77", "10.1.0.9"));
}
