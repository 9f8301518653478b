//! From a socket to the device. Each of the engine's own sockets has a thread of its own; the kernel gives what one sender
//! sends to one of them, so that its order stays. The first reads the further sockets too. One turn:
//!
//! 1. Receive what is there: super-segments of datagrams, each of one sender.
//! 2. Find the peer: by the index that WireGuard's message names; of an initiation, by the key inside.
//! 3. Open, check and join (`opener`), a run of one session at a time.
//! 4. What is no WireGuard waits for the application, within its bounds.
//! 5. Write to the device what is complete. What was joined last may go on with what the next turn brings, and does where
//!    the wire brings every datagram by itself: it is written when a turn brings nothing for it.
//!
//! Anybody can send to the socket. What is looked at costs little until it has proven something: handshake messages are
//! limited by source and in all, and under load their senders have to prove their address.
use crate::counters::Reason;
use crate::events::Event;
use crate::limits::*;
use crate::opener::{Gate, Opener};
use crate::peer::Peer;
use crate::receivers::index_at;
use crate::sessions::{Message, message_of};
use crate::shared::Shared;
use crate::socket::UdpSocket;
use crate::sockets::{OWN, Sockets, Source};
use crate::source_limits::SocketLimits;
use crate::table::{Table, View};
use quinn_udp::RecvMeta;
use std::io::IoSliceMut;
use std::sync::Arc;
use std::time::Instant;

/// As long as a super-segment may be, and a little more: buffers that are a power of two apart would share a few lines of
/// the processor's cache.
const BUFFER_BYTES: usize = 65_536 + 1_472;

pub struct FromSocket<'a> {
    shared: &'a Shared,
    sockets: &'a Sockets,
    /// The number of its queue, and of its socket.
    queue: usize,
    view: View,
    opener: Opener<'a>,
    /// Whose packets were joined last, and may not be written yet.
    last: Option<Arc<Peer>>,
    /// Since the turn began some of its packets passed.
    grew: bool,
    /// What came last were super-segments.
    supers: bool,
}

