//! What the filter promises, one by one.
use super::lab::*;
use crate::filter::PacketRule;
use crate::limits::*;

/// The peer may reach tcp 22 and udp 53 of this node.
fn some() -> Vec<PacketRule> {
    vec![rule(Some(2), Some(1), &["tcp 22", "udp 53"])]
}

fn from_peer(body: Body) -> Packet {
    packet("10.1.0.2", "10.1.0.1", body)
}

fn to_peer(body: Body) -> Packet {
    packet("10.1.0.1", "10.1.0.2", body)
}

#[test]
fn without_rules_everything_passes() {
    let lab = Lab::new(None);
    let after = [tcp((5, 6), RST, 0), tcp((5, 6), ACK, 9)];
    let others = [tcp((5, 6), ACK, 3), udp((5, 6)), Body::Message, Body::Bare { protocol: 47 }];
    for body in others.into_iter().chain(after) {
        assert!(lab.comes(&from_peer(body)));
    }
    assert!(lab.comes(&Packet { part: Part::Later { id: 3, start: 9 }, ..from_peer(udp((1, 2))) }));
}

#[test]
fn a_rule_allows_what_it_names_and_what_answers_it() {
    let lab = Lab::new(Some(rules(some())));
    let syn = from_peer(tcp((40_000, 22), SYN, 0));
    assert!(lab.comes(&syn) && lab.leaves(&syn.reply(SYN | ACK)));
    assert!(lab.comes(&from_peer(tcp((40_000, 22), ACK, 10))));
    for body in [tcp((40_000, 23), SYN, 0), udp((40_000, 22)), Body::Ask { id: 1 }, tcp((22, 40_000), SYN, 0)]
    {
        assert!(!lab.comes(&from_peer(body)));
    }
    assert!(!lab.comes(&packet("10.1.0.3", "10.1.0.1", tcp((40_000, 22), SYN, 0))));
    assert_eq!(lab.rules.as_ref().unwrap().hits(), [1]);
}

#[test]
fn what_this_node_begins_is_answered() {
    let lab = Lab::new(Some(rules(vec![])));
    let syn = to_peer(tcp((40_000, 443), SYN, 0));
    assert!(!lab.comes(&syn.reply(SYN | ACK)), "nothing was asked yet");
    assert!(lab.leaves(&syn) && lab.comes(&syn.reply(SYN | ACK)) && lab.comes(&syn.reply(ACK)));
    for question in [udp((40_000, 53)), Body::Ask { id: 9 }, Body::Bare { protocol: 47 }] {
        let question = to_peer(question);
        assert!(!lab.comes(&question.reply(0)));
        assert!(lab.leaves(&question) && lab.comes(&question.reply(0)), "{question:?}");
    }
    let v6 = packet("fd00::1", "fd00::2", Body::Ask { id: 9 });
    assert!(lab.leaves(&v6) && lab.comes(&v6.reply(0)));
    assert!(!lab.comes(&packet("fd00::2", "fd00::1", Body::Ask { id: 9 })));
}

#[test]
fn icmp_stands_for_both_families_and_protocols_without_ports_need_a_rule_about_everything() {
    let lab = Lab::new(Some(rules(vec![rule(Some(2), Some(1), &["icmp"])])));
    assert!(lab.comes(&from_peer(Body::Ask { id: 4 })));
    assert!(lab.comes(&packet("fd00::2", "fd00::1", Body::Ask { id: 4 })));
    assert!(!lab.comes(&from_peer(Body::Bare { protocol: 47 })));
    let lab = Lab::new(Some(rules(vec![rule(Some(2), None, &[])])));
    for protocol in [47, 50, 132, 33, 136] {
        assert!(lab.comes(&from_peer(Body::Bare { protocol }).with_ports()));
    }
}

impl Packet {
    fn with_ports(self) -> Packet {
        match self.body {
            Body::Bare { protocol: protocol @ (33 | 132 | 136) } => {
                Packet { body: Body::Ports { protocol, ports: (4, 5) }, ..self }
            }
            _ => self,
        }
    }
}

#[test]
fn every_layer_must_allow() {
    let mut two = rules(some());
    two.layers.push(vec![rule(None, None, &["tcp 1-100"])]);
    let lab = Lab::new(Some(two.clone()));
    assert!(lab.comes(&from_peer(tcp((4, 22), SYN, 0))));
    assert!(!lab.comes(&from_peer(udp((4, 53)))));
    assert_eq!(lab.rules.as_ref().unwrap().hits(), [1, 1]);
    two.layers.push(vec![]);
    assert!(!Lab::new(Some(two)).comes(&from_peer(tcp((4, 22), SYN, 0))));
}

