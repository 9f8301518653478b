//! From the device to a peer: to the socket, or to the peer's stream. Each queue of the device has a thread of its own.
//! One turn:
//!
//! 1. Read one super-segment.
//! 2. Look its destination up.
//! 3. Let the filter note its flow, so that what answers it passes.
//! 4. Tell TCP and other senders what fits.
//! 5. Cut it and seal every packet into frames (for a legacy member, leave them as they are; without a tunnel, they wait).
//! 6. Gather datagrams for the socket, or queue frames for the peer's stream; what has no room is dropped and counted.
//! 7. Send, and wake the application, once the device is empty or enough has gathered.
//!
//! All buffers are this thread's own and used again; a peer's lock is held only while sealing.
use crate::clamp::{MAX_TOO_BIG, clamp_segment_size, too_big};
use crate::counters::{Counters, Reason};
use crate::device::{DeviceQueue, Read};
use crate::events::Event;
use crate::filter::{MAX_REPLY, Run, Verdict};
use crate::limits::*;
use crate::outbox::Outbox;
use crate::packet::{Ip, TCP, is_multicast, parse};
use crate::peer::Tunnel;
use crate::queues::{frames, push_frame};
use crate::segments::{HEADER, Refused, cut, is_unfinished};
use crate::sessions::Sessions;
use crate::shared::Shared;
use crate::table::{Entry, Path, Table, View};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;
use tun_rs::VirtioNetHdr;

pub struct Outbound<'a> {
    shared: &'a Shared,
    queue: &'a DeviceQueue,
    view: View,
    input: Vec<u8>,
    frames: Vec<u8>,
    outbox: Outbox,
    /// The flow of packets that pass without being judged one by one, and when it was judged last.
    run: Option<(Run, u32)>,
    /// Reads since the outbox was sent last.
    reads: usize,
    /// The bytes for which the application has to be woken; none: it need not be.
    gathered: Option<usize>,
}

