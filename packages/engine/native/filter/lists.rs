//! Flows in the order of their last packets, so that the oldest goes first: doubly linked lists within the table's slots.
//! A flow is in two of them, one of all flows and one of its peer's.
use super::flow::Flow;

pub const NONE: u32 = u32::MAX;

/// The neighbours of a flow in one list.
#[derive(Clone, Copy, Debug)]
pub struct Links {
    newer: u32,
    older: u32,
}

impl Default for Links {
    fn default() -> Links {
        Links { newer: NONE, older: NONE }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct List {
    newest: u32,
    pub oldest: u32,
}

impl Default for List {
    fn default() -> List {
        List { newest: NONE, oldest: NONE }
    }
}

/// The list of all flows, or that of one peer.
#[derive(Clone, Copy)]
pub enum Of {
    All = 0,
    Peer = 1,
}

impl List {
    pub fn push(&mut self, flows: &mut [Flow], of: Of, at: u32) {
        flows[at as usize].links[of as usize] = Links { newer: NONE, older: self.newest };
        match flows.get_mut(self.newest as usize) {
            Some(before) => before.links[of as usize].newer = at,
            None => self.oldest = at,
        }
        self.newest = at;
    }

    pub fn remove(&mut self, flows: &mut [Flow], of: Of, at: u32) {
        let Links { newer, older } = flows[at as usize].links[of as usize];
        match flows.get_mut(newer as usize) {
            Some(flow) => flow.links[of as usize].older = older,
            None => self.newest = older,
        }
        match flows.get_mut(older as usize) {
            Some(flow) => flow.links[of as usize].newer = newer,
            None => self.oldest = newer,
        }
    }
}
