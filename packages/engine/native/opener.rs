//! The part that both ways in have in common, the streams and the socket:
//!
//! 1. Open each datagram, right behind the packet it probably follows.
//! 2. Check its header and length, whether the source is this peer's, and whether the destination is ours or a guest's.
//! 3. Ask the filter whether its flow may pass; a refusal is told to the sender.
//! 4. Join it to the packets before it.
//! 5. Write to the device what is complete.
//!
//! A peer's lock is held for `OPEN_RUN` packets at most, never over a write.
use crate::clamp::clamp_segment_size;
use crate::counters::Reason;
use crate::events::Event;
use crate::filter::{Filter, MAX_REPLY, Run, Verdict};
use crate::forward::Forward;
use crate::limits::*;
use crate::packet::{Ip, is_multicast, parse};
use crate::peer::Peer;
use crate::segments::Joiner;
use crate::sessions::Handshake;
use crate::shared::Shared;
use crate::sockets::Source;
use crate::table::{Entry, Table};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering::Relaxed;

/// One thread's own.
pub struct Opener<'a> {
    shared: &'a Shared,
    /// The number of the thread's queue; none: it writes to the one of the thread that the peer's datagrams reach. So the
    /// kernel sends each flow by one queue, however its answers come.
    queue: Option<usize>,
    joiner: Joiner,
    answers: Vec<u8>,
    /// The packets that had waited for a session.
    released: Vec<u8>,
    /// The packets between a guest and a peer, which never see the device.
    forward: Forward,
}

