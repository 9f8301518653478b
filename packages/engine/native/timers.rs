//! What is due in the sessions: keepalives, new keys, forgetting. Peers without a tunnel, and for whom nothing
//! waits, cost nothing.
use crate::counters::Reason;
use crate::engine::Shared;
use crate::events::Event;
use crate::limits::TICK;
use crate::sessions::Tick;
use crate::table::{Entry, View};
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Ends the wait when the engine stops.
#[derive(Default)]
pub struct Nap(Mutex<()>, Condvar);

impl Nap {
    pub fn interrupt(&self) {
        let _guard = self.0.lock();
        self.1.notify_all();
    }
}

/// Until the engine stops.
pub fn run(shared: &Shared) -> Result<(), String> {
    let mut view = View::new(&shared.table);
    let mut frames = Vec::new();
    loop {
        let mut guard = shared.nap.0.lock();
        if shared.stopping() {
            return Ok(());
        }
        shared.nap.1.wait_for(&mut guard, TICK);
        drop(guard);
        view.refresh(&shared.table);
        for entry in view.table().entries() {
            if entry.peer.live.load(Relaxed) {
                tick(shared, entry, &mut frames);
            }
        }
    }
}

fn tick(shared: &Shared, entry: &Entry, frames: &mut Vec<u8>) {
    let peer = &entry.peer;
    let mut link = peer.link();
    let (mut unsent, mut stale, mut silent) = (0, 0, false);
    if let Some(tunnel) = link.existing() {
        if tunnel.tick(frames) == Tick::Expired {
            unsent = link.give_up();
            silent = unsent > 0;
            // nobody has the keys for these any more
            stale = peer.outgoing.clear();
            peer.live.store(false, Relaxed);
        }
    } else if link.is_overdue(Instant::now()) {
        unsent = link.give_up();
    }
    if link.existing().is_none() && !link.is_waiting() {
        peer.live.store(false, Relaxed);
    }
    drop(link);
    peer.counters.drop_many(Reason::NoSession, unsent);
    peer.counters.drop_many(Reason::Stale, stale);
    if silent {
        shared.events.tell(Event::Silent, peer.id);
    }
    shared.queue(entry, frames, true);
}
