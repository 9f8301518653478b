//! Events tell the application what happened: bounded, and one wake-up for all that gathers until it looks.
use crate::limits::MAX_EVENTS;
use crate::link_watch::Changes;
use parking_lot::Mutex;
use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};

macro_rules! events {
    ($($(#[$doc:meta])* $variant:ident => $name:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum Event { $($(#[$doc])* $variant,)* }

        /// The names that `src/engine.ts` has for them, in the same order.
        pub const EVENT_NAMES: &[&str] = &[$($name,)*];
    };
}

events! {
    /// A session with the peer was made or renewed.
    Session => "session",
    /// The peer did not answer a handshake for 90 seconds.
    Silent => "silent",
    /// The peer's stream brought bytes that are no frames; a new stream is needed.
    Broken => "broken",
    /// The queue of what came in was crowded, and takes more again.
    Writable => "writable",
    /// The queue of what goes out was empty, and has something to take.
    Readable => "readable",
    /// Packets wait for the peer, and there is no tunnel to it.
    PathNeeded => "pathNeeded",
    /// Datagrams that are no WireGuard wait to be taken.
    Datagrams => "datagrams",
    /// The interface was changed, by others or by this process: its state, an address, or a route into it that went.
    Interface => "interface",
    /// Other interfaces of this machine got or lost addresses.
    Networks => "networks",
    /// The device or a thread is gone; no packets pass any more.
    Failed => "failed",
}

impl Event {
    /// True for `Writable` and all behind it, which say what holds now: they are told once however often they came, and
    /// never lost.
    fn is_mark(self) -> bool {
        self >= Event::Writable
    }
}

#[derive(Default)]
struct Untold {
    queue: VecDeque<(Event, u32)>,
    marks: BTreeSet<(Event, u32)>,
    failure: Option<String>,
}

pub struct Events {
    untold: Mutex<Untold>,
    woken: AtomicBool,
    dropped: AtomicU64,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Events {
    /// `wake` runs on any thread and must not block.
    pub fn new(wake: Box<dyn Fn() + Send + Sync>) -> Events {
        Events { untold: Mutex::default(), woken: AtomicBool::new(false), dropped: AtomicU64::new(0), wake }
    }

    pub fn tell(&self, event: Event, peer: u32) {
        self.note(event, peer);
        self.wake();
    }

    /// Tells as `tell` does, but whoever calls also calls `wake`, soon.
    pub fn note(&self, event: Event, peer: u32) {
        let mut untold = self.untold.lock();
        if event.is_mark() {
            untold.marks.insert((event, peer));
        } else if untold.queue.len() < MAX_EVENTS {
            untold.queue.push_back((event, peer));
        } else {
            self.dropped.fetch_add(1, Relaxed);
        }
    }

    /// Tells that the engine has failed.
    pub fn fail(&self, message: String) {
        self.untold.lock().failure.get_or_insert(message);
        self.tell(Event::Failed, 0);
    }

    /// Tells what the kernel said of links.
    pub fn links(&self, Changes { interface, networks }: Changes) {
        for event in
            [interface.then_some(Event::Interface), networks.then_some(Event::Networks)].into_iter().flatten()
        {
            self.tell(event, 0);
        }
    }

    /// Why no packets pass any more.
    pub fn failure(&self) -> Option<String> {
        self.untold.lock().failure.clone()
    }

    /// All events since the last call, each with its peer's number.
    pub fn poll(&self) -> Vec<(Event, u32)> {
        self.woken.store(false, SeqCst);
        let mut untold = self.untold.lock();
        let marks = std::mem::take(&mut untold.marks);
        untold.queue.drain(..).chain(marks).collect()
    }

    pub fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    pub fn wake(&self) {
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
        events.note(Event::Readable, 7);
        assert_eq!(wakes.load(Relaxed), 0);
        for peer in 0..2000 {
            events.tell(Event::Session, peer);
        }
        events.tell(Event::PathNeeded, 8);
        events.tell(Event::PathNeeded, 8);
        events.fail("gone".into());
        assert_eq!(wakes.load(Relaxed), 1);
        let got = events.poll();
        assert_eq!(got[MAX_EVENTS..], [(Event::Readable, 7), (Event::PathNeeded, 8), (Event::Failed, 0)]);
        assert_eq!((events.dropped(), events.failure()), (2000 - MAX_EVENTS as u64, Some("gone".into())));
        assert!(events.poll().is_empty());
        events.tell(Event::Readable, 7);
        assert_eq!(wakes.load(Relaxed), 2);
    }
}
