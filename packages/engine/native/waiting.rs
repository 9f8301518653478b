//! Packets of one peer that wait for a session or for a path: bounded for each peer, and for all of them together.
use crate::limits::*;
use crate::queues::push_frame;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

#[derive(Default)]
pub struct Waiting {
    frames: Vec<u8>,
    since: Option<Instant>,
    /// Bytes that wait for any peer.
    all: Arc<AtomicUsize>,
}

impl Waiting {
    /// Makes a queue for another peer within the same bound.
    pub fn sibling(&self) -> Waiting {
        Waiting { frames: Vec::new(), since: None, all: self.all.clone() }
    }

    /// False: there is no room.
    pub fn push(&mut self, packet: &[u8]) -> bool {
        let len = FRAME_PREFIX_BYTES + packet.len();
        if self.frames.len() + len > MAX_WAITING_BYTES {
            return false;
        }
        if self.all.fetch_add(len, Relaxed) + len > MAX_ALL_WAITING_BYTES {
            self.all.fetch_sub(len, Relaxed);
            return false;
        }
        self.since.get_or_insert_with(Instant::now);
        push_frame(&mut self.frames, packet);
        true
    }

    pub fn frames(&self) -> &[u8] {
        &self.frames
    }

    pub fn take(&mut self) -> Vec<u8> {
        self.since = None;
        let frames = std::mem::take(&mut self.frames);
        self.all.fetch_sub(frames.len(), Relaxed);
        frames
    }

    /// True when it has waited for so long that nobody asks for it any more.
    pub fn is_overdue(&self, now: Instant) -> bool {
        self.since.is_some_and(|since| now.saturating_duration_since(since) >= MAX_WAIT)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_peers_share_one_bound() {
        let first = Waiting::default();
        let mut others: Vec<Waiting> = (0..MAX_ALL_WAITING_BYTES / 60_000).map(|_| first.sibling()).collect();
        assert!(others.iter_mut().all(|waiting| waiting.push(&[0; 59_998])));
        let mut last = first.sibling();
        assert!(!last.push(&[0; 60_000]));
        assert_eq!(others[0].take().len(), 60_000);
        assert!(last.push(&[0; 59_998]) && !first.sibling().push(&[0; 60_000]));
        drop(last);
        assert!(others[0].push(&[0; 59_998]));
        drop(others);
        assert_eq!(first.all.load(Relaxed), 0);
    }
}
