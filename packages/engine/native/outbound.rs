//! From the device to a peer's stream. One turn:
//!
//! 1. Read one super-segment.
//! 2. Look its destination up.
//! 3. Tell TCP and other senders what fits.
//! 4. Cut it and seal every packet into frames (for a legacy member, leave them as they are; without a tunnel, they wait).
//! 5. Queue the frames for the peer's stream; what has no room is dropped and counted.
//! 6. Wake the application once the device is empty, or enough has gathered.
//!
//! All buffers are this thread's own and used again; a peer's lock is held only while sealing.
use crate::clamp::clamp_segment_size;
use crate::counters::{Counters, Reason};
use crate::device::Read;
use crate::engine::Shared;
use crate::events::Event;
use crate::limits::*;
use crate::packet::{Ip, is_multicast, parse};
use crate::peer::Tunnel;
use crate::queues::push_frame;
use crate::segments::{HEADER, Refused, cut, is_unfinished};
use crate::table::{Entry, View};
use std::net::IpAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;
use tun_rs::VirtioNetHdr;

pub struct Outbound<'a> {
    shared: &'a Shared,
    view: View,
    input: Vec<u8>,
    frames: Vec<u8>,
    /// The bytes for which the application has to be woken; none: it need not be.
    gathered: Option<usize>,
}

impl<'a> Outbound<'a> {
    pub fn new(shared: &'a Shared) -> Outbound<'a> {
        let view = View::new(&shared.table);
        let input = vec![0; HEADER + MAX_PACKET_BYTES];
        Outbound { shared, view, input, frames: Vec::with_capacity(MAX_BATCH_BYTES), gathered: None }
    }

    /// Runs until the engine stops or the device is gone.
    pub fn run(&mut self) -> Result<(), String> {
        let shared = self.shared;
        while !shared.stopping() {
            match shared.device.read(&mut self.input) {
                Read::Bytes(len) => self.packet(len),
                Read::Empty => {
                    self.wake();
                    shared.waker.wait_for(&shared.device);
                }
                Read::Gone(error) if shared.stopping() => return Err(error.to_string()),
                Read::Gone(error) => return Err(format!("the interface is gone: {error}")),
            }
        }
        Ok(())
    }

    fn packet(&mut self, len: usize) {
        self.view.refresh(&self.shared.table);
        let (header, bytes) = self.input[..len].split_at_mut(self.shared.device.header_len().min(len));
        let header =
            if header.is_empty() { Ok(VirtioNetHdr::default()) } else { VirtioNetHdr::decode(header) };
        let (Ok(header), Ok(ip)) = (header, parse(bytes)) else {
            return self.shared.counters.drop_one(Reason::Malformed);
        };
        let bytes = &mut bytes[..ip.len];
        let Some(entry) = self.view.table().owner(ip.destination) else {
            return self.shared.counters.drop_one(unowned(ip.destination));
        };
        let mut sender = Sender { shared: self.shared, entry, frames: &mut self.frames };
        if sender.send(&header, &ip, bytes) {
            self.gathered.get_or_insert_default();
        }
        self.gathered = self.gathered.map(|bytes| bytes + len);
        if self.gathered >= Some(GATHER_BYTES) {
            self.wake();
        }
    }

    fn wake(&mut self) {
        if self.gathered.take().is_some() {
            self.shared.events.wake();
        }
    }
}

fn unowned(destination: IpAddr) -> Reason {
    if is_multicast(destination) { Reason::Multicast } else { Reason::NoRoute }
}

/// One super-segment on its way to one peer.
struct Sender<'a> {
    shared: &'a Shared,
    entry: &'a Entry,
    frames: &'a mut Vec<u8>,
}

impl Sender<'_> {
    /// Sends it. True when the application has to be woken.
    fn send(&mut self, header: &VirtioNetHdr, ip: &Ip, bytes: &mut [u8]) -> bool {
        let mtu = self.entry.mtu;
        clamp_segment_size(bytes, ip, mtu, !is_unfinished(header));
        self.frames.clear();
        let result = match self.entry.peer.tunnel {
            Tunnel::Legacy => self.legacy(header, ip, bytes),
            Tunnel::WireGuard(_) => self.sealed(header, ip, bytes),
            Tunnel::None => self.waiting(header, ip, bytes),
        };
        match result {
            Ok(()) => return self.shared.put(self.entry, self.frames, false),
            Err(Refused::Malformed) => self.counters().drop_one(Reason::Malformed),
            Err(Refused::TooBig) => {
                self.counters().drop_one(Reason::TooBig);
                self.shared.tell_too_big(bytes, ip, mtu);
            }
        }
        false
    }

    fn legacy(&mut self, header: &VirtioNetHdr, ip: &Ip, bytes: &mut [u8]) -> Result<(), Refused> {
        let (mut packets, mut sum) = (0, 0);
        let frames = &mut *self.frames;
        let result = cut(header, ip, bytes, self.entry.mtu, |packet| {
            push_frame(frames, packet);
            (packets, sum) = (packets + 1, sum + packet.len() as u64);
        });
        self.counters().sent(packets, sum);
        result
    }

    fn sealed(&mut self, header: &VirtioNetHdr, ip: &Ip, bytes: &mut [u8]) -> Result<(), Refused> {
        let Entry { peer, mtu } = self.entry;
        let (mut packets, mut sum, mut unsealed, mut lost) = (0, 0, false, 0);
        let frames = &mut *self.frames;
        let mut state = peer.state();
        let result = cut(header, ip, bytes, *mtu, |packet| {
            let sessions = state.sessions(peer, &self.shared.identity);
            if !unsealed && sessions.is_some_and(|sessions| sessions.seal(packet, *mtu, frames)) {
                (packets, sum) = (packets + 1, sum + packet.len() as u64);
            } else {
                unsealed = true;
                lost += !state.wait(packet) as usize;
            }
        });
        if unsealed && let Some(sessions) = state.existing() {
            sessions.initiate(false, frames);
        }
        drop(state);
        peer.live.store(true, Relaxed);
        peer.counters.sent(packets, sum);
        peer.counters.drop_many(Reason::NoSession, lost);
        result
    }

    fn waiting(&mut self, header: &VirtioNetHdr, ip: &Ip, bytes: &mut [u8]) -> Result<(), Refused> {
        let Entry { peer, mtu } = self.entry;
        let mut lost = 0;
        let mut state = peer.state();
        let result = cut(header, ip, bytes, *mtu, |packet| lost += !state.wait(packet) as usize);
        let asks = result.is_ok() && state.asks_for_path(Instant::now());
        drop(state);
        peer.live.store(true, Relaxed);
        peer.counters.drop_many(Reason::NoSession, lost);
        if asks {
            self.shared.events.tell(Event::PathNeeded, peer.id);
        }
        result
    }

    fn counters(&self) -> &Counters {
        &self.entry.peer.counters
    }
}