#[test]
fn a_change_ends_what_is_no_longer_allowed_and_nothing_else() {
    let mut lab = Lab::new(None);
    let (ssh, web) = (from_peer(tcp((40_000, 22), SYN, 0)), from_peer(tcp((40_001, 80), SYN, 0)));
    let own = to_peer(udp((40_002, 4000)));
    for syn in [&ssh, &web] {
        assert!(lab.comes(syn) && lab.leaves(&syn.reply(SYN | ACK)));
    }
    assert!(lab.leaves(&own) && lab.comes(&own.reply(0)));
    lab.swap(Some(rules(some())));
    assert!(lab.comes(&from_peer(tcp((40_000, 22), ACK, 5))) && lab.leaves(&ssh.reply(ACK)));
    assert!(lab.comes(&own.reply(0)) && lab.leaves(&own));
    assert!(!lab.leaves(&web.reply(ACK)), "also what leaves is refused");
    assert!(!lab.comes(&from_peer(tcp((40_001, 80), ACK, 5))));
    lab.swap(Some(rules(vec![])));
    assert!(!lab.comes(&from_peer(tcp((40_000, 22), ACK, 5))));
    assert!(lab.comes(&own.reply(0)));
    lab.swap(Some(rules(vec![rule(Some(2), None, &[])])));
    assert!(lab.comes(&from_peer(tcp((40_001, 80), ACK, 5))), "allowed again before it was forgotten");
}

#[test]
fn a_refused_flow_stays_refused_while_this_node_goes_on_sending() {
    let mut lab = Lab::new(None);
    let feed = from_peer(udp((5000, 6000)));
    assert!(lab.comes(&feed) && lab.leaves(&feed.reply(0)));
    lab.swap(Some(rules(vec![])));
    for _ in 0..20 {
        assert!(!lab.leaves(&feed.reply(0)) && !lab.comes(&feed));
        lab.wait(20);
    }
    lab.wait(31);
    assert!(lab.leaves(&feed.reply(0)), "by now it is a flow of this node's own");
}

#[test]
fn tcp_that_ended_takes_no_new_data() {
    let lab = Lab::new(Some(rules(some())));
    let syn = from_peer(tcp((40_000, 22), SYN, 0));
    assert!(lab.comes(&syn) && lab.leaves(&syn.reply(SYN | ACK)));
    assert!(lab.comes(&from_peer(tcp((40_000, 22), ACK | FIN, 10))));
    assert!(lab.leaves(&syn.reply(ACK | FIN)));
    assert!(lab.comes(&from_peer(tcp((40_000, 22), ACK, 10))), "sent again");
    assert!(!lab.comes(&from_peer(tcp((40_000, 22), ACK, 11))));
    assert!(lab.comes(&from_peer(tcp((40_000, 22), ACK, 0))));
    assert!(lab.comes(&syn), "a new connection");
    assert!(lab.comes(&from_peer(tcp((40_000, 22), ACK, 11))));
    assert!(lab.leaves(&syn.reply(RST)));
    assert!(!lab.comes(&from_peer(tcp((40_000, 22), ACK, 1))));
}

#[test]
fn flows_are_forgotten_as_systems_do() {
    let mut lab = Lab::new(Some(rules(vec![])));
    let question = to_peer(udp((40_000, 53)));
    assert!(lab.leaves(&question));
    lab.wait(31);
    assert!(!lab.comes(&question.reply(0)));
    assert!(lab.leaves(&question) && lab.comes(&question.reply(0)));
    lab.wait(170);
    assert!(lab.comes(&question.reply(0)));
    lab.wait(181);
    assert!(!lab.comes(&question.reply(0)));
    let syn = to_peer(tcp((40_000, 22), SYN, 0));
    assert!(
        lab.leaves(&syn)
            && lab.comes(&syn.reply(SYN | ACK))
            && lab.leaves(&to_peer(tcp((40_000, 22), ACK, 0)))
    );
    lab.wait(4 * 3600);
    assert!(lab.comes(&syn.reply(ACK)));
}

#[test]
fn a_connection_from_before_a_restart_goes_on() {
    let lab = Lab::new(Some(rules(some())));
    assert!(lab.comes(&from_peer(tcp((40_000, 22), ACK, 5))), "allowed: the peer began it");
    assert!(lab.leaves(&to_peer(tcp((40_000, 443), ACK, 5))), "this node connected");
    assert!(lab.comes(&from_peer(tcp((443, 40_000), ACK, 5))));
    assert!(!lab.leaves(&to_peer(tcp((80, 40_000), ACK, 5))), "the peer connected, and may not");
}

