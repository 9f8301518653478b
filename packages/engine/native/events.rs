//! What happened, for the application: bounded, and one wake-up for all that gathers until it looks.
use crate::limits::MAX_EVENTS;
use parking_lot::Mutex;
use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A session with the peer was made or renewed.
    Session { peer: u32 },
    /// The peer did not answer a handshake for 90 seconds.
    Silent { peer: u32 },
    /// What came from the peer's stream are no frames; a new stream is needed.
    Broken { peer: u32 },
    /// The device or a thread is gone; the engine carries nothing any more.
    Failed { message: String },
}

/// Peers for which something holds now; each at most once in each list, so these are never lost.
#[derive(Default)]
pub struct Marks {
    /// The queue was empty and has something to take.
    pub carry: Vec<u32>,
    /// The queue of what came in was crowded and is empty again.
    pub room: Vec<u32>,
    /// Packets wait for it, and no way to it is known.
    pub wanted: BTreeSet<u32>,
}

pub struct Events {
    queue: Mutex<VecDeque<Event>>,
    marks: Mutex<Marks>,
    woken: AtomicBool,
    dropped: AtomicU64,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Events {
    /// `wake` runs on any thread and must not block.
    pub fn new(wake: Box<dyn Fn() + Send + Sync>) -> Events {
        let (queue, marks) = (Mutex::default(), Mutex::default());
        Events { queue, marks, woken: AtomicBool::new(false), dropped: AtomicU64::new(0), wake }
    }

    pub fn push(&self, event: Event) {
        {
            let mut queue = self.queue.lock();
            // the end of everything is told in any case
            if queue.len() >= MAX_EVENTS && !matches!(event, Event::Failed { .. }) {
                self.dropped.fetch_add(1, Relaxed);
                return;
            }
            queue.push_back(event);
        }
        self.wake();
    }

    pub fn carry(&self, peer: u32) {
        self.marks.lock().carry.push(peer);
        self.wake();
    }

    pub fn room(&self, peer: u32) {
        self.marks.lock().room.push(peer);
        self.wake();
    }

    pub fn wanted(&self, peer: u32) {
        self.marks.lock().wanted.insert(peer);
        self.wake();
    }

    /// Everything since the last call.
    pub fn poll(&self) -> (Marks, Vec<Event>) {
        self.woken.store(false, SeqCst);
        let marks = std::mem::take(&mut *self.marks.lock());
        (marks, self.queue.lock().drain(..).collect())
    }

    pub fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    fn wake(&self) {
        if !self.woken.swap(true, SeqCst) {
            (self.wake)();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn wakes_once_and_keeps_within_its_bound() {
        let wakes = Arc::new(AtomicU64::new(0));
        let count = wakes.clone();
        let events = Events::new(Box::new(move || {
            count.fetch_add(1, Relaxed);
        }));
        for peer in 0..2000 {
            events.push(Event::Session { peer });
        }
        events.carry(7);
        events.wanted(8);
        events.wanted(8);
        events.push(Event::Failed { message: "gone".into() });
        assert_eq!(wakes.load(Relaxed), 1);
        let (marks, got) = events.poll();
        assert_eq!(
            (marks.carry, marks.wanted.len(), got.len(), events.dropped()),
            (vec![7], 1, MAX_EVENTS + 1, 2000 - MAX_EVENTS as u64)
        );
        events.carry(7);
        assert_eq!(wakes.load(Relaxed), 2);
    }
}