impl<'a> Outbound<'a> {
    pub fn new(shared: &'a Shared, queue: usize) -> Outbound<'a> {
        let (view, input) = (View::new(&shared.table), vec![0; HEADER + MAX_PACKET_BYTES]);
        let (frames, outbox) = (Vec::with_capacity(MAX_BATCH_BYTES), Outbox::new(queue));
        let queue = shared.device.queue(queue);
        Outbound { shared, queue, view, input, frames, outbox, run: None, reads: 0, gathered: None }
    }

    /// Runs until the engine stops or the device is gone.
    pub fn run(&mut self) -> Result<(), String> {
        let shared = self.shared;
        while !shared.stopping() {
            match self.queue.read(&mut self.input) {
                Read::Bytes(len) => self.packet(len),
                Read::Empty => {
                    self.flush(true);
                    self.wake();
                    shared.waker.wait_for(self.queue.fd(), None);
                }
                Read::Gone(error) if shared.stopping() => return Err(error.to_string()),
                Read::Gone(error) => return Err(format!("the interface is gone: {error}")),
            }
        }
        Ok(())
    }

    fn packet(&mut self, len: usize) {
        if self.view.refresh(&self.shared.table) {
            self.run = None;
        }
        let (header, bytes) = self.input[..len].split_at_mut(self.queue.header_len().min(len));
        let header =
            if header.is_empty() { Ok(VirtioNetHdr::default()) } else { VirtioNetHdr::decode(header) };
        let (Ok(header), Ok(ip)) = (header, parse(bytes)) else {
            return self.shared.counters.drop_one(Reason::Malformed);
        };
        let bytes = &mut bytes[..ip.len];
        let Some(entry) = self.view.table().owner(ip.destination) else {
            return self.shared.counters.drop_one(unowned(ip.destination));
        };
        if !passes(self.shared, (self.view.table(), entry), (bytes, &ip), &mut self.run) {
            return;
        }
        let (frames, outbox) = (&mut self.frames, &mut self.outbox);
        let mut sender = Sender { shared: self.shared, entry, frames, outbox, too_big: None };
        if sender.send(&header, &ip, bytes) {
            self.gathered.get_or_insert_default();
        }
        self.gathered = self.gathered.map(|bytes| bytes + len);
        if self.gathered >= Some(GATHER_BYTES) {
            self.wake();
        }
        self.reads += 1;
        if self.reads >= READS_PER_SEND || self.outbox.is_full() {
            self.flush(false);
        }
    }

    /// Sends what was gathered for the socket; unless `all`, a batch with room for more stays.
    fn flush(&mut self, all: bool) {
        self.reads = 0;
        if let (Some(sockets), false) = (&self.shared.sockets, self.outbox.is_empty()) {
            let refused = self.outbox.flush(sockets, all);
            self.shared.counters.drop_many(Reason::NotSent, refused);
        }
    }

    fn wake(&mut self) {
        if self.gathered.take().is_some() {
            self.shared.events.wake();
        }
    }
}

/// Does the filter let it leave? What this node sends to its own guest for a network that it routes, it also receives.
#[inline]
fn passes(
    shared: &Shared,
    (table, entry): (&Table, &Entry),
    (bytes, ip): (&[u8], &Ip),
    known: &mut Option<(Run, u32)>,
) -> bool {
    let (filter, run) = (&shared.filter, Run::of(bytes, ip));
    if let (Some(run), Some((known, at))) = (run, *known)
        && run == known
        && at == filter.now()
    {
        return true;
    }
    let inbound = entry.is_guest() && !table.is_own(ip.source);
    let owner = |address| table.owner(address).map(|owner| owner.peer.id);
    let view = table.filter_view(entry.peer.id, inbound, &owner);
    *known = None;
    match filter.judge(view, bytes, ip) {
        Verdict::Pass { runs } => {
            *known = run.filter(|_| runs).map(|run| (run, filter.now()));
            true
        }
        verdict => {
            entry.peer.counters.drop_one(Reason::RefusedByRules);
            let mut reply = [0; MAX_REPLY];
            if verdict == Verdict::Refuse
                && let Some(len) = filter.refuse(view, bytes, ip, &mut reply)
            {
                shared.tell(&reply[..len]);
            }
            false
        }
    }
}

fn unowned(destination: IpAddr) -> Reason {
    if is_multicast(destination) { Reason::Multicast } else { Reason::NoRoute }
}

/// One super-segment on its way to one peer.
pub struct Sender<'a> {
    pub shared: &'a Shared,
    pub entry: &'a Entry,
    pub frames: &'a mut Vec<u8>,
    pub outbox: &'a mut Outbox,
    /// Takes what the senders of packets that are too big have to be told, as frames; without it they are on this side
    /// of the device.
    pub too_big: Option<&'a mut Vec<u8>>,
}

