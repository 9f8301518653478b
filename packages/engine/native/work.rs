//! The peers with frames from their streams that wait to be opened.
use crate::peer::Peer;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;

/// Peers that have frames to open, each at most once, in the order they announced.
#[derive(Default)]
pub struct Work {
    peers: Mutex<VecDeque<Arc<Peer>>>,
    some: Condvar,
}

impl Work {
    pub fn announce(&self, peer: Arc<Peer>) {
        self.peers.lock().push_back(peer);
        self.some.notify_one();
    }

    /// Wakes whoever waits, to see that the engine stops.
    pub fn interrupt(&self) {
        let _peers = self.peers.lock();
        self.some.notify_all();
    }

    /// The next peer with frames to open; none only when the engine stops.
    pub fn next(&self, stopping: impl Fn() -> bool) -> Option<Arc<Peer>> {
        let mut peers = self.peers.lock();
        loop {
            if stopping() {
                return None;
            }
            if let Some(peer) = peers.pop_front() {
                return Some(peer);
            }
            self.some.wait(&mut peers);
        }
    }
}