#[test]
fn without_rules_the_one_with_the_greater_port_began_what_was_there_before() {
    let mut lab = Lab::new(None);
    assert!(
        lab.comes(&from_peer(tcp((443, 40_000), ACK, 5))) && lab.comes(&from_peer(tcp((40_001, 22), ACK, 5)))
    );
    lab.swap(Some(rules(vec![])));
    assert!(lab.comes(&from_peer(tcp((443, 40_000), ACK, 5))), "this node connected");
    assert!(!lab.comes(&from_peer(tcp((40_001, 22), ACK, 5))));
    assert!(!lab.comes(&from_peer(tcp((443, 40_000), SYN, 0))), "it opens nothing new");
}

#[test]
fn errors_of_known_flows_pass_in_both_families() {
    for (node, peer, router) in [("10.1.0.1", "10.1.0.2", "10.1.0.2"), ("fd00::1", "fd00::2", "fd00::2")] {
        let lab = Lab::new(Some(rules(vec![])));
        let sent = packet(node, peer, udp((40_000, 53)));
        let error = packet(router, node, Body::Error { quoted: Box::new(sent.clone()) });
        assert!(!lab.comes(&error));
        assert!(lab.leaves(&sent) && lab.comes(&error));
        // what the peer sent itself was not sent by this node
        let turned = packet(router, node, Body::Error { quoted: Box::new(sent.reply(0)) });
        assert!(!lab.comes(&turned));
    }
}

#[test]
fn fragments_follow_their_first_one() {
    for (source, destination) in [("10.1.0.2", "10.1.0.1"), ("fd00::2", "fd00::1")] {
        let mut lab = Lab::new(Some(rules(some())));
        let part = |part, port| Packet { part, ..packet(source, destination, udp((9, port))) };
        assert!(!lab.comes(&part(Part::Later { id: 5, start: 4 }, 53)), "before the first one");
        assert!(lab.comes(&part(Part::First { id: 5 }, 53)));
        assert!(lab.comes(&part(Part::Later { id: 5, start: 4 }, 53)));
        assert!(lab.comes(&part(Part::Later { id: 5, start: 7 }, 53)));
        assert!(!lab.comes(&part(Part::Later { id: 5, start: 3 }, 53)), "over the first one");
        assert!(!lab.comes(&part(Part::First { id: 5 }, 53)), "a second first one");
        assert!(!lab.comes(&part(Part::First { id: 6 }, 54)));
        assert!(!lab.comes(&part(Part::Later { id: 6, start: 4 }, 54)));
        lab.wait(31);
        assert!(!lab.comes(&part(Part::Later { id: 5, start: 9 }, 53)));
    }
}

#[test]
fn refusals_are_counted_by_pair_protocol_and_port() {
    let lab = Lab::new(Some(rules(vec![])));
    for _ in 0..3 {
        lab.told(&from_peer(tcp((40_000, 22), SYN, 0)).bytes());
    }
    lab.told(&from_peer(Body::Ask { id: 3 }).bytes());
    let mut taken = lab.filter.take_refusals();
    taken.sort_by_key(|(refused, _)| refused.protocol);
    let seen: Vec<_> =
        taken.iter().map(|(refused, count)| (refused.protocol, refused.port, *count)).collect();
    assert_eq!(seen, [(1, None, 1), (6, Some(22), 3)]);
    assert!(lab.filter.take_refusals().is_empty());
}

#[test]
fn silent_rules_tell_nothing() {
    let lab = Lab::new(Some(crate::filter::PacketRules { silent: true, ..rules(vec![]) }));
    assert_eq!(lab.told(&from_peer(tcp((40_000, 22), SYN, 0)).bytes()), None);
    assert_eq!(lab.filter.take_refusals().len(), 1);
}

#[test]
fn refusals_are_told_at_a_bounded_rate() {
    let mut lab = Lab::new(Some(rules(vec![])));
    let syn = from_peer(tcp((40_000, 22), SYN, 0)).bytes();
    let told = |lab: &Lab| (0..1000).filter(|_| lab.told(&syn).is_some()).count() as u32;
    assert_eq!(told(&lab), TOLD_PER_PEER);
    lab.wait(1);
    assert_eq!(told(&lab), TOLD_PER_PEER);
}
