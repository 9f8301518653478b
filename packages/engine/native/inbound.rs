//! From a peer's stream to the device. One turn:
//!
//! 1. Take all frames that wait for one peer.
//! 2. Open each one, right behind the packet it probably follows.
//! 3. Check its header and length, whether the source is this peer's, and whether the destination is ours.
//! 4. Join it to the packets before it.
//! 5. Write to the device what is complete.
//!
//! Peers take turns, with at most `MAX_INBOUND_BYTES` each, so that one that floods delays nobody for long. A peer's
//! lock is held for `OPEN_RUN` packets at most, never over a write.
use crate::clamp::clamp_segment_size;
use crate::counters::Reason;
use crate::engine::Shared;
use crate::events::Event;
use crate::limits::*;
use crate::packet::{Ip, is_multicast, parse};
use crate::peer::{Peer, Tunnel};
use crate::queues::frames;
use crate::segments::Joiner;
use crate::sessions::{Handshake, Message, message_of};
use crate::table::{Entry, Table, View};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

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
    fn next(&self, shared: &Shared) -> Option<Arc<Peer>> {
        let mut peers = self.peers.lock();
        loop {
            if shared.stopping() {
                return None;
            }
            if let Some(peer) = peers.pop_front() {
                return Some(peer);
            }
            self.some.wait(&mut peers);
        }
    }
}

pub struct Inbound<'a> {
    shared: &'a Shared,
    view: View,
    batch: Vec<u8>,
    joiner: Joiner,
    answers: Vec<u8>,
}

impl<'a> Inbound<'a> {
    pub fn new(shared: &'a Shared) -> Inbound<'a> {
        let device = &shared.device;
        let joiner = Joiner::new(8 * 64 * 1024, device.offload(), device.offload_udp());
        let (batch, answers) = (Vec::with_capacity(MAX_INBOUND_BYTES), Vec::new());
        Inbound { shared, view: View::new(&shared.table), batch, joiner, answers }
    }

    /// Runs until the engine stops.
    pub fn run(&mut self) -> Result<(), String> {
        while let Some(peer) = self.shared.work.next(self.shared) {
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
                self.write(entry);
            }
            self.batch = batch;
        }
        Ok(())
    }

    fn legacy(&mut self, table: &Table, entry: &Entry, batch: &[u8]) {
        let mut gate = Gate::new(table, entry);
        for packet in frames(batch) {
            if !self.joiner.has_room(packet.len()) {
                self.write(entry);
            }
            self.joiner.slot(packet.len()).copy_from_slice(packet);
            gate.pass(&mut self.joiner, packet.len());
        }
        gate.count();
    }

