//! Two engines, each with a memory device for the kernel, joined by the frames that they hand out: everything
//! between those two ends is real.
use crate::carrier::Carrier;
use crate::counters::Reason;
use crate::device::{Device, MemoryEnd};
use crate::engine::Engine;
use crate::events::Event;
use crate::filter::RulesChange;
use crate::limits::*;
use crate::packet::{get16, parse};
use crate::peer::Tunnel;
use crate::peer_config::PeerConfig;
use crate::queues::{frames, push_frame};
use crate::segments::{HEADER, cut};
use crate::sessions::{Identity, Sessions};
use crate::socket::SocketConfig;
use crate::table::{Path, Prefix};
use crate::testing::packets::{Spec, build, build_super, checksums_fit};
use crate::testing::random::Random;
use std::time::{Duration, Instant};
use tun_rs::VirtioNetHdr;

mod further_sockets;
mod guests;
mod hostile;
mod joining;
mod rules;
mod several_queues;
mod sockets;
mod tunnels;

const PEER: u32 = 1;
/// Long enough for a busy machine; nothing waits that long when all is well.
const PATIENCE: Duration = Duration::from_secs(20);

struct End {
    engine: Engine,
    kernel: MemoryEnd,
    /// Frames this end handed out.
    handed: usize,
    events: Vec<Event>,
}

impl End {
    /// With as many queues as `MESH_TEST_QUEUES` says.
    fn new(secret: u8, offload: bool) -> End {
        let queues = std::env::var("MESH_TEST_QUEUES").ok().and_then(|text| text.parse().ok());
        End::with_queues(secret, offload, queues.unwrap_or(1))
    }

    fn with_queues(secret: u8, offload: bool, queues: usize) -> End {
        let (device, kernel) = Device::memory(offload, queues).unwrap();
        let engine =
            Engine::start(device, [secret; 32], Some(SocketConfig::default()), Box::new(|| {})).unwrap();
        End { engine, kernel, handed: 0, events: Vec::new() }
    }

    fn table(&self, peer: PeerConfig, local: &[&str]) {
        let local: Vec<Prefix> = local.iter().map(|text| Prefix::parse(text).unwrap()).collect();
        self.engine.set_table(vec![peer], &local, RulesChange::Keep).unwrap();
    }

    fn dropped(&self, reason: Reason) -> u64 {
        self.engine.table().entry(PEER).unwrap().peer.counters.dropped(reason)
    }

    /// Everything that waits for the peer's stream.
    fn take(&mut self) -> Vec<u8> {
        self.events.extend(self.engine.events().poll().into_iter().map(|(event, _)| event));
        let mut all = Vec::new();
        while let Some(batch) = self.engine.take(PEER) {
            self.handed += frames(&batch).count();
            all.extend_from_slice(&batch);
        }
        all
    }
}

fn peer(secret: u8, allowed: &[&str]) -> PeerConfig {
    let public = Identity::new([secret; 32]).public_key();
    PeerConfig {
        id: PEER,
        tunnel: Tunnel::WireGuard(public),
        preshared: Some([7; 32].into()),
        allowed: allowed.iter().map(|text| Prefix::parse(text).unwrap()).collect(),
        mtu: 1400,
        socket_mtu: 1400,
        path: Path::STREAM,
    }
}

/// Host a has 10.1.0.1 and fd00::1, b has 10.1.0.2 and fd00::2.
fn joined(offload: bool) -> (End, End) {
    let (a, b) = (End::new(1, offload), End::new(2, offload));
    a.table(peer(2, &["10.1.0.2/32", "fd00::2/128"]), &["10.1.0.1/32", "fd00::1/128"]);
    b.table(peer(1, &["10.1.0.1/32", "fd00::1/128"]), &["10.1.0.2/32", "fd00::2/128"]);
    (a, b)
}

