//! A node between a guest and a member: the guest is a stock WireGuard device, played by an engine with one peer.
use super::sockets::{address_of, eventually, received};
use super::*;

const MEMBER: u32 = 2;

pub struct Lab {
    pub guest: End,
    pub node: End,
    pub member: End,
}

/// The guest is 10.1.0.9, the node 10.1.0.1, the member 10.1.0.2; node and member reach each other by sockets.
pub fn lab() -> Lab {
    let (guest, node, member) = (End::new(9, false), End::new(1, false), End::new(2, false));
    let to_node = Path { endpoint: Some(address_of(&node)), stream: false, ..Path::STREAM };
    guest.table(PeerConfig { path: to_node, ..peer(1, &["10.1.0.0/24"]) }, &["10.1.0.9/32"]);
    let owned = peer(1, &["10.1.0.1/32", "10.1.0.9/32"]);
    member.table(PeerConfig { path: to_node, ..owned }, &["10.1.0.2/32"]);
    let lab = Lab { guest, node, member };
    lab.set_table(true);
    lab
}

impl Lab {
    fn set_table(&self, has_guest: bool) {
        self.set_ruled_table(has_guest, RulesChange::Keep);
    }

    pub fn set_ruled_table(&self, has_guest: bool, rules: RulesChange) {
        let to_member = Path { endpoint: Some(address_of(&self.member)), stream: false, ..Path::STREAM };
        let mut peers = vec![PeerConfig { id: MEMBER, path: to_member, ..peer(2, &["10.1.0.2/32"]) }];
        if has_guest {
            peers.push(PeerConfig { path: Path::HEARD, ..peer(9, &["10.1.0.9/32"]) });
        }
        self.node.engine.set_table(peers, &[Prefix::parse("10.1.0.1/32").unwrap()], rules).unwrap();
    }
}

fn packet(source: &'static str, destination: &'static str, payload: usize) -> Vec<u8> {
    build(&Spec { source, destination, payload, ..Spec::default() })
}

fn passes(from: &End, to: &End, packet: &[u8]) {
    assert!(from.kernel.send(packet));
    let got = received(to);
    assert_eq!(&got[got.len() - packet.len()..], packet);
}

#[test]
fn a_guests_packets_go_on_to_a_member_and_back() {
    let lab = lab();
    passes(&lab.guest, &lab.member, &packet("10.1.0.9", "10.1.0.2", 20));
    passes(&lab.member, &lab.guest, &packet("10.1.0.2", "10.1.0.9", 700));
    passes(&lab.guest, &lab.member, &packet("10.1.0.9", "10.1.0.2", 1300));
    assert_eq!(lab.node.kernel.receive(), None, "the device of the node between sees nothing");
}

#[test]
fn a_guest_reaches_the_node_itself() {
    let lab = lab();
    passes(&lab.guest, &lab.node, &packet("10.1.0.9", "10.1.0.1", 20));
    passes(&lab.node, &lab.guest, &packet("10.1.0.1", "10.1.0.9", 20));
}

#[test]
fn a_guest_reaches_the_node_itself_while_that_uses_an_exit() {
    let lab = lab();
    let to_member = Path { endpoint: Some(address_of(&lab.member)), stream: false, ..Path::STREAM };
    let exit = PeerConfig { id: MEMBER, path: to_member, ..peer(2, &["10.1.0.2/32", "0.0.0.0/0"]) };
    let guest = PeerConfig { path: Path::HEARD, ..peer(9, &["10.1.0.9/32"]) };
    let local = [Prefix::parse("10.1.0.1/32").unwrap()];
    lab.node.engine.set_table(vec![exit, guest], &local, RulesChange::Keep).unwrap();
    passes(&lab.guest, &lab.node, &packet("10.1.0.9", "10.1.0.1", 20));
}

#[test]
fn a_guest_speaks_for_its_own_address_alone() {
    let lab = lab();
    assert!(lab.guest.kernel.send(&packet("10.1.0.3", "10.1.0.2", 20)));
    counted(&lab.node, Reason::SpoofedSource, 1);
}

#[test]
fn members_are_not_carried_for() {
    let lab = lab();
    lab.member.table(
        PeerConfig {
            path: Path { endpoint: Some(address_of(&lab.node)), stream: false, ..Path::STREAM },
            ..peer(1, &["10.1.0.0/24"])
        },
        &["10.1.0.2/32"],
    );
    assert!(lab.member.kernel.send(&packet("10.1.0.2", "10.1.0.3", 20)));
    let dropped = || {
        let table = lab.node.engine.table();
        let count = table.entry(MEMBER).unwrap().peer.counters.dropped(Reason::NotForUs);
        (count == 1).then_some(())
    };
    eventually(dropped, "a packet for nobody");
}

#[test]
fn a_guest_that_was_removed_is_silent_at_once() {
    let lab = lab();
    passes(&lab.guest, &lab.member, &packet("10.1.0.9", "10.1.0.2", 20));
    lab.set_table(false);
    assert!(lab.guest.kernel.send(&packet("10.1.0.9", "10.1.0.2", 20)));
    let counters = lab.node.engine.counters();
    eventually(|| (counters.dropped(Reason::UnknownSession) > 0).then_some(()), "a packet of nobody");
    assert_eq!(lab.member.kernel.receive(), None);
}

#[test]
fn packets_for_a_guest_that_was_never_heard_are_dropped_and_counted() {
    let lab = lab();
    assert!(lab.node.kernel.send(&packet("10.1.0.1", "10.1.0.9", 20)));
    counted(&lab.node, Reason::NoSession, 1);
}

#[test]
fn a_guest_hears_of_packets_that_are_too_big_for_the_next_tunnel() {
    let lab = lab();
    passes(&lab.guest, &lab.member, &packet("10.1.0.9", "10.1.0.2", 20));
    let to_member = Path { endpoint: Some(address_of(&lab.member)), stream: false, ..Path::STREAM };
    let narrow = PeerConfig { id: MEMBER, mtu: 1280, path: to_member, ..peer(2, &["10.1.0.2/32"]) };
    let guest = PeerConfig { path: Path::HEARD, ..peer(9, &["10.1.0.9/32"]) };
    lab.node.engine.set_table(vec![narrow, guest], &[], RulesChange::Keep).unwrap();
    assert!(lab.guest.kernel.send(&packet("10.1.0.9", "10.1.0.2", 1310)));
    let told = received(&lab.guest);
    let ip = parse(&told).unwrap();
    assert_eq!(ip.protocol, crate::packet::ICMP);
    assert_eq!(get16(&told, ip.transport + 6), 1280);
}
