//! From a peer's stream to the device. One turn:
//!
//! 1. Take all frames that wait for one peer.
//! 2. Open, check and join them (`opener`).
//! 3. Write to the device what is complete.
//!
//! Peers take turns, with at most `MAX_INBOUND_BYTES` each, so that one that floods delays nobody for long.
use crate::counters::Reason;
use crate::events::Event;
use crate::limits::*;
use crate::opener::{Gate, Opener};
use crate::peer::Tunnel;
use crate::queues::frames;
use crate::sessions::{Message, message_of};
use crate::shared::Shared;
use crate::table::{Entry, Table, View};
use std::sync::Arc;

pub struct Inbound<'a> {
    shared: &'a Shared,
    view: View,
    batch: Vec<u8>,
    opener: Opener<'a>,
}

impl<'a> Inbound<'a> {
    pub fn new(shared: &'a Shared) -> Inbound<'a> {
        let batch = Vec::with_capacity(MAX_INBOUND_BYTES);
        Inbound { shared, view: View::new(&shared.table), batch, opener: Opener::new(shared, None) }
    }

    /// Runs until the engine stops.
    pub fn run(&mut self) -> Result<(), String> {
        while let Some(peer) = self.shared.work.next(|| self.shared.stopping()) {
            self.view.refresh(&self.shared.table);
            // once for each batch: the table must not change under it
            let table = self.view.table().clone();
            if peer.incoming.take(&mut self.batch) {
                self.shared.events.tell(Event::Writable, peer.id);
            }
            let batch = std::mem::take(&mut self.batch);
            // a peer that the table does not name any more is not heard
            if let Some(entry) = table.entry(peer.id) {
                match entry.peer.tunnel {
                    _ if !Arc::ptr_eq(&peer.incoming, &entry.peer.incoming) => {
                        peer.counters.drop_many(Reason::Stale, frames(&batch).count());
                    }
                    Tunnel::Legacy => self.legacy(&table, entry, &batch),
                    Tunnel::WireGuard(_) => self.sealed(&table, entry, &batch),
                    Tunnel::None => {}
                }
                self.opener.write(&entry.peer);
            }
            self.batch = batch;
        }
        Ok(())
    }

    fn legacy(&mut self, table: &Table, entry: &Entry, batch: &[u8]) {
        let mut gate = Gate::new(&self.shared.filter, table, (entry, None));
        for packet in frames(batch) {
            self.opener.pass_unsealed(entry, &mut gate, packet);
        }
        gate.count();
    }

    fn sealed(&mut self, table: &Table, entry: &Entry, batch: &[u8]) {
        let mut gate = Gate::new(&self.shared.filter, table, (entry, None));
        let mut rest = frames(batch).peekable();
        let is_sealed = |next: &[u8]| message_of(next) == Some(Message::Sealed);
        while let Some(first) = rest.peek() {
            match message_of(first) {
                Some(Message::Sealed) => self.opener.open_run(entry, &mut gate, &mut rest, is_sealed),
                Some(Message::Handshake) => {
                    self.opener.handshake(entry, first, None);
                    rest.next();
                }
                None => {
                    entry.peer.counters.drop_one(Reason::NotSealed);
                    rest.next();
                }
            }
        }
        gate.count();
    }
}
