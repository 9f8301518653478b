//! Peers that flood, forge, break the rules or stop reading: counted, and nobody else notices.
use super::*;

/// Lets b open a packet that its member a has sealed itself, whatever its addresses, which b drops.
fn dropped_at_b(source: &str, destination: &str, reason: Reason) {
    let (mut a, mut b) = connected();
    // a's own table lets it send anything to b
    a.table(peer(2, &["0.0.0.0/0", "::/0"]), &["0.0.0.0/0"]);
    let v6 = destination.contains(':');
    assert!(a.kernel.send(&build(&Spec { v6, source, destination, payload: 3, ..Spec::default() })));
    // with several queues what is sent after it may come before it
    until(&mut a, &mut b, |_, b| (b.dropped(reason) == 1).then_some(()));
    arrives(&mut a, &mut b, &build(&Spec { payload: 77, ..Spec::default() }));
    assert_eq!(b.dropped(reason), 1);
}

#[test]
fn a_source_that_is_not_the_peers_is_dropped() {
    for source in ["10.1.0.3", "10.1.0.2", "192.168.1.1"] {
        dropped_at_b(source, "10.1.0.2", Reason::SpoofedSource);
    }
    dropped_at_b("fd00::7", "fd00::2", Reason::SpoofedSource);
}

#[test]
fn a_destination_that_is_not_ours_is_dropped() {
    dropped_at_b("10.1.0.1", "192.168.1.5", Reason::NotForUs);
    dropped_at_b("fd00::1", "fe80::1", Reason::NotForUs);
}

#[test]
fn multicast_and_unowned_destinations_are_counted() {
    let (a, _b) = joined(false);
    for destination in ["224.0.0.251", "255.255.255.255", "10.9.9.9"] {
        assert!(a.kernel.send(&build(&Spec { destination, ..Spec::default() })));
    }
    assert!(a.kernel.send(&[0xff; 40]));
    let counters = a.engine.counters();
    let began = Instant::now();
    while counters.drops().map(|(_, count)| count).sum::<u64>() < 4 && began.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
    }
    let counts =
        [Reason::Multicast, Reason::NoRoute, Reason::Malformed].map(|reason| counters.dropped(reason));
    assert_eq!(counts, [2, 1, 1]);
}

#[test]
fn garbage_is_counted_and_the_session_lives_on() {
    let (mut a, mut b) = connected();
    let mut random = Random::new(11);
    let rounds = 300;
    for round in 0..rounds {
        let len = 32 + random.below(1400);
        let mut bytes = random.bytes(len);
        if round % 3 == 0 {
            bytes[..4].copy_from_slice(&[4, 0, 0, 0]);
        }
        let mut batch = Vec::new();
        push_frame(&mut batch, &bytes);
        b.engine.inject(PEER, &batch);
    }
    counted(&b, Reason::UnknownSession, rounds / 3);
    counted(&b, Reason::NotSealed, rounds * 2 / 3);
    arrives(&mut a, &mut b, &build(&Spec { payload: 8, ..Spec::default() }));
}

/// A member that holds its keys but sends what it likes: only whole packets between its address and ours may reach
/// the kernel, and only super-segments that describe themselves rightly.
#[test]
fn a_hostile_member_gets_only_its_own_packets_to_the_kernel() {
    let mut b = End::new(2, true);
    b.table(peer(1, &["10.1.0.1/32", "fd00::1/128"]), &["10.1.0.2/32", "fd00::2/128"]);
    let identity = Identity::new([1; 32]);
    let mut hostile = Sessions::new(&identity, PEER, b.engine.public_key(), Some([7; 32]));
    let mut batch = Vec::new();
    hostile.initiate(false, &mut batch);
    b.engine.inject(PEER, &batch);
    batch.clear();
    for frame in frames(&taken(&mut b)) {
        hostile.handshake(frame, &mut batch).unwrap();
    }
    b.engine.inject(PEER, &batch);
    let mut random = Random::new(13);
    let (mut sent, mut seen) = (0, 0);
    for round in 0..3000 {
        batch.clear();
        let spec = Spec {
            v6: round % 2 == 0,
            tcp: round % 3 > 0,
            payload: 40 * random.below(30),
            ..Spec::default()
        };
        let (header, mut bytes) = build_super(&spec, 40 + random.below(80));
        let ip = parse(&bytes).unwrap();
        let mut packets = Vec::new();
        cut(&header, &ip, &mut bytes, 1400, |packet| packets.push(packet.to_vec())).unwrap();
        for mut packet in packets {
            for _ in 0..[0, 0, 1, 4][random.below(4)] {
                let at = random.below(packet.len().min(70));
                packet[at] = random.next() as u8;
            }
            packet.truncate(packet.len() - [0, 0, 0, 1][random.below(4)] * random.below(packet.len()));
            assert!(hostile.seal(&packet, 1400, &mut batch));
            sent += 1;
        }
        while !b.engine.inject(PEER, &batch) {
            batch.clear();
            std::thread::sleep(Duration::from_millis(1));
        }
        while let Some(piece) = b.kernel.receive() {
            seen += 1;
            only_its_own(&piece);
        }
    }
    assert!(seen > 1000, "{seen} of {sent}");
    let table = b.engine.table();
    let counters = &table.entry(PEER).unwrap().peer.counters;
    for reason in [Reason::Malformed, Reason::SpoofedSource, Reason::NotForUs] {
        assert!(counters.dropped(reason) > 0, "{reason:?}");
    }
    assert!(!b.engine.events().poll().contains(&(Event::Failed, 0)));
}

