//! Which peer a datagram is for: WireGuard names a session by an index that its receiver chose.
use parking_lot::RwLock;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Indexes that one peer's sessions may hold at a time: eight sessions, and handshakes that are under way.
const MAX_INDEXES: usize = 16;

/// The peers' numbers by the indexes of their sessions and handshakes.
#[derive(Clone, Default)]
pub struct Receivers(Arc<RwLock<HashMap<u32, u32>>>);

impl Receivers {
    /// The number of the peer whose session has this index.
    #[inline]
    pub fn owner(&self, index: u32) -> Option<u32> {
        self.0.read().get(&index).copied()
    }

    /// Makes the numbers for the sessions of one peer.
    pub fn of(&self, peer: u32) -> OwnIndexes {
        OwnIndexes { receivers: self.clone(), peer, indexes: VecDeque::new() }
    }
}

/// The indexes of one peer; they are forgotten with it.
pub struct OwnIndexes {
    receivers: Receivers,
    peer: u32,
    indexes: VecDeque<u32>,
}

impl OwnIndexes {
    /// Learns the index that a handshake message of ours names; others name none.
    pub fn learn(&mut self, message: &[u8]) {
        let (Some([1 | 2, 0, 0, 0]), Some(index)) = (message.first_chunk::<4>(), index_at(message, 4)) else {
            return;
        };
        let mut owners = self.receivers.0.write();
        owners.insert(index, self.peer);
        self.indexes.push_back(index);
        if self.indexes.len() > MAX_INDEXES
            && let Some(oldest) = self.indexes.pop_front()
        {
            owners.remove(&oldest);
        }
    }
}

impl Drop for OwnIndexes {
    fn drop(&mut self) {
        let mut owners = self.receivers.0.write();
        for index in &self.indexes {
            owners.remove(index);
        }
    }
}

/// A session's index in a message.
#[inline]
pub fn index_at(message: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*message.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn initiation(index: u32) -> Vec<u8> {
        let mut message = vec![1, 0, 0, 0];
        message.extend(index.to_le_bytes());
        message
    }

    #[test]
    fn knows_the_last_indexes_of_each_peer_and_forgets_them_with_it() {
        let receivers = Receivers::default();
        let (mut one, mut other) = (receivers.of(7), receivers.of(8));
        for index in 0..20 {
            one.learn(&initiation(index));
        }
        other.learn(&initiation(100));
        other.learn(&[4, 0, 0, 0, 1, 2, 3, 4]);
        other.learn(&[1, 0, 0, 0, 1]);
        assert_eq!([receivers.owner(3), receivers.owner(4), receivers.owner(100)], [None, Some(7), Some(8)]);
        drop(one);
        assert_eq!([receivers.owner(19), receivers.owner(100)], [None, Some(8)]);
    }
}
