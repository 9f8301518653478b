//! Engines whose devices have several queues, each with a thread each way: order within a flow, one table, one port, and
//! bounds that all threads share.
use super::sockets::{address_of, eventually};
use super::*;
use crate::socket::SocketConfig;
use std::collections::HashMap;
use std::net::UdpSocket as PlainSocket;
use std::sync::atomic::Ordering::Relaxed;

/// How many members speak with the hub, and how many flows each has.
const MEMBERS: u8 = 6;
const FLOWS: u8 = 8;

/// Several members, and the hub that all of them speak with; sessions are there. Member `n` has 10.2.n.0/24, and the hub
/// 10.3.0.0/16.
struct Star {
    hub: End,
    members: Vec<End>,
}

fn star(queues: usize) -> Star {
    let hub = End::with_queues(100, false, queues);
    let members: Vec<End> = (0..MEMBERS).map(|n| End::with_queues(n + 1, false, queues)).collect();
    let star = Star { hub, members };
    star.set_hub_table();
    for (n, member) in (0..).zip(&star.members) {
        let range = format!("10.2.{n}.0/24");
        let path = Path { endpoint: Some(address_of(&star.hub)), stream: false, ..Path::STREAM };
        member.table(PeerConfig { path, ..peer(100, &["10.3.0.0/16"]) }, &[&range]);
        assert!(member.kernel.send(&up(n, 0, 0)));
        eventually(|| star.hub.kernel.receive(), "the first packet");
        assert!(star.hub.kernel.send(&down(n, 0, 0)));
        eventually(|| member.kernel.receive(), "its answer");
    }
    star
}

impl Star {
    fn set_hub_table(&self) {
        let peer_of = |(n, member): (u8, &End)| PeerConfig {
            id: n as u32 + 1,
            path: Path { endpoint: Some(address_of(member)), stream: false, ..Path::STREAM },
            ..peer(n + 1, &[&format!("10.2.{n}.0/24")])
        };
        let local = [Prefix::parse("10.3.0.0/16").unwrap()];
        self.hub
            .engine
            .set_table((0..).zip(&self.members).map(peer_of).collect(), &local, RulesChange::Keep)
            .unwrap();
    }
}

/// A packet of member `n` to the hub, of one of its flows.
fn up(n: u8, flow: u8, sequence: u32) -> Vec<u8> {
    between([format!("10.2.{n}.{flow}"), format!("10.3.{n}.{flow}")], flow, sequence)
}

/// A packet of the hub to member `n`.
fn down(n: u8, flow: u8, sequence: u32) -> Vec<u8> {
    between([format!("10.3.{n}.{flow}"), format!("10.2.{n}.{flow}")], flow, sequence)
}

fn between([source, destination]: [String; 2], flow: u8, sequence: u32) -> Vec<u8> {
    let payload = 50 + flow as usize;
    build(&Spec { source: &source, destination: &destination, sequence, payload, ..Spec::default() })
}

/// The flow that a packet belongs to, by its addresses, and its number in it.
fn flow_of(packet: &[u8]) -> ([u8; 8], u32) {
    (*packet[12..20].first_chunk().unwrap(), u32::from_be_bytes(*packet[24..28].first_chunk().unwrap()))
}

/// Takes what arrives until there are `count`, and holds each flow's order.
struct InOrder {
    next: HashMap<[u8; 8], u32>,
    count: usize,
}

impl InOrder {
    fn new() -> InOrder {
        InOrder { next: HashMap::new(), count: 0 }
    }

    fn take(&mut self, kernel: &MemoryEnd) {
        while let Some(packet) = kernel.receive() {
            let (flow, sequence) = flow_of(&packet);
            let next = self.next.entry(flow).or_insert(1);
            assert_eq!(sequence, *next, "of the flow {flow:?}");
            *next += 1;
            self.count += 1;
        }
    }

    fn take_all(&mut self, kernel: &MemoryEnd, count: usize) {
        let all = || {
            self.take(kernel);
            (self.count == count).then_some(())
        };
        eventually(all, "all packets");
    }
}

fn sum(end: &End, of: impl Fn(&crate::counters::Counters) -> u64) -> u64 {
    end.engine.table().entries().iter().map(|entry| of(&entry.peer.counters)).sum()
}