    fn sealed(&mut self, table: &Table, entry: &Entry, batch: &[u8]) {
        let mut gate = Gate::new(table, entry);
        let mut rest = frames(batch).peekable();
        while let Some(first) = rest.peek() {
            match message_of(first) {
                Some(Message::Sealed) => self.open_run(entry, &mut gate, &mut rest),
                Some(Message::Handshake) => {
                    self.handshake(entry, first);
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

    /// Opens a run of sealed packets under one lock.
    fn open_run<'b>(
        &mut self,
        entry: &Entry,
        gate: &mut Gate,
        rest: &mut std::iter::Peekable<impl Iterator<Item = &'b [u8]>>,
    ) {
        let peer = &entry.peer;
        let mut state = peer.state();
        for _ in 0..OPEN_RUN {
            let room = rest.peek().is_some_and(|next| self.joiner.has_room(next.len()));
            if !room && rest.peek().is_some() {
                // rare: the buffer holds more than most batches
                drop(state);
                self.write(entry);
                state = peer.state();
            }
            let Some(datagram) = rest.next_if(|next| message_of(next) == Some(Message::Sealed)) else {
                break;
            };
            let Some(sessions) = state.sessions(peer, &self.shared.identity) else {
                peer.counters.drop_one(Reason::UnknownSession);
                continue;
            };
            match sessions.open(datagram, self.joiner.slot(datagram.len())) {
                Ok(len) => gate.pass(&mut self.joiner, len),
                Err(reason) => {
                    self.joiner.cancel();
                    peer.counters.drop_one(reason);
                    if reason == Reason::UnknownSession {
                        sessions.rehandshake(&mut self.answers);
                        peer.live.store(true, Relaxed);
                    }
                }
            }
        }
        if state.is_waiting() {
            let (packets, bytes) = state.release(entry.mtu, &mut self.answers);
            peer.counters.sent(packets, bytes);
        }
        drop(state);
        self.shared.queue(entry, &mut self.answers, false);
    }

    fn handshake(&mut self, entry: &Entry, message: &[u8]) {
        let peer = &entry.peer;
        let mut state = peer.state();
        let Some(sessions) = state.sessions(peer, &self.shared.identity) else {
            return peer.counters.drop_one(Reason::HandshakeRefused);
        };
        let result = sessions.handshake(message, &mut self.answers);
        let released = state.release(entry.mtu, &mut self.answers);
        // also without a session: its clock has to go on
        peer.live.store(true, Relaxed);
        drop(state);
        peer.counters.sent(released.0, released.1);
        self.shared.queue(entry, &mut self.answers, true);
        match result {
            Ok(Handshake::Established) => {
                self.shared.events.tell(Event::Session, peer.id);
            }
            Ok(Handshake::Taken) => {}
            Err(reason) => peer.counters.drop_one(reason),
        }
    }

    /// Hands the device everything that was joined so far.
    fn write(&mut self, entry: &Entry) {
        let mut refused = 0;
        self.joiner.drain(true, |piece| refused += !self.shared.device.write(piece) as usize);
        entry.peer.counters.drop_many(Reason::DeviceRefused, refused);
    }
}

/// The ingress filter: what may pass to the device.
struct Gate<'a> {
    table: &'a Table,
    entry: &'a Entry,
    /// The addresses of the packet before, which was let through.
    known: Option<(IpAddr, IpAddr)>,
    packets: u64,
    bytes: u64,
}

impl<'a> Gate<'a> {
    fn new(table: &'a Table, entry: &'a Entry) -> Gate<'a> {
        Gate { table, entry, known: None, packets: 0, bytes: 0 }
    }

    /// Lets the `len` bytes in the joiner's slot through, or drops and counts them.
    #[inline]
    fn pass(&mut self, joiner: &mut Joiner, len: usize) {
        if len == 0 {
            // a keepalive
            return joiner.cancel();
        }
        let packet = joiner.filled(len);
        match self.judge(packet) {
            Ok(ip) => {
                clamp_segment_size(&mut packet[..ip.len], &ip, self.entry.mtu, true);
                (self.packets, self.bytes) = (self.packets + 1, self.bytes + ip.len as u64);
                joiner.commit(&ip);
            }
            Err(reason) => {
                joiner.cancel();
                self.entry.peer.counters.drop_one(reason);
            }
        }
    }

    #[inline]
    fn judge(&mut self, packet: &[u8]) -> Result<Ip, Reason> {
        let ip = parse(packet).map_err(|_| Reason::Malformed)?;
        let pair = (ip.source, ip.destination);
        if self.known == Some(pair) {
            return Ok(ip);
        }
        if self.table.owner(ip.source).is_none_or(|owner| owner.peer.id != self.entry.peer.id) {
            return Err(Reason::SpoofedSource);
        }
        if is_multicast(ip.destination) {
            return Err(Reason::Multicast);
        }
        if !self.table.is_local(ip.destination) {
            return Err(Reason::NotForUs);
        }
        self.known = Some(pair);
        Ok(ip)
    }

    fn count(&self) {
        self.entry.peer.counters.received(self.packets, self.bytes);
    }
}
