//! The state that the engine's threads share, and how they hand frames to peers.
use crate::clamp::{MAX_TOO_BIG, too_big};
use crate::counters::{Counters, Reason};
use crate::datagrams::Datagrams;
use crate::device::{Device, Waker};
use crate::events::{Event, Events};
use crate::filter::Filter;
use crate::packet::Ip;
use crate::segments::HEADER;
use crate::sessions::Identity;
use crate::sockets::{Sockets, Source};
use crate::source_limits::SocketLimits;
use crate::table::{Current, Entry, Path};
use crate::waiting::Waiting;
use crate::work::Work;
use crate::{limits, queues};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::*};

/// The state that the threads share.
pub struct Shared {
    pub device: Device,
    pub identity: Identity,
    pub table: Current,
    pub filter: Filter,
    pub events: Events,
    pub work: Work,
    /// None: all goes over streams.
    pub sockets: Option<Sockets>,
    pub source_limits: SocketLimits,
    pub datagrams: Datagrams,
    pub waker: Waker,
    /// Counts what waits for all peers together.
    pub waiting: Waiting,
    /// Counts what belongs to no peer.
    pub counters: Counters,
    pub stop: AtomicBool,
}

impl Shared {
    pub fn stopping(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Queues frames for a peer's stream and tells the application once; `frames` is empty afterwards.
    pub fn queue(&self, entry: &Entry, frames: &mut Vec<u8>, urgent: bool) {
        if self.put(entry, frames, urgent) {
            self.events.wake();
        }
    }

    /// Queues as `queue` does, but true means that whoever calls also calls `events.wake`, soon.
    pub fn put(&self, entry: &Entry, frames: &mut Vec<u8>, urgent: bool) -> bool {
        if frames.is_empty() {
            return false;
        }
        let pushed = entry.peer.outgoing.push(frames, urgent);
        entry.peer.counters.drop_many(Reason::OutboundFull, pushed.dropped);
        if pushed.announce {
            self.events.note(Event::Readable, entry.peer.id);
        }
        pushed.announce
    }

    /// Sends frames by the peer's path; `frames` is empty afterwards. For few at a time.
    pub fn deliver(&self, entry: &Entry, frames: &mut Vec<u8>, urgent: bool) {
        let (endpoint, Path { stream, socket, .. }) = (entry.endpoint(), entry.path);
        if endpoint.is_none() && !stream {
            // a guest that was never heard
            return frames.clear();
        }
        if let (Some(to), Some(sockets)) = (endpoint, &self.sockets) {
            let (mut refused, mut long) = (0, Vec::new());
            for each in queues::frames(frames) {
                if each.len() > entry.socket_mtu + limits::SEAL_BYTES {
                    queues::push_frame(&mut long, each);
                } else {
                    refused += sockets.with(socket, 0, |socket| socket.send(to, each)).is_err() as usize;
                }
            }
            entry.peer.counters.drop_many(Reason::NotSent, refused);
            if !stream {
                *frames = long;
            }
        }
        self.queue(entry, frames, urgent);
    }

    /// Answers on the socket that was asked; `frames` is empty afterwards.
    pub fn reply(&self, to: Source, frames: &mut Vec<u8>) {
        if let Some(sockets) = &self.sockets {
            let send =
                |each: &&[u8]| sockets.with(to.socket, 0, |socket| socket.send(to.address, each)).is_err();
            let refused = queues::frames(frames).filter(send).count();
            self.counters.drop_many(Reason::NotSent, refused);
        }
        frames.clear();
    }

    /// Tells the sender of a packet that it does not fit into the tunnel. The sender is on this side of the device.
    pub fn tell_too_big(&self, packet: &[u8], ip: &Ip, mtu: usize) {
        let mut message = [0; MAX_TOO_BIG];
        if let Some(len) = too_big(packet, ip, mtu, &mut message) {
            self.tell(&message[..len]);
        }
    }

    /// Writes a short packet of the engine's own to the device.
    pub fn tell(&self, message: &[u8]) {
        let mut piece = [0; HEADER + MAX_TOO_BIG];
        let len = message.len().min(MAX_TOO_BIG);
        piece[HEADER..HEADER + len].copy_from_slice(&message[..len]);
        self.device.queue(0).write(&piece[..HEADER + len]);
    }

    /// Runs a thread's work; its end, however it comes, is told and takes nothing else down.
    pub fn guard(&self, work: impl FnOnce(&Shared) -> Result<(), String>) {
        let result = catch_unwind(AssertUnwindSafe(|| work(self)));
        let message = match result {
            Ok(Ok(())) => return,
            Ok(Err(_)) if self.stopping() => return,
            Ok(Err(message)) => message,
            Err(_) => "a thread of the engine ended by a defect".into(),
        };
        self.events.fail(message);
    }
}
