//! Timers do what is due in the sessions: keepalives, new keys, forgetting; and guests are told where this node is. Peers
//! without sessions, and for whom nothing waits, cost nothing.
use crate::counters::Reason;
use crate::events::Event;
use crate::greetings::Greetings;
use crate::limits::{TICK, TICKS_PER_SECOND};
use crate::shared::Shared;
use crate::table::{Entry, View};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Runs until the engine stops.
pub fn run(shared: &Shared) -> Result<(), String> {
    let mut view = View::new(&shared.table);
    let (mut frames, mut greetings) = (Vec::new(), Greetings::default());
    let began = Instant::now();
    loop {
        shared.waker.pause(TICK);
        if shared.stopping() {
            return Ok(());
        }
        view.refresh(&shared.table);
        let ticks = began.elapsed().as_millis() * u128::from(TICKS_PER_SECOND) / 1_000;
        shared.filter.set_now(ticks as u32);
        for entry in view.table().entries() {
            if entry.peer.live.load(Relaxed) {
                tick(shared, entry, &mut frames);
            }
        }
        greetings.look(shared, view.table(), Instant::now(), &mut frames);
    }
}

fn tick(shared: &Shared, entry: &Entry, frames: &mut Vec<u8>) {
    let peer = &entry.peer;
    let mut state = peer.state();
    let (mut unsent, mut stale, mut silent) = (0, 0, false);
    let now = Instant::now();
    if state.tick(now, frames) {
        unsent = state.give_up();
        silent = unsent > 0;
        // nobody has the keys for these any more
        stale = peer.outgoing.clear();
    } else if let Some(sessions) = state.existing() {
        // a stream loses nothing, and a guest speaks WireGuard as it is; their handshakes wait for gotatun
        if entry.path.endpoint.is_some() {
            sessions.repeat_handshake(now, frames);
        }
    } else if state.is_overdue(now) {
        unsent = state.give_up();
    }
    if state.existing().is_none() && !state.is_waiting() {
        peer.live.store(false, Relaxed);
    }
    drop(state);
    peer.counters.drop_many(Reason::NoSession, unsent);
    peer.counters.drop_many(Reason::Stale, stale);
    if silent {
        shared.events.tell(Event::Silent, peer.id);
    }
    shared.deliver(entry, frames, true);
}
