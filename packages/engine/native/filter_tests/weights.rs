//! What the filter costs: memory that does not grow, and rules that compile in time.
use super::lab::*;
use crate::filter::{PacketRules, Rules};
use crate::limits::*;
use crate::ranges::Prefix;
use std::time::Instant;

/// As many machines, each with its own set, and rules between sets drawn by number.
fn large(machines: u32, count: u32) -> PacketRules {
    let range = |n: u32| {
        let text = format!("10.{}.{}.{}/32", 1 + n / 65_536, n / 256 % 256, n % 256);
        (Prefix::parse(&text).unwrap(), vec![n, machines + n % 50])
    };
    let each = |n: u32| rule(Some(n * 7 % machines), Some(machines + n % 50), &["tcp 22", "udp 1000-2000"]);
    PacketRules {
        ranges: (0..machines).map(range).collect(),
        layers: vec![(0..count).map(each).collect()],
        silent: false,
    }
}

#[test]
fn a_thousand_machines_and_a_thousand_rules_compile_within_50_ms() {
    let rules = large(1_000, 1_000);
    let best = (0..5).map(|_| {
        let (rules, began) = (rules.clone(), Instant::now());
        let compiled = Rules::new(rules, None);
        let took = began.elapsed();
        drop(compiled);
        took
    });
    let best = best.min().unwrap();
    assert!(best.as_millis() < 50, "{best:?}");
    println!("compiled in {best:?}");
}

#[test]
fn short_flows_without_end_take_a_bounded_number_of_places() {
    let flows: u32 = std::env::var("MESH_FLOWS").ok().and_then(|text| text.parse().ok()).unwrap_or(600_000);
    let lab = Lab::new(Some(rules(vec![rule(None, None, &["udp"])])));
    let mut bytes = packet("10.1.0.2", "10.1.0.1", udp((1, 53))).bytes();
    let (began, resident) = (Instant::now(), resident_kib());
    for n in 0..flows {
        bytes[20..22].copy_from_slice(&(n as u16).to_be_bytes());
        bytes[14..16].copy_from_slice(&((n >> 16) as u16).to_be_bytes());
        assert!(lab.bytes_pass(&bytes, true));
    }
    let took = began.elapsed();
    assert!(lab.filter.flow_count() <= MAX_PEER_FLOWS, "{}", lab.filter.flow_count());
    let grown = resident_kib().saturating_sub(resident);
    println!("{flows} flows in {took:?}, {:?} each; {grown} KiB grown", took / flows);
    assert!(grown < 64 * 1024, "{grown} KiB");
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4
}