impl<'a> FromSocket<'a> {
    pub fn new(shared: &'a Shared, sockets: &'a Sockets, queue: usize) -> FromSocket<'a> {
        let (view, opener) = (View::new(&shared.table), Opener::new(shared, Some(queue)));
        FromSocket { shared, sockets, queue, view, opener, last: None, grew: false, supers: false }
    }

    /// Runs until the engine stops.
    pub fn run(&mut self) -> Result<(), String> {
        let mut memory = vec![0; RECEIVE_BUFFERS * BUFFER_BYTES];
        let mut metas = [RecvMeta::default(); RECEIVE_BUFFERS];
        let (sockets, queue) = (self.sockets, self.queue);
        while !self.shared.stopping() {
            let mut count = self.take(sockets.own(queue), OWN, (&mut memory[..], &mut metas[..]));
            for socket in sockets.further(queue) {
                count += self.take(&socket, socket.port(), (&mut memory[..], &mut metas[..]));
            }
            if !std::mem::take(&mut self.grew) {
                self.write_last();
            }
            if count == 0 {
                let (own, further) = sockets.fds(queue);
                self.shared.waker.wait_for(own, further);
            }
        }
        Ok(())
    }

    /// Takes what one socket has now, which `port` names. The number of super-segments.
    fn take(
        &mut self,
        socket: &UdpSocket,
        port: u16,
        (memory, metas): (&mut [u8], &mut [RecvMeta]),
    ) -> usize {
        let mut parts = memory.chunks_exact_mut(BUFFER_BYTES);
        let mut buffers: [IoSliceMut; RECEIVE_BUFFERS] =
            std::array::from_fn(|_| IoSliceMut::new(parts.next().unwrap_or_default()));
        let most = if self.supers { RECEIVED_SUPERS } else { RECEIVE_BUFFERS };
        let count = socket.receive(&mut buffers[..most], metas);
        if count > 0 {
            self.supers = metas[..count].iter().any(|meta| meta.len > meta.stride);
        }
        self.view.refresh(&self.shared.table);
        // once for all of it: the table must not change under it
        let table = self.view.table().clone();
        for (meta, buffer) in metas[..count].iter().zip(&buffers) {
            let from = Source { address: UdpSocket::sender(meta), socket: port };
            self.receive(&table, from, buffer[..meta.len].chunks(meta.stride.max(1)));
        }
        count
    }

    /// Writes what was joined last, all of it.
    fn write_last(&mut self) {
        if let Some(last) = self.last.take() {
            self.opener.write(&last);
        }
    }

    fn receive(&mut self, table: &Table, from: Source, datagrams: std::slice::Chunks<u8>) {
        let mut rest = datagrams.peekable();
        while let Some(first) = rest.peek().copied() {
            match message_of(first) {
                Some(Message::Sealed) => self.sealed(table, from, &mut rest),
                Some(Message::Handshake) => {
                    self.handshake(table, from, first);
                    rest.next();
                }
                None => {
                    self.other(from, first);
                    rest.next();
                }
            }
        }
    }

    /// Opens a run of one session's datagrams.
    fn sealed<'b>(
        &mut self,
        table: &Table,
        from: Source,
        rest: &mut std::iter::Peekable<impl Iterator<Item = &'b [u8]>>,
    ) {
        // type and index
        let Some(head) = rest.peek().and_then(|first| first.first_chunk::<8>()).copied() else { return };
        let belongs =
            |next: &[u8]| next.first_chunk() == Some(&head) && message_of(next) == Some(Message::Sealed);
        let owner = index_at(&head, 4).and_then(|index| self.shared.identity.receivers.owner(index));
        let Some(entry) = owner.and_then(|owner| table.entry(owner)) else {
            while rest.next_if(|next| belongs(next)).is_some() {
                self.shared.counters.drop_one(Reason::UnknownSession);
            }
            return;
        };
        if !self.last.as_ref().is_some_and(|last| Arc::ptr_eq(last, &entry.peer)) {
            self.write_last();
            self.last = Some(entry.peer.clone());
        }
        let mut gate = Gate::new(&self.shared.filter, table, (entry, Some(from.address)));
        while rest.peek().is_some_and(|next| belongs(next)) {
            self.opener.open_run(entry, &mut gate, rest, belongs);
        }
        self.grew |= gate.count() > 0;
        self.opener.write_complete(&entry.peer);
    }

    fn handshake(&mut self, table: &Table, from: Source, message: &[u8]) {
        let identity = &self.shared.identity;
        let Shared { counters, source_limits, .. } = self.shared;
        // a cookie's reply is for a handshake of ours, and its receiver checks it
        let is_cookie = message.first() == Some(&3);
        if !is_cookie
            && !claims_proof(message)
            && source_limits.cookies.all(Instant::now()) >= COOKIES_PER_SECOND
        {
            return counters.drop_one(Reason::HandshakeLimit);
        }
        if !is_cookie && !identity.is_for_us(message) {
            return counters.drop_one(Reason::HandshakeRefused);
        }
        if !self.admits(from, message, is_cookie) {
            return counters.drop_one(Reason::HandshakeLimit);
        }
        let owner = |at: usize| identity.receivers.owner(index_at(message, at)?);
        let entry = match message.first() {
            Some(1) => identity.initiator(message).and_then(|key| table.with_key(&key)),
            Some(2) => owner(8).and_then(|owner| table.entry(owner)),
            _ => owner(4).and_then(|owner| table.entry(owner)),
        };
        match entry {
            Some(entry) => self.opener.handshake(entry, message, Some(from)),
            None => counters.drop_one(Reason::HandshakeRefused),
        }
    }

    /// Whether a handshake message is looked at. Under load its sender has to prove its address, and is told how; those
    /// that did are counted apart, so that no flood from addresses of others holds them up.
    fn admits(&self, from: Source, message: &[u8], is_cookie: bool) -> bool {
        let SocketLimits { handshakes, claims, proven, cookies, .. } = &self.shared.source_limits;
        let (now, Source { address, socket }) = (Instant::now(), from);
        if is_cookie || handshakes.all(now) < HANDSHAKES_UNDER_LOAD {
            return handshakes.take(address, now);
        }
        // to look costs something: what a second has room for is counted before, and the rest of a flood costs nothing
        let share = if claims_proof(message) { claims } else { cookies };
        if !share.take(address, now) {
            return false;
        }
        match self.shared.identity.cookie(address, message) {
            Ok(()) => proven.take(address, now),
            Err(cookie) => {
                if let Some(cookie) = cookie {
                    // one that is not sent is asked for again
                    let _ = self.sockets.with(socket, self.queue, |socket| socket.send(address, &cookie));
                }
                false
            }
        }
    }

    fn other(&self, from: Source, datagram: &[u8]) {
        match self.shared.datagrams.accept(from, datagram) {
            Ok(()) => self.shared.events.tell(Event::Datagrams, 0),
            Err(reason) => self.shared.counters.drop_one(reason),
        }
    }
}

/// True when a beginning or an answer of a handshake ends with a code that proves its sender's address, right or wrong.
fn claims_proof(message: &[u8]) -> bool {
    message.last_chunk::<16>().is_some_and(|code| *code != [0; 16])
}
