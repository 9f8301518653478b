//! Engines that exchange sealed packets over their UDP sockets, and what strangers send there.
use super::*;
use crate::events::Event;
use crate::probe_gate::tests::{pair, probe};
use crate::sockets::OWN;
use std::net::{SocketAddr, UdpSocket as PlainSocket};

pub(super) fn address_of(end: &End) -> SocketAddr {
    SocketAddr::new([127, 0, 0, 1].into(), end.engine.port().unwrap())
}

pub(super) fn path(to: &End, stream: bool) -> Path {
    Path { endpoint: Some(address_of(to)), stream, ..Path::STREAM }
}

pub(super) fn set_path(end: &End, secret: u8, path: Path) {
    let (allowed, local) = if secret == 2 {
        (["10.1.0.2/32", "fd00::2/128"], ["10.1.0.1/32", "fd00::1/128"])
    } else {
        (["10.1.0.1/32", "fd00::1/128"], ["10.1.0.2/32", "fd00::2/128"])
    };
    end.table(PeerConfig { path, ..peer(secret, &allowed) }, &local);
}

/// Joins two as `joined` does, and each knows the other's socket.
pub(super) fn over_sockets(offload: bool, stream: bool) -> (End, End) {
    let (a, b) = (End::new(1, offload), End::new(2, offload));
    set_path(&a, 2, path(&b, stream));
    set_path(&b, 1, path(&a, stream));
    (a, b)
}

/// The next packet that the kernel gets; nothing goes by streams.
pub(super) fn received(end: &End) -> Vec<u8> {
    eventually(|| end.kernel.receive(), "a packet")
}

