//! Fragments follow the first one, which alone has the ports. A first fragment that passed is remembered, so that those
//! behind it pass too. They must begin behind it: none may change what the first one was judged by.
use super::flow::Ticks;
use crate::limits::*;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;

/// What names the packet that a fragment is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentKey {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub id: u32,
    /// Of IPv4; 0 with IPv6, whose later fragments need not say it.
    pub protocol: u8,
}

struct First {
    key: FragmentKey,
    end: usize,
    seen: Ticks,
}

/// A row for each peer's hash: a peer takes no place from others, but from those whose hashes meet.
pub struct Fragments {
    hasher: RandomState,
    rows: Vec<Row>,
}

#[derive(Default)]
struct Row {
    firsts: Vec<First>,
    /// The one that is overwritten next.
    next: usize,
}

impl Default for Fragments {
    fn default() -> Fragments {
        Fragments { hasher: RandomState::new(), rows: Vec::new() }
    }
}

impl Fragments {
    /// Is a first fragment of this packet known?
    pub fn has(&mut self, peer: u32, key: &FragmentKey, now: Ticks) -> bool {
        self.find(peer, key, now).is_some()
    }

    /// May a fragment pass that begins at `start`?
    pub fn follows(&mut self, peer: u32, key: &FragmentKey, (start, now): (usize, Ticks)) -> bool {
        self.find(peer, key, now).is_some_and(|first| start >= first.end)
    }

    /// Remembers a first fragment, which ends at `end`.
    pub fn add(&mut self, peer: u32, key: FragmentKey, (end, now): (usize, Ticks)) {
        let Row { firsts, next } = self.row(peer);
        let first = First { key, end, seen: now };
        if firsts.len() < FRAGMENTS_PER_ROW {
            return firsts.push(first);
        }
        firsts[*next] = first;
        *next = (*next + 1) % FRAGMENTS_PER_ROW;
    }

    fn find(&mut self, peer: u32, key: &FragmentKey, now: Ticks) -> Option<&First> {
        let known = |first: &&First| first.key == *key && now.saturating_sub(first.seen) <= FRAGMENT_TICKS;
        self.row(peer).firsts.iter().find(known)
    }

    fn row(&mut self, peer: u32) -> &mut Row {
        if self.rows.is_empty() {
            self.rows.resize_with(FRAGMENT_ROWS, Row::default);
        }
        let at = self.hasher.hash_one(peer) as usize % FRAGMENT_ROWS;
        &mut self.rows[at]
    }
}