fn keeps_the_order_of_each_flow(queues: usize) {
    let Star { hub, members } = &star(queues);
    let ways: std::collections::HashSet<usize> = (0..FLOWS)
        .flat_map(|flow| (0..MEMBERS).map(move |n| (n, flow)))
        .map(|(n, flow)| hub.kernel.number_of(&down(n, flow, 0)))
        .collect();
    assert_eq!(ways.len(), queues, "all queues are used");
    let (mut at_hub, mut at_members) = (InOrder::new(), Vec::new());
    at_members.resize_with(members.len(), InOrder::new);
    // few at a time, as the memory device holds some hundred packets
    let (rounds, burst) = (30, 3);
    for round in 0..rounds {
        for sequence in (1..=burst).map(|n| round * burst + n) {
            for (n, member) in (0..).zip(members) {
                for flow in 0..FLOWS {
                    assert!(member.kernel.send(&up(n, flow, sequence)));
                    assert!(hub.kernel.send(&down(n, flow, sequence)));
                }
            }
        }
        let sent = (round + 1) as usize * burst as usize * FLOWS as usize;
        at_hub.take_all(&hub.kernel, sent * members.len());
        for (order, member) in at_members.iter_mut().zip(members) {
            order.take_all(&member.kernel, sent);
        }
    }
    // with the first packet of each member
    let sent = (rounds * burst * FLOWS as u32 * MEMBERS as u32 + MEMBERS as u32) as u64;
    assert_eq!(sum(hub, |counters| counters.packets_out.load(Relaxed)), sent);
    assert_eq!(sum(hub, |counters| counters.packets_in.load(Relaxed)), sent);
    assert_eq!(sum(hub, |counters| counters.drops().map(|(_, count)| count).sum()), 0);
}

#[test]
fn each_flow_keeps_its_order_over_two_queues() {
    keeps_the_order_of_each_flow(2);
}

#[test]
fn each_flow_keeps_its_order_over_four_queues() {
    keeps_the_order_of_each_flow(4);
}

#[test]
fn super_segments_of_many_flows_pass_by_all_queues() {
    let (a, b) = (End::with_queues(1, true, 4), End::with_queues(2, true, 4));
    let to = |end: &End| Path { endpoint: Some(address_of(end)), stream: false, ..Path::STREAM };
    a.table(PeerConfig { path: to(&b), ..peer(2, &["10.3.0.0/16"]) }, &["10.2.0.0/16"]);
    b.table(PeerConfig { path: to(&a), ..peer(1, &["10.2.0.0/16"]) }, &["10.3.0.0/16"]);
    let mut payloads: HashMap<[u8; 8], Vec<u8>> = HashMap::new();
    let (mut sent, mut expected) = (0, Vec::new());
    for flow in 0..16 {
        let (source, destination) = (format!("10.2.0.{flow}"), format!("10.3.0.{flow}"));
        let spec =
            Spec { source: &source, destination: &destination, payload: 1300 * 9 + flow, ..Spec::default() };
        let (header, bytes) = build_super(&spec, 1300);
        let mut piece = vec![0; HEADER];
        header.encode(&mut piece).unwrap();
        piece.extend_from_slice(&bytes);
        assert!(a.kernel.send_piece(&piece));
        let head = header.hdr_len as usize;
        expected.push((*bytes[12..20].first_chunk::<8>().unwrap(), bytes[head..].to_vec()));
        sent += bytes.len() - head;
        let mut got = || {
            while let Some(piece) = b.kernel.receive() {
                let packet = &piece[HEADER..];
                payloads.entry(flow_of(packet).0).or_default().extend_from_slice(&packet[head..]);
            }
            (payloads.values().map(Vec::len).sum::<usize>() == sent).then_some(())
        };
        eventually(&mut got, "the payload");
    }
    for (flow, payload) in expected {
        assert_eq!(payloads.remove(&flow).as_ref(), Some(&payload), "{flow:?}");
    }
}

#[test]
fn a_peer_that_leaves_the_table_is_silent_at_once_on_all_queues() {
    let Star { hub, members } = &star(4);
    hub.engine.set_table(vec![], &[], RulesChange::Keep).unwrap();
    for (n, member) in (0..).zip(members) {
        assert!(member.kernel.send(&up(n, 0, 1)));
        for flow in 0..FLOWS {
            assert!(hub.kernel.send(&down(n, flow, 1)));
        }
    }
    let counters = hub.engine.counters();
    let all = |reason, count: u8| (counters.dropped(reason) >= count as u64).then_some(());
    eventually(|| all(Reason::UnknownSession, MEMBERS), "their packets");
    eventually(|| all(Reason::NoRoute, MEMBERS * FLOWS), "the hub's packets");
    assert_eq!(hub.kernel.receive(), None);
    assert!(members.iter().all(|member| member.kernel.receive().is_none()));
}

