//! Flows by their keys, bounded by peer and in all. Nothing here takes longer with more flows: a hash with a secret, a list
//! in the order of last packets, and memory that is asked for once and used as it is needed.
use super::flow::{FLEETING, Flow, LASTING, Ticks};
use super::key::Key;
use super::lists::{List, NONE, Of};
use crate::limits::FLOW_TOUCH_TICKS;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

pub struct FlowTable {
    hasher: RandomState,
    /// The first flow of each hash.
    heads: Vec<u32>,
    flows: Vec<Flow>,
    free: u32,
    len: usize,
    lists: [List; 2],
    peers: HashMap<u32, PeerFlows>,
    bounds: Bounds,
}

/// The most flows.
#[derive(Clone, Copy)]
pub struct Bounds {
    pub all: usize,
    pub peer: usize,
}

#[derive(Default)]
struct PeerFlows {
    count: usize,
    lists: [List; 2],
}

impl FlowTable {
    pub fn new(bounds: Bounds) -> FlowTable {
        FlowTable {
            hasher: RandomState::new(),
            heads: Vec::new(),
            flows: Vec::new(),
            free: NONE,
            len: 0,
            lists: Default::default(),
            peers: HashMap::new(),
            bounds,
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn get(&mut self, at: u32) -> &mut Flow {
        &mut self.flows[at as usize]
    }

    /// The flow's slot. A flow that expired is forgotten.
    pub fn find(&mut self, key: &Key, now: Ticks) -> Option<u32> {
        let mut at = *self.heads.get(self.slot(key))?;
        while let Some(flow) = self.flows.get(at as usize) {
            if flow.key == *key {
                if flow.has_expired(now) {
                    self.remove(at);
                    return None;
                }
                return Some(at);
            }
            at = flow.chain;
        }
        None
    }

    /// Adds a flow that is not there. Where there is no room, others go.
    pub fn insert(&mut self, mut flow: Flow) -> u32 {
        if self.heads.is_empty() {
            // both are only touched as far as they are used
            self.heads = vec![NONE; self.bounds.all.next_power_of_two()];
            self.flows.reserve_exact(self.bounds.all);
        }
        self.make_room(flow.peer);
        let (slot, peer) = (self.slot(&flow.key), flow.peer);
        (flow.chain, flow.class) = (self.heads[slot], flow.class_now());
        let at = self.place(flow);
        self.heads[slot] = at;
        self.len += 1;
        self.peers.entry(peer).or_default().count += 1;
        self.link(at);
        at
    }

    pub fn remove(&mut self, at: u32) {
        self.unlink(at);
        self.unchain(at);
        self.len -= 1;
        let flow = &mut self.flows[at as usize];
        flow.chain = self.free;
        self.free = at;
        let peer = flow.peer;
        if let Some(of) = self.peers.get_mut(&peer) {
            of.count -= 1;
            if of.count == 0 {
                self.peers.remove(&peer);
            }
        }
    }

    /// Takes note that a packet came. The order is right to a second.
    pub fn touch(&mut self, at: u32, now: Ticks) {
        let flow = &self.flows[at as usize];
        if now.saturating_sub(flow.seen) < FLOW_TOUCH_TICKS && flow.class_now() == flow.class {
            return;
        }
        self.unlink(at);
        let flow = &mut self.flows[at as usize];
        flow.seen = now;
        flow.class = flow.class_now();
        self.link(at);
    }

    fn place(&mut self, flow: Flow) -> u32 {
        let at = self.free;
        match self.flows.get_mut(at as usize) {
            Some(slot) => {
                self.free = slot.chain;
                *slot = flow;
                at
            }
            None => {
                self.flows.push(flow);
                self.flows.len() as u32 - 1
            }
        }
    }

    /// One that was not answered or is over goes first, then the one that was silent for longest: of the same peer, where
    /// it has more than its share.
    fn make_room(&mut self, peer: u32) {
        let own = self.peers.get(&peer);
        let count = own.map_or(0, |own| own.count);
        let is_full = self.len >= self.bounds.all;
        if count < self.bounds.peer && !is_full {
            return;
        }
        let is_above_share = count * self.peers.len() >= self.bounds.all;
        let lists = match own {
            Some(own) if count >= self.bounds.peer || is_above_share => own.lists,
            _ => self.lists,
        };
        let oldest = [FLEETING, LASTING].map(|class| lists[class as usize].oldest);
        if let Some(at) = oldest.into_iter().find(|at| *at != NONE) {
            self.remove(at);
        }
    }

    fn slot(&self, key: &Key) -> usize {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(&key.bytes());
        hasher.finish() as usize & self.heads.len().wrapping_sub(1)
    }

    fn unchain(&mut self, at: u32) {
        let flow = &self.flows[at as usize];
        let (slot, behind) = (self.slot(&flow.key), flow.chain);
        let mut before = self.heads[slot];
        if before == at {
            self.heads[slot] = behind;
            return;
        }
        while let Some(flow) = self.flows.get_mut(before as usize) {
            if flow.chain == at {
                flow.chain = behind;
                return;
            }
            before = flow.chain;
        }
    }

    fn link(&mut self, at: u32) {
        let Flow { peer, class, .. } = self.flows[at as usize];
        self.lists[class as usize].push(&mut self.flows, Of::All, at);
        if let Some(of) = self.peers.get_mut(&peer) {
            of.lists[class as usize].push(&mut self.flows, Of::Peer, at);
        }
    }

    fn unlink(&mut self, at: u32) {
        let Flow { peer, class, .. } = self.flows[at as usize];
        self.lists[class as usize].remove(&mut self.flows, Of::All, at);
        if let Some(of) = self.peers.get_mut(&peer) {
            of.lists[class as usize].remove(&mut self.flows, Of::Peer, at);
        }
    }
}

#[cfg(test)]
#[path = "flow_table_tests.rs"]
mod tests;
