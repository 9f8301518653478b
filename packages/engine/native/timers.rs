//! What is due in the sessions: keepalives, new keys, forgetting. Peers without a tunnel cost nothing.
use crate::counters::Reason;
use crate::engine::Shared;
use crate::events::Event;
use crate::limits::TICK;
use crate::sessions::Tick;
use crate::table::{Entry, View, Way};
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::Ordering::Relaxed;

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
            if entry.way == Way::Stream && entry.peer.live.load(Relaxed) {
                tick(shared, entry, &mut frames);
            }
        }
    }
}

fn tick(shared: &Shared, entry: &Entry, frames: &mut Vec<u8>) {
    let peer = &entry.peer;
    let mut link = peer.link();
    let Some(tunnel) = link.existing() else { return };
    if tunnel.tick(frames) == Tick::Expired {
        let unsent = link.give_up();
        peer.live.store(false, Relaxed);
        peer.counters.drop_many(Reason::NoSession, unsent);
        if unsent > 0 {
            shared.events.push(Event::Silent { peer: peer.id });
        }
    }
    drop(link);
    shared.queue(entry, frames, true);
}
