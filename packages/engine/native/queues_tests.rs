use super::*;
use crate::testing::random::Random;

fn batch(lens: &[usize]) -> Vec<u8> {
    let mut batch = Vec::new();
    for (i, len) in lens.iter().enumerate() {
        push_frame(&mut batch, &vec![i as u8; *len]);
    }
    batch
}

#[test]
fn a_full_queue_drops_the_newest_and_says_so() {
    let queue = Outgoing::default();
    let mut pushed = 0;
    loop {
        let result = queue.push(&mut batch(&[1000]), false);
        if result.dropped > 0 {
            break;
        }
        pushed += 1;
    }
    assert_eq!(pushed, MAX_OUTBOUND_BYTES / 1002);
    assert_eq!(queue.push(&mut batch(&[148]), true), Pushed { dropped: 0, announce: false }, "reserve");
    let mut taken = 0;
    while let Some(batch) = queue.take() {
        assert!(batch.len() <= MAX_BATCH_BYTES);
        taken += frames(&batch).count();
    }
    assert_eq!(taken, pushed + 1);
}

#[test]
fn cuts_long_pushes_into_batches_of_whole_frames() {
    let queue = Outgoing::default();
    queue.push(&mut batch(&[1312; 53]), false);
    queue.push(&mut batch(&[65_535, 100, 65_535]), false);
    let taken: Vec<Vec<u8>> = std::iter::from_fn(|| queue.take()).collect();
    assert!(taken.iter().all(|batch| batch.len() <= MAX_BATCH_BYTES || frames(batch).count() == 1));
    assert_eq!(taken.iter().map(|batch| frames(batch).count()).sum::<usize>(), 56);
    assert_eq!(frames(&taken[0]).count(), MAX_BATCH_BYTES / 1314);
}

#[test]
fn keeps_the_beginning_of_a_batch_that_does_not_fit() {
    let queue = Outgoing::default();
    queue.push(&mut batch(&[60_000; 4]), false);
    let result = queue.push(&mut batch(&[10_000, 20_000, 10_000]), false);
    assert_eq!(result.dropped, 2);
}

#[test]
fn announces_once_until_it_was_found_empty() {
    let queue = Outgoing::default();
    assert!(queue.push(&mut batch(&[50]), false).announce);
    assert!(!queue.push(&mut batch(&[50]), false).announce);
    assert!(queue.take().is_some());
    assert!(!queue.push(&mut batch(&[50]), false).announce);
    assert!(queue.take().is_some());
    assert!(queue.take().is_none());
    assert!(queue.push(&mut batch(&[50]), false).announce);
    assert_eq!(queue.clear(), 1);
    assert!(queue.push(&mut batch(&[50]), false).announce);
    assert_eq!(queue.close(), 1);
    assert_eq!(queue.push(&mut batch(&[50, 50]), true), Pushed { dropped: 2, announce: false });
}

#[test]
fn finds_frames_wherever_the_stream_is_cut() {
    let mut random = Random::new(7);
    for _ in 0..2000 {
        let lens: Vec<usize> = (0..random.below(30)).map(|_| 32 + random.below(3000)).collect();
        let stream = batch(&lens);
        let queue = Incoming::default();
        let mut rest = &stream[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(1 + random.below(rest.len().min(4000)));
            let fed = queue.feed(now);
            assert!(!fed.broken && fed.dropped == 0);
            rest = later;
        }
        let mut got = Vec::new();
        queue.take(&mut got);
        assert_eq!(got, stream);
    }
}

#[test]
fn a_flood_is_bounded_and_counted() {
    let queue = Incoming::default();
    let stream = batch(&[1400; 40]);
    let dropped: usize = (0..1000).map(|_| queue.feed(&stream).dropped).sum();
    let mut got = Vec::new();
    assert!(queue.take(&mut got));
    assert!(got.len() <= MAX_INBOUND_BYTES);
    assert_eq!(frames(&got).count() + dropped, 40_000);
    assert_eq!(queue.feed(&stream), Fed { announce: true, ..Fed::default() });
}

#[test]
fn says_when_it_is_crowded_and_when_not_any_more() {
    let queue = Incoming::default();
    let stream = batch(&[1400; 40]);
    let calls = 1 + MAX_INBOUND_BYTES / 2 / stream.len();
    let crowded: Vec<bool> = (0..calls).map(|_| queue.feed(&stream).crowded).collect();
    assert_eq!(crowded.iter().position(|crowded| *crowded), Some(calls - 1));
    assert!(queue.take(&mut Vec::new()));
    assert!(!queue.take(&mut Vec::new()));
    assert!(!queue.feed(&stream).crowded);
}

#[test]
fn garbage_breaks_the_stream_until_a_new_one() {
    let queue = Incoming::default();
    let mut stream = batch(&[40]);
    stream.extend_from_slice(&[0, 3, 1, 2, 3]);
    let fed = queue.feed(&stream);
    assert_eq!(fed, Fed { bad: 1, broken: true, announce: true, ..Fed::default() });
    assert_eq!(queue.feed(&batch(&[40])), Fed { bad: 1, ..Fed::default() });
    queue.restart();
    assert_eq!(queue.feed(&batch(&[40])).bad, 0);
    let mut got = Vec::new();
    queue.take(&mut got);
    assert_eq!(frames(&got).count(), 2);
}

#[test]
fn random_bytes_never_grow_beyond_the_bounds() {
    let mut random = Random::new(8);
    for _ in 0..500 {
        let queue = Incoming::default();
        for _ in 0..30 {
            let len = random.below(30_000);
            queue.feed(&random.bytes(len));
            let state = queue.0.lock();
            assert!(state.frames.len() <= MAX_INBOUND_BYTES);
            assert!(state.partial.len() <= FRAME_PREFIX_BYTES + MAX_PACKET_BYTES);
        }
    }
}