impl<'a> Opener<'a> {
    pub fn new(shared: &'a Shared, queue: Option<usize>) -> Opener<'a> {
        let device = &shared.device;
        let joiner = Joiner::new(8 * 64 * 1024, device.offload(), device.offload_udp());
        let forward = Forward::new(queue.unwrap_or(0));
        Opener { shared, queue, joiner, answers: Vec::new(), released: Vec::new(), forward }
    }

    /// Opens a run of sealed packets under one lock, as long as the next one `belongs` to it.
    pub fn open_run<'b>(
        &mut self,
        entry: &Entry,
        gate: &mut Gate,
        rest: &mut std::iter::Peekable<impl Iterator<Item = &'b [u8]>>,
        belongs: impl Fn(&[u8]) -> bool,
    ) {
        let peer = &entry.peer;
        let mut opened = false;
        let mut state = peer.state();
        for _ in 0..OPEN_RUN {
            let room = rest.peek().is_some_and(|next| self.joiner.has_room(next.len()));
            if !room && rest.peek().is_some() {
                // rare: the buffer holds more than most batches
                drop(state);
                self.write(peer);
                state = peer.state();
            }
            let Some(datagram) = rest.next_if(|next| belongs(next)) else {
                break;
            };
            let Some(sessions) = state.sessions(peer, &self.shared.identity) else {
                peer.counters.drop_one(Reason::UnknownSession);
                continue;
            };
            match sessions.open(datagram, self.joiner.slot(datagram.len())) {
                Ok(len) => {
                    opened = true;
                    gate.pass(&mut self.joiner, &mut self.forward, len);
                }
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
        if let (true, true, Some(from)) = (opened, entry.is_guest(), gate.from) {
            peer.hear(from);
        }
        self.shared.deliver(entry, &mut self.answers, false);
        self.forward.send(self.shared, gate.table);
    }

    /// Takes a handshake message that came by the peer's stream, or `from` an address by the socket. The answer goes the
    /// same way; what waited for the session goes by the peer's path.
    pub fn handshake(&mut self, entry: &Entry, message: &[u8], from: Option<Source>) {
        let peer = &entry.peer;
        let mut state = peer.state();
        let Some(sessions) = state.sessions(peer, &self.shared.identity) else {
            return peer.counters.drop_one(Reason::HandshakeRefused);
        };
        if from.is_none() && !sessions.may_handshake() {
            return peer.counters.drop_one(Reason::HandshakeLimit);
        }
        let result = sessions.handshake(message, &mut self.answers);
        let released = state.release(entry.mtu, &mut self.released);
        // also without a session: its clock has to go on
        peer.live.store(true, Relaxed);
        drop(state);
        peer.counters.sent(released.0, released.1);
        if let (Ok(Handshake::Established), true, Some(from)) = (&result, entry.is_guest(), from) {
            peer.hear(from.address);
        }
        match from {
            Some(from) => self.shared.reply(from, &mut self.answers),
            None => self.shared.queue(entry, &mut self.answers, true),
        }
        self.shared.deliver(entry, &mut self.released, false);
        match result {
            Ok(Handshake::Established) => {
                self.shared.events.tell(Event::Session, peer.id);
            }
            Ok(Handshake::Taken) => {}
            Err(reason) => peer.counters.drop_one(reason),
        }
    }

    /// Takes a legacy member's packet.
    pub fn pass_unsealed(&mut self, entry: &Entry, gate: &mut Gate, packet: &[u8]) {
        if !self.joiner.has_room(packet.len()) {
            self.write(&entry.peer);
        }
        self.joiner.slot(packet.len()).copy_from_slice(packet);
        gate.pass(&mut self.joiner, &mut self.forward, packet.len());
        self.forward.send(self.shared, gate.table);
    }

    /// Hands the device everything that was joined so far.
    pub fn write(&mut self, peer: &Peer) {
        self.drain(peer, true);
    }

    /// Hands the device what cannot grow any more.
    pub fn write_complete(&mut self, peer: &Peer) {
        self.drain(peer, false);
    }

    fn drain(&mut self, peer: &Peer, all: bool) {
        let before = peer.queue.load(Relaxed);
        let number = self.queue.unwrap_or(before);
        let queue = self.shared.device.queue(number);
        let (mut written, mut refused) = (false, 0);
        self.joiner.drain(all, |piece| {
            written = true;
            refused += !queue.write(piece) as usize;
        });
        if written && number != before {
            peer.queue.store(number, Relaxed);
        }
        peer.counters.drop_many(Reason::DeviceRefused, refused);
    }
}

/// The ingress filter: what may pass to the device.
pub struct Gate<'a> {
    table: &'a Table,
    entry: &'a Entry,
    /// The address that the datagrams came from, by the socket.
    from: Option<SocketAddr>,
    /// The addresses of the packet before, which was let through, and whither.
    known: Option<(IpAddr, IpAddr, Whither)>,
    filter: &'a Filter,
    /// The flow of packets that pass without being judged one by one.
    run: Option<Run>,
    packets: u64,
    bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Whither {
    Device,
    /// To a guest, which this node receives for.
    Guest,
    /// From a guest to a member, who receives it and judges it.
    Member,
}

impl<'a> Gate<'a> {
    pub fn new(
        filter: &'a Filter,
        table: &'a Table,
        (entry, from): (&'a Entry, Option<SocketAddr>),
    ) -> Gate<'a> {
        Gate { table, entry, from, known: None, filter, run: None, packets: 0, bytes: 0 }
    }

    /// Lets the `len` bytes in the joiner's slot through, or drops and counts them.
    #[inline]
    fn pass(&mut self, joiner: &mut Joiner, forward: &mut Forward, len: usize) {
        if len == 0 {
            // a keepalive
            return joiner.cancel();
        }
        let packet = joiner.filled(len);
        match self.judge(packet) {
            Ok((ip, whither)) => {
                if !self.filter(&packet[..ip.len], &ip, (whither, forward)) {
                    return joiner.cancel();
                }
                clamp_segment_size(&mut packet[..ip.len], &ip, self.entry.segment_mtu(), true);
                (self.packets, self.bytes) = (self.packets + 1, self.bytes + ip.len as u64);
                if whither == Whither::Device {
                    return joiner.commit(&ip);
                }
                forward.push(&packet[..ip.len]);
                joiner.cancel();
            }
            Err(reason) => {
                joiner.cancel();
                self.entry.peer.counters.drop_one(reason);
            }
        }
    }

    /// Does the packet's flow pass? A refusal is counted, and pushed to `forward` for the sender.
    #[inline]
    fn filter(&mut self, packet: &[u8], ip: &Ip, (whither, forward): (Whither, &mut Forward)) -> bool {
        let run = Run::of(packet, ip);
        if run.is_some() && run == self.run {
            return true;
        }
        let inbound = whither != Whither::Member;
        let owner = |address| self.table.owner(address).map(|owner| owner.peer.id);
        let view = self.table.filter_view(self.entry.peer.id, inbound, &owner);
        match self.filter.judge(view, packet, ip) {
            Verdict::Pass { runs } => {
                self.run = run.filter(|_| runs);
                true
            }
            verdict => {
                self.run = None;
                self.entry.peer.counters.drop_one(Reason::RefusedByRules);
                let mut reply = [0; MAX_REPLY];
                if verdict == Verdict::Refuse
                    && let Some(len) = self.filter.refuse(view, packet, ip, &mut reply)
                {
                    forward.push(&reply[..len]);
                }
                false
            }
        }
    }

    #[inline]
    fn judge(&mut self, packet: &[u8]) -> Result<(Ip, Whither), Reason> {
        let ip = parse(packet).map_err(|_| Reason::Malformed)?;
        if let Some((source, destination, whither)) = self.known
            && (source, destination) == (ip.source, ip.destination)
        {
            return Ok((ip, whither));
        }
        if self.table.owner(ip.source).is_none_or(|owner| owner.peer.id != self.entry.peer.id) {
            return Err(Reason::SpoofedSource);
        }
        if is_multicast(ip.destination) {
            return Err(Reason::Multicast);
        }
        let whither = self.whither(ip.destination).ok_or(Reason::NotForUs)?;
        self.known = Some((ip.source, ip.destination, whither));
        Ok((ip, whither))
    }

    /// A member's packets go on to guests alone, and a guest's to all whom the table names. This node's own addresses come
    /// first: an exit node in use owns all addresses.
    fn whither(&self, destination: IpAddr) -> Option<Whither> {
        if self.table.is_own(destination) {
            return Some(Whither::Device);
        }
        let owner = self.table.owner(destination);
        if let Some(owner) = owner.filter(|owner| self.passes_on_to(owner)) {
            return Some(if owner.is_guest() { Whither::Guest } else { Whither::Member });
        }
        self.table.is_local(destination).then_some(Whither::Device)
    }

    fn passes_on_to(&self, owner: &Entry) -> bool {
        (owner.is_guest() || self.entry.is_guest()) && owner.peer.id != self.entry.peer.id
    }

    /// Counts what passed. The number of packets.
    pub fn count(&self) -> u64 {
        self.entry.peer.counters.received(self.packets, self.bytes);
        self.packets
    }
}