fn only_its_own(piece: &[u8]) {
    let (header, packet) = (VirtioNetHdr::decode(piece).unwrap(), &piece[HEADER..]);
    let ip = parse(packet).unwrap();
    assert_eq!(ip.len, packet.len());
    assert!(["10.1.0.1", "fd00::1"].contains(&ip.source.to_string().as_str()), "{}", ip.source);
    assert!(["10.1.0.2", "fd00::2"].contains(&ip.destination.to_string().as_str()), "{}", ip.destination);
    if header.gso_type == 0 {
        assert_eq!(piece[..HEADER], [0; HEADER]);
        return;
    }
    let (start, offset) = (header.csum_start as usize, header.csum_offset as usize);
    assert_eq!(start, ip.transport);
    assert!(start + offset + 2 <= header.hdr_len as usize);
    assert!(header.hdr_len as usize + (header.gso_size as usize) < packet.len());
    assert!(header.gso_size > 0);
}

#[test]
fn a_broken_stream_is_told_and_a_new_one_works() {
    let (mut a, mut b) = connected();
    b.engine.inject(PEER, &[0, 1, 2, 3]);
    b.engine.inject(PEER, &[0, 1, 2, 3]);
    counted(&b, Reason::BadFrame, 2);
    b.take();
    assert_eq!(b.events.iter().filter(|event| **event == Event::Broken).count(), 1);
    b.engine.restart(PEER);
    arrives(&mut a, &mut b, &build(&Spec { payload: 8, ..Spec::default() }));
}

#[test]
fn a_stream_that_stands_still_costs_bounded_memory() {
    let (mut a, mut b) = connected();
    a.take();
    let packet = build(&Spec { payload: 1300, ..Spec::default() });
    let frame = FRAME_PREFIX_BYTES + SEAL_BYTES + packet.len().next_multiple_of(16);
    let (sent, fit) = (1000, (MAX_OUTBOUND_BYTES / frame) as u64);
    for _ in 0..sent {
        while !a.kernel.send(&packet) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    counted(&a, Reason::OutboundFull, sent - fit);
    let waiting = a.take();
    assert_eq!(waiting.len(), fit as usize * frame);
    b.engine.inject(PEER, &waiting);
    // the memory device of the other end is bounded too
    let mut got = 0;
    until(&mut a, &mut b, |_, b| {
        got += std::iter::from_fn(|| b.kernel.receive()).count() as u64;
        (got + b.dropped(Reason::DeviceRefused) == fit).then_some(())
    });
    arrives(&mut a, &mut b, &build(&Spec { payload: 9, flags: 0x18, ..Spec::default() }));
}

#[test]
fn one_that_floods_does_not_stall_another() {
    let (mut a, b) = connected();
    let mut b = b;
    let mut batch = Vec::new();
    let mut random = Random::new(12);
    for _ in 0..40 {
        let mut bytes = random.bytes(1400);
        bytes[..4].copy_from_slice(&[4, 0, 0, 0]);
        push_frame(&mut batch, &bytes);
    }
    let flooder = PeerConfig { id: 9, ..peer(3, &[]) };
    let local = [Prefix::parse("10.1.0.2/32").unwrap()];
    b.engine.set_table(vec![peer(1, &["10.1.0.1/32"]), flooder], &local, RulesChange::Keep).unwrap();
    for round in 0..20 {
        for _ in 0..20 {
            b.engine.inject(9, &batch);
        }
        arrives(&mut a, &mut b, &build(&Spec { payload: 20 + round, ..Spec::default() }));
    }
    let table = b.engine.table();
    let counters = &table.entry(9).unwrap().peer.counters;
    let began = Instant::now();
    while counters.drops().map(|(_, count)| count).sum::<u64>() < 20 * 20 * 40 && began.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(counters.drops().map(|(_, count)| count).sum::<u64>(), 20 * 20 * 40);
}