pub(super) fn eventually<T>(mut probe: impl FnMut() -> Option<T>, what: &str) -> T {
    let began = Instant::now();
    loop {
        if let Some(value) = probe() {
            return value;
        }
        assert!(began.elapsed() < PATIENCE, "{what} never came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn passes(from: &End, to: &End, packet: &[u8]) {
    assert!(from.kernel.send(packet));
    let got = received(to);
    assert_eq!(&got[got.len() - packet.len()..], packet);
}

/// Both ends with a session, and nothing by streams.
fn connected_by_sockets() -> (End, End) {
    let (a, b) = over_sockets(false, false);
    passes(&a, &b, &build(&Spec { payload: 1, ..Spec::default() }));
    passes(&b, &a, &reply());
    (a, b)
}

pub(super) fn stranger() -> PlainSocket {
    PlainSocket::bind("127.0.0.1:0").unwrap()
}

#[test]
fn packets_pass_by_sockets_alone() {
    let (mut a, mut b) = connected_by_sockets();
    for payload in [0, 1, 700, 1300] {
        passes(&a, &b, &build(&Spec { payload, ..Spec::default() }));
        passes(&b, &a, &reply());
    }
    assert!(a.take().is_empty() && b.take().is_empty(), "nothing is handed to the stream");
    let table = b.engine.table();
    let counters = &table.entry(PEER).unwrap().peer.counters;
    assert_eq!(counters.drops().count(), 0, "{:?}", counters.drops().collect::<Vec<_>>());
}

#[test]
fn a_handshake_that_a_path_lost_is_repeated_long_before_wireguard_would() {
    let (a, lossy) = (End::new(1, false), stranger());
    lossy.set_read_timeout(Some(Duration::from_secs(4))).unwrap();
    set_path(&a, 2, Path { endpoint: Some(lossy.local_addr().unwrap()), stream: false, ..Path::STREAM });
    assert!(a.engine.active().is_empty());
    assert!(a.kernel.send(&build(&Spec::default())));
    let initiation = || {
        let mut datagram = [0; 2000];
        let len = lossy.recv(&mut datagram).expect("an initiation");
        assert_eq!((len, datagram[0]), (INITIATION_BYTES, 1));
    };
    initiation();
    // the path that does not answer is needed all the while, though nothing passes
    assert_eq!(a.engine.active(), [PEER]);
    initiation();
    assert_eq!(a.engine.active(), [PEER]);
    initiation();
}

#[test]
fn super_segments_pass_by_sockets_in_their_order() {
    let (a, b) = over_sockets(true, false);
    for (v6, tcp) in [(false, true), (true, true), (false, false), (true, false)] {
        let (header, bytes) =
            build_super(&Spec { v6, tcp, payload: 1300 * 30 + 11, ..Spec::default() }, 1300);
        let mut piece = vec![0; HEADER];
        header.encode(&mut piece).unwrap();
        piece.extend_from_slice(&bytes);
        let head = header.hdr_len as usize;
        for _ in 0..5 {
            assert!(a.kernel.send_piece(&piece));
            let mut payload = Vec::new();
            while payload.len() < bytes.len() - head {
                payload.extend_from_slice(&received(&b)[HEADER + head..]);
            }
            assert_eq!(payload, bytes[head..], "v6 {v6} tcp {tcp}");
        }
    }
}

#[test]
fn what_goes_both_ways_arrives_once() {
    let (mut a, mut b) = over_sockets(false, true);
    arrives(&mut a, &mut b, &build(&Spec { payload: 1, ..Spec::default() }));
    arrives(&mut b, &mut a, &reply());
    let packet = build(&Spec { payload: 99, ..Spec::default() });
    passes(&a, &b, &packet);
    let by_stream = taken(&mut a);
    b.engine.inject(PEER, &by_stream);
    eventually(|| (b.dropped(Reason::Replayed) > 0).then_some(()), "the second one");
    assert_eq!(b.kernel.receive(), None);
}

#[test]
fn packets_that_the_path_does_not_take_go_by_the_stream() {
    let (mut a, mut b) = connected_by_sockets();
    let narrow = PeerConfig { socket_mtu: 1280, path: path(&b, false), ..peer(2, &["10.1.0.2/32"]) };
    a.table(narrow, &["10.1.0.1/32"]);
    a.take();
    let long = build(&Spec { payload: 1300, tcp: false, ..Spec::default() });
    assert!(long.len() > 1280);
    arrives(&mut a, &mut b, &long);
    assert!(a.handed > 0, "by the stream");
    // TCP arrives so as well, and its sender learns what the path takes
    arrives(&mut a, &mut b, &build(&Spec { payload: 1300, ..Spec::default() }));
    let told = eventually(|| a.kernel.receive(), "a message that a packet is too big");
    assert_eq!(parse(&told[told.len().saturating_sub(576)..]).unwrap().protocol, crate::packet::ICMP);
    let handed = a.handed;
    passes(&a, &b, &build(&Spec { payload: 1200, tcp: false, ..Spec::default() }));
    assert!(a.take().is_empty() && a.handed == handed, "what fits goes by the socket");
    // longer than the tunnel takes at all
    assert!(a.kernel.send(&build(&Spec { payload: 1500, tcp: false, ..Spec::default() })));
    eventually(|| (a.dropped(Reason::TooBig) > 0).then_some(()), "a refusal");
}

#[test]
fn a_session_outlives_its_paths() {
    let (mut a, mut b) = connected_by_sockets();
    a.take();
    a.events.clear();
    set_path(&a, 2, Path::STREAM);
    set_path(&b, 1, Path::STREAM);
    arrives(&mut a, &mut b, &build(&Spec { payload: 20, ..Spec::default() }));
    arrives(&mut b, &mut a, &reply());
    let (to_b, to_a) = (path(&b, false), path(&a, false));
    set_path(&a, 2, to_b);
    set_path(&b, 1, to_a);
    passes(&a, &b, &build(&Spec { payload: 30, ..Spec::default() }));
    a.take();
    assert!(!a.events.contains(&Event::Session), "no handshake was needed");
}

#[test]
fn a_peer_that_left_the_table_is_neither_heard_nor_answered() {
    let (a, b) = connected_by_sockets();
    b.engine.set_table(vec![], &[], RulesChange::Keep).unwrap();
    assert!(a.kernel.send(&build(&Spec { payload: 8, ..Spec::default() })));
    let unknown = || b.engine.counters().dropped(Reason::UnknownSession) > 0;
    eventually(|| unknown().then_some(()), "the packet");
    assert_eq!(b.kernel.receive(), None);
    assert!(b.kernel.send(&reply()));
    eventually(|| (b.engine.counters().dropped(Reason::NoRoute) > 0).then_some(()), "its packet");
    assert_eq!(a.kernel.receive(), None);
}

#[test]
fn datagrams_that_are_no_wireguard_come_up_with_their_source_and_within_bounds() {
    let end = End::new(1, false);
    let socket = stranger();
    let long: Vec<u8> = (0..1400).map(|n| n as u8).collect();
    socket.send_to(&long, address_of(&end)).unwrap();
    let got = eventually(|| end.engine.datagrams().take().pop(), "the datagram");
    assert_eq!(
        (got.from.address, got.len, &got.bytes[..]),
        (socket.local_addr().unwrap(), 1400, &long[..256])
    );
    assert!(end.engine.events().poll().contains(&(Event::Datagrams, 0)));
    let counters = end.engine.counters();
    for _ in 0..3 * DATAGRAMS_PER_SOURCE {
        socket.send_to(b"again", address_of(&end)).unwrap();
    }
    eventually(|| (counters.dropped(Reason::DatagramLimit) > 0).then_some(()), "the limit");
    assert!(end.engine.datagrams().take().len() <= 2 * DATAGRAMS_PER_SOURCE as usize);
    assert!(end.engine.send_datagram(socket.local_addr().unwrap(), b"answer", OWN));
    let mut answer = [0; 16];
    assert_eq!(socket.recv_from(&mut answer).unwrap(), (6, address_of(&end)));
}

#[test]
fn says_for_whom_packets_passed() {
    let (a, _b) = connected_by_sockets();
    assert_eq!(a.engine.active(), [PEER]);
    assert!(a.engine.active().is_empty());
}

#[test]
fn what_strangers_send_ends_no_session() {
    let (a, b) = connected_by_sockets();
    let socket = stranger();
    let mut random = Random::new(21);
    let sealed = {
        // what it could have overheard: a datagram of theirs, and changed copies of it
        set_path(&a, 2, Path { endpoint: Some(socket.local_addr().unwrap()), stream: false, ..Path::STREAM });
        assert!(a.kernel.send(&build(&Spec { payload: 64, ..Spec::default() })));
        let mut buffer = vec![0; 2000];
        let len = socket.recv(&mut buffer).unwrap();
        set_path(&a, 2, path(&b, false));
        buffer.truncate(len);
        buffer
    };
    socket.send_to(&sealed, address_of(&b)).unwrap();
    received(&b);
    for round in 0..4000 {
        let mut datagram = match round % 4 {
            0 => random.bytes(1 + round % 300),
            1 => sealed.clone(),
            2 => [&[1, 0, 0, 0][..], &random.bytes(144)].concat(),
            _ => [
                &[2 + (round % 8 / 4) as u8, 0, 0, 0][..],
                &random.bytes(if round % 8 < 4 { 88 } else { 60 }),
            ]
            .concat(),
        };
        if round % 5 == 0 {
            datagram.truncate(1 + random.below(datagram.len()));
        }
        let at = random.below(datagram.len());
        if round % 3 == 0 {
            datagram[at] = random.next() as u8;
        }
        let _ = socket.send_to(&datagram, address_of(&b));
    }
    passes(&a, &b, &build(&Spec { payload: 77, ..Spec::default() }));
    passes(&b, &a, &reply());
    assert_eq!(b.engine.events().failure(), None);
}

#[test]
fn under_a_flood_of_handshakes_senders_have_to_prove_their_address_and_peers_still_get_in() {
    let (a, b) = over_sockets(false, false);
    let socket = stranger();
    // a member knows the key, and so makes initiations that cost something
    let mut flooder = Sessions::new(&Identity::new([9; 32]), 5, b.engine.public_key(), None);
    let mut flood = Vec::new();
    for _ in 0..600 {
        flooder.initiate(true, &mut flood);
    }
    for message in frames(&flood) {
        socket.send_to(message, address_of(&b)).unwrap();
    }
    let counters = b.engine.counters();
    eventually(|| (counters.dropped(Reason::HandshakeLimit) >= 400).then_some(()), "the limit");
    assert!(a.kernel.send(&build(&Spec { payload: 3, ..Spec::default() })));
    received(&b);
}

/// How long the flood of a test lasts; `MESH_FLOOD_MS` makes it longer, to measure.
fn flood_time() -> Duration {
    let ms = std::env::var("MESH_FLOOD_MS").ok().and_then(|text| text.parse().ok());
    Duration::from_millis(ms.unwrap_or(1_500))
}

fn resident_bytes() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// What strangers and a hostile member may send: random bytes, messages cut short, replayed ones, initiations.
fn hostile_datagrams(b: &End, sealed: &[u8], random: &mut Random) -> Vec<Vec<u8>> {
    let mut member = Sessions::new(&Identity::new([9; 32]), 5, b.engine.public_key(), None);
    let mut initiations = Vec::new();
    for _ in 0..64 {
        member.initiate(true, &mut initiations);
    }
    let mut all: Vec<Vec<u8>> = frames(&initiations).map(<[u8]>::to_vec).collect();
    for round in 0..448 {
        let whole = if round % 2 == 0 { random.bytes(1 + round) } else { sealed.to_vec() };
        let len = if round % 3 == 0 { 1 + random.below(whole.len()) } else { whole.len() };
        all.push(whole[..len].to_vec());
    }
    all
}

#[test]
fn a_flood_from_many_addresses_as_fast_as_this_machine_can_costs_no_memory_and_ends_no_session() {
    let (a, b) = connected_by_sockets();
    let mut random = Random::new(77);
    let (to, word, key) = (address_of(&b), [7; 8], [1; 32]);
    b.engine.datagrams().probes.expect(pair(word, key));
    // replayed ones are real: overheard on the way
    let overheard = stranger();
    set_path(&a, 2, Path { endpoint: Some(overheard.local_addr().unwrap()), stream: false, ..Path::STREAM });
    assert!(a.kernel.send(&build(&Spec { payload: 64, ..Spec::default() })));
    let mut sealed = vec![0; 2000];
    let len = overheard.recv(&mut sealed).unwrap();
    set_path(&a, 2, path(&b, false));
    let datagrams = hostile_datagrams(&b, &sealed[..len], &mut random);
    // every address of 127.0.0.0/8 is this machine's
    let sources: Vec<PlainSocket> =
        (2..66).map(|n| PlainSocket::bind(("127.0.9.".to_owned() + &n.to_string(), 0)).unwrap()).collect();
    // overheard, it comes from everywhere, as does what names the same pair
    let replayed = probe(1, word, 1, key);
    let named = probe(1, word, 2, [9; 32]);
    let (before, began, mut sent, mut probes) = (resident_bytes(), Instant::now(), 0u64, 0);
    let mut rounds = 0;
    while began.elapsed() < flood_time() {
        for (datagram, source) in datagrams.iter().zip(sources.iter().cycle()) {
            for one in [datagram, &replayed, &named] {
                sent += source.send_to(one, to).is_ok() as u64;
            }
        }
        rounds += 1;
        let fresh = probe(1, word, 1_000 + rounds, key);
        overheard.send_to(&fresh, to).unwrap();
        let taken = b.engine.datagrams().take();
        let from = overheard.local_addr().unwrap();
        probes += taken.iter().filter(|each| each.from.address == from).count();
        assert!(taken.iter().all(|each| each.bytes != named), "of nobody");
        a.engine.events().poll();
        b.engine.events().poll();
    }
    let grown = resident_bytes().saturating_sub(before);
    println!("{sent} datagrams in {:?}, {grown} bytes grown, {probes} probes", began.elapsed());
    assert!(grown < 32 << 20, "{grown} bytes");
    assert!(probes > 0, "what is expected passes");
    while b.kernel.receive().is_some() {}
    for attempt in 0.. {
        // the socket may still be full
        assert!(attempt < 50, "the session ended");
        assert!(a.kernel.send(&build(&Spec { payload: 500, ..Spec::default() })));
        std::thread::sleep(Duration::from_millis(100));
        if b.kernel.receive().is_some() {
            break;
        }
    }
    assert_eq!(b.engine.events().failure(), None);
}

#[test]
fn under_a_flood_of_handshakes_from_everywhere_a_peer_that_proves_its_address_gets_in() {
    let (a, b) = over_sockets(false, false);
    let mut random = Random::new(3);
    let flood = hostile_datagrams(&b, &[4; 64], &mut random);
    let sources: Vec<PlainSocket> =
        (2..130).map(|n| PlainSocket::bind(("127.0.8.".to_owned() + &n.to_string(), 0)).unwrap()).collect();
    let dropped = |reason| b.engine.counters().dropped(reason);
    let limited = || dropped(Reason::HandshakeLimit);
    let looked_at = || limited() + dropped(Reason::HandshakeRefused);
    // no faster than they are read: what meets a full socket's queue is lost, and a packet is sent but once
    let flood_once = || {
        let before = looked_at();
        for (message, source) in flood[..64].iter().cycle().zip(&sources) {
            source.send_to(message, address_of(&b)).unwrap();
        }
        eventually(|| (looked_at() >= before + sources.len() as u64).then_some(()), "a look at the flood");
    };
    let began = Instant::now();
    while limited() == 0 {
        assert!(began.elapsed() < PATIENCE, "no load");
        flood_once();
    }
    assert!(a.kernel.send(&build(&Spec { payload: 3, ..Spec::default() })));
    let began = Instant::now();
    while b.kernel.receive().is_none() {
        assert!(began.elapsed() < PATIENCE, "it never got in");
        flood_once();
        a.engine.retry_handshake(PEER);
    }
}

#[test]
fn proofs_that_are_made_up_are_looked_at_within_bounds_and_keep_nobody_out() {
    let (a, b) = over_sockets(false, false);
    let mut random = Random::new(5);
    let mut flood = hostile_datagrams(&b, &[4; 64], &mut random);
    flood.truncate(64);
    for message in &mut flood {
        // where a sender proves its address
        let len = message.len();
        message[len - 16..].copy_from_slice(&random.bytes(16));
    }
    let sources: Vec<PlainSocket> =
        (2..130).map(|n| PlainSocket::bind(("127.0.7.".to_owned() + &n.to_string(), 0)).unwrap()).collect();
    for _ in 0..20 {
        for (message, source) in flood.iter().cycle().zip(&sources) {
            let _ = source.send_to(message, address_of(&b));
        }
    }
    let limited = || b.engine.counters().dropped(Reason::HandshakeLimit) > 0;
    eventually(|| limited().then_some(()), "the limit");
    assert!(a.kernel.send(&build(&Spec { payload: 3, ..Spec::default() })));
    let came = || {
        a.engine.retry_handshake(PEER);
        b.kernel.receive()
    };
    eventually(came, "a packet of one who proves its address");
}