impl Sender<'_> {
    /// Sends it. True when the application has to be woken.
    pub fn send(&mut self, header: &VirtioNetHdr, ip: &Ip, bytes: &mut [u8]) -> bool {
        clamp_segment_size(bytes, ip, self.entry.segment_mtu(), !is_unfinished(header));
        self.frames.clear();
        let result = match self.entry.peer.tunnel {
            Tunnel::Legacy => self.legacy(header, ip, bytes),
            Tunnel::WireGuard(_) if self.entry.path == Path::STREAM => {
                self.sealed(header, ip, bytes, self.entry.mtu)
            }
            Tunnel::WireGuard(_) => return self.by_socket(header, ip, bytes),
            Tunnel::None => self.waiting(header, ip, bytes),
        };
        match result {
            Ok(()) => return self.shared.put(self.entry, self.frames, false),
            Err(refused) => self.refused(refused, ip, bytes),
        }
        false
    }

    fn refused(&mut self, refused: Refused, ip: &Ip, bytes: &[u8]) {
        match refused {
            Refused::Malformed => self.counters().drop_one(Reason::Malformed),
            Refused::TooBig => {
                self.counters().drop_one(Reason::TooBig);
                match &mut self.too_big {
                    None => self.shared.tell_too_big(bytes, ip, self.entry.mtu),
                    Some(told) => {
                        let mut message = [0; MAX_TOO_BIG];
                        if let Some(len) = too_big(bytes, ip, self.entry.mtu, &mut message) {
                            push_frame(told, &message[..len]);
                        }
                    }
                }
            }
        }
    }

    /// Seals for the socket, or for both ways. True when the application has to be woken.
    fn by_socket(&mut self, header: &VirtioNetHdr, ip: &Ip, bytes: &mut [u8]) -> bool {
        let (endpoint, Path { stream, .. }) = (self.entry.endpoint(), self.entry.path);
        if endpoint.is_none() && !stream {
            // a guest that was never heard: nobody knows where it is
            self.counters().drop_one(Reason::NoSession);
            return false;
        }
        let result = match endpoint {
            Some(to) if !stream => self.datagrams(to, header, ip, bytes),
            _ => self.sealed(header, ip, bytes, self.entry.socket_mtu),
        };
        match result {
            Ok(()) => {}
            Err(Refused::TooBig) if self.entry.socket_mtu < self.entry.mtu => {
                return self.beside_socket(header, ip, bytes);
            }
            Err(refused) => {
                self.refused(refused, ip, bytes);
                return false;
            }
        }
        // with both ways these are all, else only a handshake
        if let Some(to) = endpoint {
            let Path { socket, .. } = self.entry.path;
            frames(self.frames).for_each(|datagram| self.outbox.push(to, socket, datagram));
        }
        stream && self.shared.put(self.entry, self.frames, false)
    }

    /// Sends by the stream what the path over the socket does not take; of TCP, the sender is told what it takes. True
    /// when the application has to be woken.
    fn beside_socket(&mut self, header: &VirtioNetHdr, ip: &Ip, bytes: &mut [u8]) -> bool {
        if ip.protocol == TCP && bytes.len() <= self.entry.mtu {
            self.shared.tell_too_big(bytes, ip, self.entry.socket_mtu);
        }
        match self.sealed(header, ip, bytes, self.entry.mtu) {
            Ok(()) => self.shared.put(self.entry, self.frames, false),
            Err(refused) => {
                self.refused(refused, ip, bytes);
                false
            }
        }
    }

    fn datagrams(
        &mut self,
        to: SocketAddr,
        header: &VirtioNetHdr,
        ip: &Ip,
        bytes: &mut [u8],
    ) -> Result<(), Refused> {
        let Entry { socket_mtu, path: Path { socket, .. }, .. } = *self.entry;
        self.sealed_to(header, ip, bytes, socket_mtu, |sealed, _, outbox| outbox.push(to, socket, sealed))
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

    /// Seals into frames what is not longer than `mtu`.
    fn sealed(
        &mut self,
        header: &VirtioNetHdr,
        ip: &Ip,
        bytes: &mut [u8],
        mtu: usize,
    ) -> Result<(), Refused> {
        self.sealed_to(header, ip, bytes, mtu, |sealed, frames, _| push_frame(frames, sealed))
    }

    /// Gives each sealed packet to `put`. From the first that no session seals on, they wait, and a handshake begins.
    #[inline]
    fn sealed_to(
        &mut self,
        header: &VirtioNetHdr,
        ip: &Ip,
        bytes: &mut [u8],
        mtu: usize,
        put: impl Fn(&[u8], &mut Vec<u8>, &mut Outbox),
    ) -> Result<(), Refused> {
        let Sender { shared, entry: Entry { peer, .. }, frames, outbox, .. } = self;
        let (mut packets, mut sum, mut unsealed, mut lost) = (0, 0, false, 0);
        let mut state = peer.state();
        let result = cut(header, ip, bytes, mtu, |packet| {
            let sessions = state.sessions(peer, &shared.identity);
            let seals = |sessions: &mut Sessions| {
                sessions.seal_with(packet, mtu, |sealed| put(sealed, frames, outbox))
            };
            if !unsealed && sessions.is_some_and(seals) {
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
        let Entry { peer, mtu, .. } = self.entry;
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
