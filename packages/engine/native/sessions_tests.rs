use super::*;
use crate::queues::frames;
use crate::testing::packets::{Spec, build};
use crate::testing::random::Random;
use std::time::Duration;

/// Two ends after a handshake.
fn pair(preshared: [Option<Key>; 2]) -> (Sessions, Sessions) {
    let (a, b) = (Identity::new([1; 32]), Identity::new([2; 32]));
    (Sessions::new(&a, 2, b.public_key(), preshared[0]), Sessions::new(&b, 1, a.public_key(), preshared[1]))
}

/// Hands the frames of one end to the other; false: it refused one.
fn deliver(batch: &mut Vec<u8>, to: &mut Sessions) -> bool {
    let mut answer = Vec::new();
    let good = frames(batch).all(|frame| match message_of(frame) {
        Some(Message::Sealed) => to.open(frame, &mut [0; 2000]).is_ok(),
        Some(Message::Handshake) => to.handshake(frame, &mut answer).is_ok(),
        None => false,
    });
    *batch = answer;
    good
}

fn joined() -> (Sessions, Sessions) {
    let (mut a, mut b) = pair([Some([9; 32]); 2]);
    let mut batch = Vec::new();
    a.initiate(false, &mut batch);
    assert!(deliver(&mut batch, &mut b) && deliver(&mut batch, &mut a) && deliver(&mut batch, &mut b));
    (a, b)
}

#[test]
fn packets_pass_after_a_handshake_in_both_directions() {
    let (mut a, mut b) = joined();
    let packet = build(&Spec { payload: 1001, ..Spec::default() });
    for _ in 0..3 {
        let mut batch = Vec::new();
        assert!(a.seal(&packet, 1280, &mut batch));
        let frame = frames(&batch).next().unwrap();
        assert_eq!(message_of(frame), Some(Message::Sealed));
        assert_eq!((frame.len() - SEAL_BYTES) % 16, 0, "padded");
        let mut out = [0; 2000];
        let len = b.open(frame, &mut out).unwrap();
        assert_eq!(&out[..packet.len()], &packet[..]);
        assert!(out[packet.len()..len].iter().all(|byte| *byte == 0));
        std::mem::swap(&mut a, &mut b);
    }
}

#[test]
fn a_handshake_is_repeated_a_second_later_unless_it_was_answered() {
    let (mut a, mut b) = pair([None; 2]);
    let (mut lost, mut batch) = (Vec::new(), Vec::new());
    let before = Instant::now();
    a.initiate(false, &mut lost);
    let after = Instant::now();
    a.repeat_handshake(before + HANDSHAKE_REPEAT - Duration::from_millis(1), &mut batch);
    assert!(batch.is_empty(), "too early");
    a.repeat_handshake(after + HANDSHAKE_REPEAT, &mut batch);
    assert_eq!(frames(&batch).count(), 1);
    assert!(batch != lost, "a copy would be refused");
    assert!(deliver(&mut batch, &mut b) && deliver(&mut batch, &mut a) && deliver(&mut batch, &mut b));
    a.repeat_handshake(Instant::now() + 2 * HANDSHAKE_REPEAT, &mut batch);
    assert!(batch.is_empty(), "answered");
}

#[test]
fn the_answer_to_a_handshake_that_was_repeated_meanwhile_counts() {
    let (mut a, mut b) = pair([None; 2]);
    let (mut slow, mut repeated) = (Vec::new(), Vec::new());
    a.initiate(false, &mut slow);
    assert!(deliver(&mut slow, &mut b));
    a.repeat_handshake(Instant::now() + HANDSHAKE_REPEAT, &mut repeated);
    assert!(!repeated.is_empty());
    assert!(deliver(&mut slow, &mut a) && deliver(&mut slow, &mut b));
    assert!(a.seal(&[0x45; 60], 1280, &mut slow) && deliver(&mut slow, &mut b));
}

#[test]
fn padding_ends_at_the_mtu() {
    let (mut a, _) = joined();
    let mut batch = Vec::new();
    a.seal(&[0x45; 1279], 1279, &mut batch);
    assert_eq!(frames(&batch).next().unwrap().len(), 1279 + SEAL_BYTES);
}

#[test]
fn a_packet_is_opened_once() {
    let (mut a, mut b) = joined();
    let mut batch = Vec::new();
    a.seal(&[0x45; 100], 1280, &mut batch);
    let frame = frames(&batch).next().unwrap();
    assert!(b.open(frame, &mut [0; 2000]).is_ok());
    assert_eq!(b.open(frame, &mut [0; 2000]), Err(Reason::Replayed));
}

#[test]
fn what_was_changed_on_the_way_is_refused() {
    let (mut a, mut b) = joined();
    let mut batch = Vec::new();
    a.seal(&[0x45; 100], 1280, &mut batch);
    let mut frame = frames(&batch).next().unwrap().to_vec();
    frame[60] ^= 1;
    assert_eq!(b.open(&frame, &mut [0; 2000]), Err(Reason::BadSeal));
    frame[4] ^= 1;
    assert_eq!(b.open(&frame, &mut [0; 2000]), Err(Reason::UnknownSession));
}

#[test]
fn another_preshared_key_or_another_peer_gets_no_session() {
    let (mut a, mut b) = pair([Some([9; 32]), Some([8; 32])]);
    let mut batch = Vec::new();
    a.initiate(false, &mut batch);
    assert!(deliver(&mut batch, &mut b));
    assert!(!deliver(&mut batch, &mut a));
    let mut stranger = Sessions::new(&Identity::new([3; 32]), 2, b_key(), None);
    stranger.initiate(false, &mut batch);
    assert!(!deliver(&mut batch, &mut b));
}

fn b_key() -> Key {
    Identity::new([2; 32]).public_key()
}

#[test]
fn a_flood_of_handshakes_is_limited() {
    let (_, mut b) = pair([None; 2]);
    let limited = (0..100).filter(|_| !b.may_handshake()).count();
    assert!(limited >= 100 - HANDSHAKE_BURST as usize - 2, "{limited}");
}

#[test]
fn an_allowance_comes_back_with_time() {
    let now = Instant::now();
    let mut allowance = Allowance::new(now);
    assert_eq!((0..1000).filter(|_| allowance.take(now)).count(), HANDSHAKE_BURST as usize);
    assert!(allowance.take(now + Duration::from_secs(1)));
}

#[test]
fn garbage_is_refused_whatever_it_looks_like() {
    let (mut a, mut b) = joined();
    let mut random = Random::new(9);
    let mut batch = Vec::new();
    a.seal(&[0x45; 300], 1280, &mut batch);
    let good = frames(&batch).next().unwrap().to_vec();
    for round in 0..20_000 {
        let mut bytes = if round % 2 == 0 { good.clone() } else { random.bytes(32 + round % 200) };
        if round % 5 == 0 {
            bytes[..4].copy_from_slice(&[4, 0, 0, 0]);
        }
        let at = random.below(bytes.len());
        bytes[at] = bytes[at].wrapping_add(1 + random.below(255) as u8);
        match message_of(&bytes) {
            Some(Message::Sealed) => assert!(b.open(&bytes, &mut [0; 2000]).is_err()),
            Some(Message::Handshake) => assert!(b.handshake(&bytes, &mut Vec::new()).is_err()),
            None => {}
        }
    }
    let mut batch = Vec::new();
    a.seal(&[0x45; 300], 1280, &mut batch);
    assert!(b.open(frames(&batch).next().unwrap(), &mut [0; 2000]).is_ok(), "the session lives on");
}