/// Carries frames both ways until `done` gives something.
fn until<T>(a: &mut End, b: &mut End, mut done: impl FnMut(&mut End, &mut End) -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        let (from_a, from_b) = (a.take(), b.take());
        // in odd pieces, as a stream would
        for (end, bytes) in [(&*b, from_a), (&*a, from_b)] {
            for part in bytes.chunks(1009) {
                end.engine.inject(PEER, part);
            }
        }
        if let Some(value) = done(a, b) {
            return value;
        }
        assert!(began.elapsed() < PATIENCE, "nothing came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Takes what waits for the peer's stream, once something does.
fn taken(end: &mut End) -> Vec<u8> {
    let began = Instant::now();
    loop {
        let batch = end.take();
        if !batch.is_empty() {
            return batch;
        }
        assert!(began.elapsed() < PATIENCE, "nothing was handed out");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn arrives(a: &mut End, b: &mut End, packet: &[u8]) {
    assert!(a.kernel.send(packet));
    let got = until(a, b, |_, b| b.kernel.receive());
    assert_eq!(&got[got.len() - packet.len()..], packet);
}

/// Waits until the counter of `end` reaches `count`.
fn counted(end: &End, reason: Reason, count: u64) {
    let began = Instant::now();
    while end.dropped(reason) < count {
        assert!(began.elapsed() < PATIENCE, "{reason:?}: {} of {count}", end.dropped(reason));
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(end.dropped(reason), count, "{reason:?}");
}

/// Both ends with a session.
fn connected() -> (End, End) {
    let (mut a, mut b) = joined(false);
    arrives(&mut a, &mut b, &build(&Spec { payload: 1, ..Spec::default() }));
    arrives(&mut b, &mut a, &reply());
    (a, b)
}

fn reply() -> Vec<u8> {
    build(&Spec { source: "10.1.0.2", destination: "10.1.0.1", payload: 5, ..Spec::default() })
}

#[test]
fn packets_of_both_families_pass_both_ways() {
    let (mut a, mut b) = connected();
    assert!(a.events.contains(&Event::Session) && b.events.contains(&Event::Session));
    arrives(&mut a, &mut b, &build(&Spec { v6: true, payload: 1000, ..Spec::default() }));
    let from_b = Spec {
        v6: true,
        tcp: false,
        source: "fd00::2",
        destination: "fd00::1",
        payload: 9,
        ..Spec::default()
    };
    arrives(&mut b, &mut a, &build(&from_b));
    let table = b.engine.table();
    let counters = &table.entry(PEER).unwrap().peer.counters;
    assert_eq!(counters.drops().count(), 0, "{:?}", counters.drops().collect::<Vec<_>>());
}

#[test]
fn nothing_of_a_packet_is_readable_on_the_way() {
    let (mut a, _b) = connected();
    let packet = build(&Spec { payload: 600, ..Spec::default() });
    assert!(a.kernel.send(&packet));
    let batch = taken(&mut a);
    assert!(batch.len() > packet.len());
    assert!(!batch.windows(16).any(|window| window == &packet[100..116]));
}

#[test]
fn super_segments_leave_as_they_came() {
    let (mut a, mut b) = joined(true);
    for (v6, tcp) in [(false, true), (true, true), (false, false), (true, false)] {
        let (header, bytes) =
            build_super(&Spec { v6, tcp, payload: 1300 * 30 + 11, ..Spec::default() }, 1300);
        let mut piece = vec![0; HEADER];
        header.encode(&mut piece).unwrap();
        piece.extend_from_slice(&bytes);
        assert!(a.kernel.send_piece(&piece));
        // one piece or several, by how the batches fell; together they are what was sent
        let mut payload = Vec::new();
        let head = header.hdr_len as usize;
        until(&mut a, &mut b, |_, b| {
            while let Some(got) = b.kernel.receive() {
                assert!(parse(&got[HEADER..]).is_ok());
                payload.extend_from_slice(&got[HEADER + head..]);
            }
            (payload.len() >= bytes.len() - head).then_some(())
        });
        assert_eq!(payload, bytes[head..], "v6 {v6} tcp {tcp}");
    }
}

#[test]
fn packets_before_the_first_session_are_kept_and_bounded() {
    let (mut a, mut b) = joined(false);
    let packet = build(&Spec { payload: 1000, ..Spec::default() });
    let sent = 200;
    for _ in 0..sent {
        while !a.kernel.send(&packet) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let kept = (MAX_WAITING_BYTES / (packet.len() + FRAME_PREFIX_BYTES)) as u64;
    counted(&a, Reason::NoSession, sent - kept);
    let mut got = 0;
    until(&mut a, &mut b, |_, b| {
        got += std::iter::from_fn(|| b.kernel.receive()).count() as u64;
        (got == kept).then_some(())
    });
}

#[test]
fn a_new_table_keeps_sessions_and_a_removed_peer_is_not_heard() {
    let (mut a, mut b) = connected();
    let handed = a.handed;
    a.table(peer(2, &["10.1.0.0/24"]), &["10.1.0.1/32"]);
    arrives(&mut a, &mut b, &build(&Spec { payload: 2, ..Spec::default() }));
    assert_eq!(a.handed, handed + 1, "no new handshake");
    assert!(a.kernel.send(&build(&Spec { payload: 3, ..Spec::default() })));
    let batch = taken(&mut a);
    b.engine.set_table(vec![], &[], RulesChange::Keep).unwrap();
    b.engine.inject(PEER, &batch);
    assert_eq!(b.engine.counters().dropped(Reason::UnknownPeer), 1);
}

#[test]
fn a_new_preshared_key_does_not_end_the_session() {
    let (mut a, mut b) = connected();
    for (end, secret, address) in [(&a, 2, "10.1.0.2/32"), (&b, 1, "10.1.0.1/32")] {
        let config = peer(secret, &[address]);
        let public = Identity::new([secret; 32]).public_key();
        let (tunnel, preshared) = (Tunnel::WireGuard(public), Some([8; 32].into()));
        let local = if secret == 2 { "10.1.0.1/32" } else { "10.1.0.2/32" };
        end.table(PeerConfig { tunnel, preshared, ..config }, &[local]);
    }
    let handed = a.handed;
    arrives(&mut a, &mut b, &build(&Spec { payload: 2, ..Spec::default() }));
    assert_eq!(a.handed, handed + 1);
}

fn legacy(allowed: &[&str], mtu: u16) -> PeerConfig {
    PeerConfig { tunnel: Tunnel::Legacy, mtu, ..peer(1, allowed) }
}

#[test]
fn legacy_members_get_packets_as_they_are_and_pass_the_same_filter() {
    let mut a = End::new(1, false);
    a.table(legacy(&["10.1.0.2/32"], 1200), &["10.1.0.1/32"]);
    let packet = build(&Spec { payload: 500, ..Spec::default() });
    assert!(a.kernel.send(&packet));
    let batch = taken(&mut a);
    assert_eq!(frames(&batch).collect::<Vec<_>>(), [&packet[..]]);
    // two packets behind each other, one of a stranger, and what is no packet
    let mut stream = [reply(), reply()].concat();
    stream.extend(build(&Spec { source: "10.1.0.9", destination: "10.1.0.1", ..Spec::default() }));
    stream.extend([0; 50]);
    a.engine.inject_packets(PEER, &stream);
    counted(&a, Reason::SpoofedSource, 1);
    counted(&a, Reason::Malformed, 1);
    let (began, mut got) = (Instant::now(), 0);
    while got < 2 && began.elapsed() < PATIENCE {
        got += a.kernel.receive().inspect(|packet| assert_eq!(packet, &reply())).is_some() as usize;
    }
    assert_eq!(got, 2);
    a.engine.inject(PEER, &[0; 40]);
    assert_eq!(a.dropped(Reason::NotSealed), 1);
}

#[test]
fn what_does_not_fit_into_a_tunnel_is_told_to_the_sender() {
    let mut a = End::new(1, false);
    a.table(legacy(&["10.1.0.2/32", "fd00::2/128"], 1280), &["10.1.0.1/32"]);
    for v6 in [false, true] {
        assert!(a.kernel.send(&build(&Spec { v6, tcp: false, payload: 1300, ..Spec::default() })));
        let began = Instant::now();
        let answer = std::iter::from_fn(|| (began.elapsed() < PATIENCE).then(|| a.kernel.receive()));
        let answer = answer.flatten().next().unwrap();
        assert!(parse(&answer).is_ok());
        let told = if v6 { get16(&answer, 46) } else { get16(&answer, 26) };
        assert_eq!(told, 1280);
    }
    counted(&a, Reason::TooBig, 2);
    assert!(a.take().is_empty());
}

#[test]
fn tcp_is_cut_to_the_tunnels_mtu() {
    let mut a = End::new(1, true);
    a.table(legacy(&["10.1.0.2/32"], 1200), &["10.1.0.1/32"]);
    let (header, bytes) = build_super(&Spec { payload: 10_000, ..Spec::default() }, 1300);
    let mut piece = vec![0; HEADER];
    header.encode(&mut piece).unwrap();
    piece.extend_from_slice(&bytes);
    assert!(a.kernel.send_piece(&piece));
    let batch = taken(&mut a);
    let packets: Vec<_> = frames(&batch).collect();
    assert_eq!(packets.iter().map(|packet| packet.len() - 52).sum::<usize>(), 10_000);
    assert!(packets.iter().all(|packet| packet.len() <= 1200 && checksums_fit(packet)));
}

#[test]
fn a_device_that_is_gone_is_told() {
    let (a, _b) = joined(false);
    drop(a.kernel);
    let began = Instant::now();
    loop {
        if a.engine.events().poll().contains(&(Event::Failed, 0)) {
            break;
        }
        assert!(began.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn stops_at_once_in_the_middle_of_work() {
    let (mut a, b) = connected();
    for _ in 0..100 {
        a.kernel.send(&build(&Spec { payload: 1000, ..Spec::default() }));
    }
    a.take();
    let began = Instant::now();
    drop(a);
    drop(b);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}
