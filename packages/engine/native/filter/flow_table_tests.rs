use super::*;
use crate::filter::headers::{Headers, Kind, Part};
use crate::testing::random::Random;
use std::net::Ipv4Addr;

fn key(n: u32) -> Key {
    let headers = Headers { protocol: 17, at: 0, ports: (1, 2), kind: Kind::Ports, part: Part::Whole };
    Key::of(Ipv4Addr::from_bits(n).into(), Ipv4Addr::BROADCAST.into(), &headers).0
}

fn insert(table: &mut FlowTable, n: u32, peer: u32) -> u32 {
    table.insert(Flow::new(key(n), 0, peer, n))
}

fn answer(table: &mut FlowTable, at: u32, now: Ticks) {
    table.get(at).step(1, None, true);
    table.touch(at, now);
}

#[test]
fn the_oldest_goes_first_and_those_without_an_answer_before_all() {
    let mut table = FlowTable::new(Bounds { all: 4, peer: 4 });
    for n in 0..4 {
        insert(&mut table, n, 1);
    }
    let at = table.find(&key(0), 4).unwrap();
    answer(&mut table, at, 4);
    insert(&mut table, 4, 1);
    insert(&mut table, 5, 1);
    let left: Vec<u32> = (0..6).filter(|n| table.find(&key(*n), 5).is_some()).collect();
    assert_eq!((left, table.len()), (vec![0, 3, 4, 5], 4));
}

#[test]
fn a_peer_takes_its_own_places_first() {
    let mut table = FlowTable::new(Bounds { all: 100, peer: 60 });
    for n in 0..10 {
        let at = insert(&mut table, n, 1);
        answer(&mut table, at, 10);
    }
    // one floods up to its own bound, the next one up to all, and then it pays itself
    for n in 100..1_000 {
        insert(&mut table, n, 2);
    }
    assert_eq!(table.len(), 70);
    (1_000..2_000).for_each(|n| {
        let at = insert(&mut table, n, 3);
        answer(&mut table, at, n);
    });
    assert_eq!(table.len(), 100);
    let left = (0..10).filter(|n| table.find(&key(*n), 20).is_some()).count();
    assert_eq!(left, 10, "the honest peer keeps its flows");
}

#[test]
fn finds_what_a_plain_list_would_hold() {
    let mut random = Random::new(3);
    let mut table = FlowTable::new(Bounds { all: 64, peer: 20 });
    let mut known: Vec<u32> = Vec::new();
    for round in 0..50_000u32 {
        let n = random.below(400) as u32;
        match table.find(&key(n), 0) {
            Some(at) if random.below(3) == 0 => {
                table.remove(at);
                known.retain(|other| *other != n);
            }
            Some(at) => answer(&mut table, at, 0),
            None => {
                assert!(!known.contains(&n) || table.find(&key(n), 0).is_none());
                table.insert(Flow::new(key(n), 0, n % 7, 0));
                known.push(n);
            }
        }
        known.retain(|n| table.find(&key(*n), 0).is_some());
        assert_eq!(known.len(), table.len(), "round {round}");
        assert!(table.len() <= 64 && known.iter().filter(|n| **n % 7 == 3).count() <= 20);
    }
}
