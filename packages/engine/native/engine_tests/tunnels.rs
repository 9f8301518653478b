//! A peer whose tunnel is found, changes or is lost: what waits goes on or is counted.
use super::*;

fn unknown(allowed: &[&str], mtu: u16) -> PeerConfig {
    PeerConfig { tunnel: Tunnel::None, mtu, ..peer(2, allowed) }
}

const OWNED: &[&str] = &["10.1.0.2/32", "fd00::2/128"];
const LOCAL: &[&str] = &["10.1.0.1/32", "fd00::1/128"];

/// Two ends of which a has no tunnel to b yet, and has `sent` packets for it.
fn apart(sent: usize) -> (End, End) {
    let (mut a, b) = joined(false);
    a.table(unknown(OWNED, 1400), LOCAL);
    for _ in 0..sent {
        assert!(a.kernel.send(&build(&Spec { payload: 900, ..Spec::default() })));
    }
    path_needed(&mut a);
    (a, b)
}

/// Waits until the application is told that a path is needed.
fn path_needed(end: &mut End) {
    let began = Instant::now();
    while !end.engine.events().poll().contains(&(Event::PathNeeded, PEER)) {
        assert!(began.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until all that was sent to `end` was read from its device: one more packet has its turn in each queue.
fn settled(end: &mut End) {
    let noted = |end: &End| end.engine.counters().dropped(Reason::Malformed);
    let (began, before, queues) = (Instant::now(), noted(end), end.kernel.queues());
    for queue in 0..queues {
        let packets = (0..=u8::MAX).map(|byte| [byte | 0xf0, byte].repeat(15));
        let last = packets.into_iter().find(|packet| end.kernel.number_of(packet) == queue).unwrap();
        while !end.kernel.send(&last) {
            assert!(began.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    while noted(end) < before + queues as u64 {
        assert!(began.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn packets_that_wait_for_a_path_go_by_a_stream() {
    let (mut a, mut b) = apart(5);
    settled(&mut a);
    assert!(a.take().is_empty());
    a.table(peer(2, OWNED), LOCAL);
    assert_eq!(frames(&a.take()).map(<[u8]>::len).collect::<Vec<_>>(), [148], "a handshake, at once");
    // that one is lost; what follows is a session all the same, without waiting for WireGuard's five seconds
    let began = Instant::now();
    a.engine.retry_handshake(PEER);
    let mut got = 0;
    until(&mut a, &mut b, |_, b| {
        got += std::iter::from_fn(|| b.kernel.receive()).count();
        (got == 5).then_some(())
    });
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    let table = a.engine.table();
    let counters = &table.entry(PEER).unwrap().peer.counters;
    assert_eq!(
        (counters.packets_out.load(std::sync::atomic::Ordering::Relaxed), counters.drops().count()),
        (5, 0)
    );
}

#[test]
fn packets_that_wait_for_a_path_go_to_a_legacy_member_if_they_fit() {
    let (mut a, _b) = apart(2);
    let syn = build(&Spec { flags: 2, payload: 0, ..Spec::default() });
    assert!(a.kernel.send(&syn) && a.kernel.send(&build(&Spec { payload: 1300, ..Spec::default() })));
    settled(&mut a);
    a.table(legacy(OWNED, 1200), LOCAL);
    let batch = a.take();
    let lens: Vec<usize> = frames(&batch).map(<[u8]>::len).collect();
    assert_eq!(lens, [952, 952, syn.len()]);
    assert!(frames(&batch).all(checksums_fit));
    assert_eq!(a.dropped(Reason::TooBig), 1);
    let answer = a.kernel.receive().unwrap();
    assert_eq!((answer[9], answer[20], get16(&answer, 26)), (1, 3, 1200), "fragmentation needed");
}

#[test]
fn what_waits_for_a_path_is_bounded_and_lives_through_new_tables() {
    let (mut a, mut b) = apart(1);
    let packet = build(&Spec { payload: 900, ..Spec::default() });
    for _ in 1..200 {
        while !a.kernel.send(&packet) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    settled(&mut a);
    let kept = MAX_WAITING_BYTES / (packet.len() + FRAME_PREFIX_BYTES);
    counted(&a, Reason::NoSession, 200 - kept as u64);
    a.table(unknown(&["10.1.0.0/24"], 1400), LOCAL);
    a.table(peer(2, OWNED), LOCAL);
    a.table(unknown(OWNED, 1400), LOCAL);
    path_needed(&mut a);
    assert_eq!(a.dropped(Reason::Stale), 1, "the handshake that nobody took");
    a.table(peer(2, OWNED), LOCAL);
    let mut got = 0;
    until(&mut a, &mut b, |_, b| {
        got += std::iter::from_fn(|| b.kernel.receive()).count();
        (got == kept).then_some(())
    });
    assert_eq!(a.dropped(Reason::NoSession), 200 - kept as u64);
}

#[test]
fn a_needed_path_is_told_once_in_a_while() {
    let (mut a, _b) = apart(1);
    for _ in 0..50 {
        assert!(a.kernel.send(&build(&Spec { payload: 9, ..Spec::default() })));
    }
    settled(&mut a);
    assert!(!a.engine.events().poll().contains(&(Event::PathNeeded, PEER)));
    let (now, table) = (Instant::now(), a.engine.table());
    let mut state = table.entry(PEER).unwrap().peer.state();
    assert!(
        !state.asks_for_path(now)
            && state.asks_for_path(now + PATH_NEEDED_AGAIN)
            && !state.asks_for_path(now + PATH_NEEDED_AGAIN)
    );
    assert!(!state.is_overdue(now) && state.is_overdue(now + MAX_WAIT));
}

#[test]
fn nothing_is_taken_from_a_peer_without_a_tunnel() {
    let (a, _b) = apart(1);
    assert!(a.engine.inject(PEER, &[0; 500]));
    a.engine.inject_packets(PEER, &reply());
    assert_eq!(a.dropped(Reason::NoTunnel), 2);
    assert!(a.kernel.receive().is_none());
}

#[test]
fn frames_of_a_tunnel_that_was_left_are_dropped_and_counted() {
    let (mut a, _b) = connected();
    a.take();
    for payload in [1, 2, 3] {
        assert!(a.kernel.send(&build(&Spec { payload, ..Spec::default() })));
    }
    settled(&mut a);
    a.table(legacy(OWNED, 1400), LOCAL);
    assert!(a.take().is_empty(), "nothing sealed in a legacy tunnel");
    assert_eq!(a.dropped(Reason::Stale), 3);
    assert!(a.kernel.send(&build(&Spec::default())));
    settled(&mut a);
    a.table(peer(2, OWNED), LOCAL);
    assert!(a.take().is_empty(), "nothing unsealed in a WireGuard tunnel");
    assert_eq!(a.dropped(Reason::Stale), 4);
}

#[test]
fn a_session_that_one_end_forgot_is_made_anew_at_once() {
    let (mut a, mut b) = connected();
    b.table(PeerConfig { tunnel: Tunnel::None, ..peer(1, &["10.1.0.1/32"]) }, &["10.1.0.2/32"]);
    b.table(peer(1, &["10.1.0.1/32"]), &["10.1.0.2/32"]);
    // a still has the session, and would notice after 15 seconds
    let began = Instant::now();
    assert!(a.kernel.send(&build(&Spec { payload: 1, ..Spec::default() })));
    until(&mut a, &mut b, |_, b| (b.dropped(Reason::UnknownSession) == 1).then_some(()));
    until(&mut a, &mut b, |a, b| {
        a.kernel.send(&build(&Spec { payload: 2, ..Spec::default() }));
        b.kernel.receive()
    });
    assert_eq!(a.events.iter().filter(|event| **event == Event::Session).count(), 2);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

#[test]
fn another_key_makes_another_session_and_keeps_the_counters() {
    let (mut a, mut b) = connected();
    let mut c = End::new(3, false);
    c.table(peer(1, &["10.1.0.1/32"]), &["10.1.0.2/32"]);
    assert!(a.kernel.send(&build(&Spec { payload: 1, ..Spec::default() })));
    settled(&mut a);
    a.table(peer(3, OWNED), LOCAL);
    assert_eq!(a.dropped(Reason::Stale), 1);
    arrives(&mut a, &mut c, &build(&Spec { payload: 2, ..Spec::default() }));
    arrives(&mut c, &mut a, &reply());
    let table = a.engine.table();
    let counters = &table.entry(PEER).unwrap().peer.counters;
    assert_eq!(counters.packets_in.load(std::sync::atomic::Ordering::Relaxed), 2);
    // the one before is not heard
    assert!(b.kernel.send(&reply()));
    a.engine.inject(PEER, &taken(&mut b));
    counted(&a, Reason::UnknownSession, 1);
}

#[test]
fn tunnels_that_change_all_the_time_lose_nothing_uncounted() {
    let (mut a, _b) = joined(false);
    let mut random = Random::new(21);
    let (mut sent, mut taken) = (0, 0);
    for _ in 0..400 {
        let config = match random.below(4) {
            0 => peer(2, OWNED),
            1 => peer(3, OWNED),
            2 => legacy(OWNED, 1200),
            _ => unknown(OWNED, 1400),
        };
        let is_legacy = matches!(config.tunnel, Tunnel::Legacy);
        a.table(config, LOCAL);
        for _ in 0..random.below(12) {
            sent += a.kernel.send(&build(&Spec { payload: random.below(1400), ..Spec::default() })) as u64;
        }
        if is_legacy && random.below(2) == 0 {
            taken += frames(&a.take()).count() as u64;
        }
        if random.below(5) == 0 {
            a.engine.retry_handshake(PEER);
            a.engine.restart(PEER);
        }
        // answers to what was too big are made room for, and are as many as chance has it
        while a.kernel.receive().is_some() {}
    }
    settled(&mut a);
    a.table(legacy(OWNED, 1400), LOCAL);
    let began = Instant::now();
    // of several queues others than the settled one may hold some still
    loop {
        taken += frames(&a.take()).count() as u64;
        let lost = a.dropped(Reason::NoSession) + a.dropped(Reason::TooBig);
        assert!(taken + lost <= sent, "{sent} {taken} {lost}");
        // stale are packets for legacy tunnels and handshakes alike
        if taken + lost + a.dropped(Reason::Stale) >= sent {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{sent} {taken} {lost}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Loses what waits for the stream of `end`, once something does.
fn lost(end: &mut End) -> Vec<usize> {
    frames(&taken(end)).map(<[u8]>::len).collect()
}

#[test]
fn an_answer_that_was_lost_is_made_up_for_by_either_end() {
    for hurried_by_answerer in [true, false] {
        let (mut a, mut b) = joined(false);
        assert!(a.kernel.send(&build(&Spec { payload: 1, ..Spec::default() })));
        b.engine.inject(PEER, &taken(&mut a));
        assert_eq!(lost(&mut b), [92], "the answer");
        let began = Instant::now();
        if hurried_by_answerer {
            b.engine.retry_handshake(PEER)
        } else {
            a.engine.restart(PEER)
        }
        until(&mut a, &mut b, |_, b| b.kernel.receive());
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        // all is well: no handshake to send again
        arrives(&mut b, &mut a, &reply());
        a.take();
        a.engine.retry_handshake(PEER);
        assert!(a.take().is_empty());
    }
}

#[test]
fn a_stream_that_was_lost_is_told_what_waits_for_the_next_one() {
    let (mut a, mut b) = connected();
    a.take();
    assert!(a.kernel.send(&build(&Spec { payload: 1, ..Spec::default() })));
    settled(&mut a);
    assert!(a.engine.events().poll().contains(&(Event::Readable, PEER)));
    a.engine.restart(PEER);
    assert!(a.engine.events().poll().contains(&(Event::Readable, PEER)));
    until(&mut a, &mut b, |_, b| b.kernel.receive());
    assert_eq!(a.dropped(Reason::Stale), 0);
}