#[test]
fn what_comes_by_the_stream_goes_to_the_queue_that_the_peers_datagrams_go_to() {
    let Star { hub, mut members } = star(4);
    for (n, member) in (0..).zip(&mut members) {
        assert!(member.kernel.send(&up(n, 0, 1)));
        let queue = || (0..4).find(|queue| hub.kernel.receive_by(*queue).is_some());
        let queue = eventually(queue, "a packet by the socket");
        member.table(peer(100, &["10.3.0.0/16"]), &["10.2.0.0/16"]);
        assert!(member.kernel.send(&up(n, 1, 1)));
        hub.engine.inject(n as u32 + 1, &taken(member));
        eventually(|| hub.kernel.receive_by(queue), "a packet by the stream");
    }
}

#[test]
fn stops_at_once_though_all_queues_are_busy() {
    let Star { hub, members } = star(4);
    for sequence in 0..20 {
        for (n, member) in (0..).zip(&members) {
            for flow in 0..FLOWS {
                member.kernel.send(&up(n, flow, sequence));
                hub.kernel.send(&down(n, flow, sequence));
            }
        }
    }
    let began = Instant::now();
    // waits for all of its threads
    drop(hub);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let began = Instant::now();
    drop(members);
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

#[test]
fn a_port_that_an_engine_has_is_refused_to_another() {
    for (first, second) in [(1, 1), (4, 1), (1, 4), (4, 4)] {
        let end = End::with_queues(1, false, first);
        let config = SocketConfig { port: end.engine.port().unwrap(), mark: None };
        let (device, _kernel) = Device::memory(false, second).unwrap();
        let Err(error) = Engine::start(device, [2; 32], Some(config), Box::new(|| {})) else {
            panic!("{second} queues beside {first}");
        };
        assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse, "{error}");
    }
}

/// Sockets of one address, whose datagrams the kernel spreads over the engine's.
fn senders() -> Vec<PlainSocket> {
    (0..32).map(|_| PlainSocket::bind("127.0.0.1:0").unwrap()).collect()
}

/// What one source may have, with the seconds that begin meanwhile.
fn share(each_second: u32, began: Instant) -> u64 {
    each_second as u64 * (began.elapsed().as_secs() + 2)
}

#[test]
fn handshakes_of_one_source_are_bounded_over_all_threads_together() {
    let end = End::with_queues(2, false, 4);
    let mut flooder = Sessions::new(&Identity::new([9; 32]), 5, end.engine.public_key(), None);
    let mut flood = Vec::new();
    for _ in 0..600 {
        flooder.initiate(true, &mut flood);
    }
    let (senders, began) = (senders(), Instant::now());
    for (message, sender) in frames(&flood).zip(senders.iter().cycle()) {
        sender.send_to(message, address_of(&end)).unwrap();
    }
    let counters = end.engine.counters();
    let [looked_at, limited] = [Reason::HandshakeRefused, Reason::HandshakeLimit];
    let all = || (counters.dropped(looked_at) + counters.dropped(limited) == 600).then_some(());
    eventually(all, "the flood");
    let most = share(HANDSHAKES_PER_SOURCE, began);
    assert!(counters.dropped(looked_at) <= most, "{} of {most}", counters.dropped(looked_at));
}

#[test]
fn datagrams_that_are_no_wireguard_are_bounded_over_all_threads_together() {
    let end = End::with_queues(2, false, 4);
    let (senders, began) = (senders(), Instant::now());
    for sender in senders.iter().cycle().take(600) {
        sender.send_to(b"no WireGuard", address_of(&end)).unwrap();
    }
    let (counters, mut taken) = (end.engine.counters(), 0);
    let all = || {
        taken += end.engine.datagrams().take().len() as u64;
        (taken + counters.dropped(Reason::DatagramLimit) == 600).then_some(())
    };
    eventually(all, "all of them");
    let most = share(DATAGRAMS_PER_SOURCE, began);
    assert!(taken <= most, "{taken} of {most}");
}
