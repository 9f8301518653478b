//! When a peer's tunnel or key changes, a new `Peer` stands in the table. What the one before leaves behind:
//!
//! 1. Frames that wait to be taken or opened belong to the old tunnel: dropped and counted.
//! 2. Packets that wait for a session or a path go through the new tunnel, cut to its MTU.
//!
//! A thread that still has the old table finds the old one closed and retired, and counts what it cannot add.
use crate::clamp::clamp_segment_size;
use crate::counters::Reason;
use crate::events::Event;
use crate::limits::FRAME_PREFIX_BYTES;
use crate::packet::parse;
use crate::peer::{Peer, Tunnel};
use crate::queues::{frames, push_frame};
use crate::shared::Shared;
use crate::table::Entry;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Moves what waits at `old` to `entry`, which is in the table by now.
pub fn take_over(shared: &Shared, old: &Arc<Peer>, entry: &Entry) {
    let peer = &entry.peer;
    peer.counters.drop_many(Reason::Stale, old.outgoing.close());
    let left = old.state().retire();
    if left.is_empty() {
        return;
    }
    let packets = fitting(shared, entry, left);
    match peer.tunnel {
        Tunnel::Legacy => legacy(shared, entry, packets),
        Tunnel::WireGuard(_) => sealed(shared, entry, &packets),
        Tunnel::None => {
            let asks = wait(entry, &packets) && peer.state().asks_for_path(Instant::now());
            if asks {
                shared.events.tell(Event::PathNeeded, peer.id);
            }
        }
    }
}

/// Those packets that fit into the new tunnel's MTU; the senders of the others are told.
fn fitting(shared: &Shared, entry: &Entry, left: Vec<u8>) -> Vec<u8> {
    let mut kept = Vec::with_capacity(left.len());
    for packet in frames(&left) {
        let Ok(ip) = parse(packet) else { continue };
        if packet.len() > entry.mtu {
            entry.peer.counters.drop_one(Reason::TooBig);
            shared.tell_too_big(packet, &ip, entry.mtu);
            continue;
        }
        let at = kept.len() + FRAME_PREFIX_BYTES;
        push_frame(&mut kept, packet);
        clamp_segment_size(&mut kept[at..], &ip, entry.segment_mtu(), true);
    }
    kept
}

fn legacy(shared: &Shared, entry: &Entry, mut packets: Vec<u8>) {
    let (count, bytes) =
        frames(&packets).fold((0, 0), |(count, bytes), packet| (count + 1, bytes + packet.len() as u64));
    entry.peer.counters.sent(count, bytes);
    shared.deliver(entry, &mut packets, false);
}

/// Lets packets wait for a session, which begins at once.
fn sealed(shared: &Shared, entry: &Entry, packets: &[u8]) {
    if !wait(entry, packets) {
        return;
    }
    let peer = &entry.peer;
    let mut handshake = Vec::new();
    let mut state = peer.state();
    if let Some(sessions) = state.sessions(peer, &shared.identity) {
        sessions.initiate(false, &mut handshake);
    }
    // a session was there already, from the packets of a moment
    let released = state.release(entry.mtu, &mut handshake);
    drop(state);
    peer.counters.sent(released.0, released.1);
    shared.deliver(entry, &mut handshake, true);
}

/// Lets packets wait. True when something does.
fn wait(entry: &Entry, packets: &[u8]) -> bool {
    let mut state = entry.peer.state();
    let lost = frames(packets).filter(|packet| !state.wait(packet)).count();
    let waiting = state.is_waiting();
    drop(state);
    entry.peer.live.store(true, Relaxed);
    entry.peer.counters.drop_many(Reason::NoSession, lost);
    waiting
}
