//! Joining: packets that follow each other in one flow become one write to the device.
//!
//! 1. `slot` gives the place for the next packet, right behind the super-segment that it probably continues, its
//!    headers over that one's end (kept aside), so that joining moves no payload.
//! 2. The caller writes the packet there.
//! 3. `commit` joins it or lets it stand alone; `cancel` forgets it.
//! 4. `drain` hands out what is complete.
use super::*;
use crate::limits::MAX_PACKET_BYTES;
use crate::packet::{Ip, TCP, UDP, get16, get32};
use tun_rs::VirtioNetHdr;

/// More segments in one piece than this is of no use to the kernel.
const MAX_SEGMENTS: usize = 64;
/// How many writes `drain` may have to do; what comes in one turn is far less.
const PIECES: usize = 1024;

/// Where the parts of a packet stand that could be joined to others.
struct Flow {
    v6: bool,
    tcp: bool,
    transport: usize,
    headers: usize,
    payload: usize,
    sequence: u32,
    push: bool,
}

/// The super-segment that is being built.
struct Open {
    flow: Flow,
    at: usize,
    len: usize,
    segments: usize,
    /// TCP's next sequence number.
    next: u32,
}

#[derive(Clone, Copy)]
struct Slot {
    at: usize,
    /// Bytes before the packet's payload that belong to the super-segment; they are in `saved`.
    borrowed: usize,
}

/// Joins packets in the order they come. Without `joins`, every packet stands alone.
pub struct Joiner {
    buffer: Vec<u8>,
    end: usize,
    open: Option<Open>,
    complete: Vec<(usize, usize)>,
    saved: [u8; MAX_HEADERS],
    slot: Slot,
    joins: bool,
    joins_udp: bool,
}

impl Joiner {
    /// `joins`: the device takes super-segments; `joins_udp`: those of UDP too.
    pub fn new(capacity: usize, joins: bool, joins_udp: bool) -> Joiner {
        Joiner {
            buffer: vec![0; capacity],
            end: 0,
            open: None,
            complete: Vec::with_capacity(PIECES),
            saved: [0; MAX_HEADERS],
            slot: Slot { at: 0, borrowed: 0 },
            joins,
            joins_udp,
        }
    }

    /// Is there place for a packet of `len` bytes? If not, `drain(true, ..)` makes it.
    pub fn has_room(&self, len: usize) -> bool {
        let used = self.open.as_ref().map_or(self.end, |open| open.at + HEADER + open.len);
        used + 2 * HEADER + MAX_HEADERS + len <= self.buffer.len() && self.complete.len() + 2 < PIECES
    }

    /// Where to put the next packet, of at most `len` bytes. `has_room` was asked.
    #[inline]
    pub fn slot(&mut self, len: usize) -> &mut [u8] {
        self.slot = match &self.open {
            Some(open) if open.len >= 2 * open.flow.headers => {
                Slot { at: open.at + HEADER + open.len - open.flow.headers, borrowed: open.flow.headers }
            }
            Some(open) => Slot { at: open.at + HEADER + open.len, borrowed: 0 },
            None => Slot { at: self.end + HEADER, borrowed: 0 },
        };
        let Slot { at, borrowed } = self.slot;
        self.saved[..borrowed].copy_from_slice(&self.buffer[at..at + borrowed]);
        &mut self.buffer[at..at + len]
    }

    /// The `len` bytes that were put into the slot.
    #[inline]
    pub fn filled(&mut self, len: usize) -> &mut [u8] {
        let at = self.slot.at;
        &mut self.buffer[at..at + len]
    }

    /// Gives the slot back unused.
    #[inline]
    pub fn cancel(&mut self) {
        let Slot { at, borrowed } = self.slot;
        self.buffer[at..at + borrowed].copy_from_slice(&self.saved[..borrowed]);
    }

    /// Takes the packet in the slot; `ip` is what `parse` said of it.
    #[inline]
    pub fn commit(&mut self, ip: &Ip) {
        let at = self.slot.at;
        let flow = if self.joins { flow_of(&self.buffer[at..at + ip.len], ip, self.joins_udp) } else { None };
        if self.continues(flow.as_ref(), ip.len) {
            return;
        }
        if self.open.is_some() {
            self.set_apart(ip.len);
        }
        match flow {
            Some(flow) => self.begin(flow, ip.len),
            None => self.stand_alone(ip.len),
        }
    }

    /// Hands out what is complete; with `all`, also what could still grow. Each piece begins with the header.
    pub fn drain(&mut self, all: bool, mut each: impl FnMut(&[u8])) {
        if all {
            self.close();
        }
        for &(at, len) in &self.complete {
            each(&self.buffer[at..at + len]);
        }
        self.complete.clear();
        if self.open.is_none() {
            self.end = 0;
        }
    }

    /// Joins the packet in the slot to the open super-segment if it is the next one of its flow.
    #[inline]
    fn continues(&mut self, flow: Option<&Flow>, len: usize) -> bool {
        let (Some(open), Some(flow)) = (&mut self.open, flow) else { return false };
        let Slot { at, borrowed } = self.slot;
        let base = open.at + HEADER;
        // the slot begins behind the open one's headers, even where it borrows
        let (before, packet) = self.buffer.split_at(at);
        if !open.is_followed_by(&before[base..base + open.flow.headers], &packet[..len], flow) {
            return false;
        }
        if borrowed == 0 {
            self.buffer.copy_within(at + flow.headers..at + len, base + open.len);
        }
        open.len += flow.payload;
        open.segments += 1;
        open.next = open.next.wrapping_add(flow.payload as u32);
        let ends = flow.push || flow.payload < open.flow.payload;
        let flags = base + open.flow.transport + 13;
        if flow.push {
            self.buffer[flags] |= PSH;
        }
        self.cancel();
        if ends {
            self.close();
        }
        true
    }

    /// Closes the open super-segment; the packet of `len` bytes in the slot moves behind it.
    fn set_apart(&mut self, len: usize) {
        let at = self.slot.at;
        if let Some(open) = &self.open {
            self.buffer.copy_within(at..at + len, open.at + HEADER + open.len + HEADER);
        }
        self.cancel();
        self.close();
    }

    fn begin(&mut self, flow: Flow, len: usize) {
        let (next, push) = (flow.sequence.wrapping_add(flow.payload as u32), flow.push);
        self.open = Some(Open { flow, at: self.end, len, segments: 1, next });
        if push {
            self.close();
        }
    }

    fn stand_alone(&mut self, len: usize) {
        self.buffer[self.end..self.end + HEADER].fill(0);
        self.complete.push((self.end, HEADER + len));
        self.end += HEADER + len;
    }

    /// Completes the super-segment that is being built.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let (header, rest) = self.buffer[open.at..].split_at_mut(HEADER);
        header.fill(0);
        if open.segments > 1 {
            let built = finish(&open, &mut rest[..open.len]);
            // the slice has the header's length, so this cannot fail
            let _ = built.encode(header);
        }
        self.complete.push((open.at, HEADER + open.len));
        self.end = open.at + HEADER + open.len;
    }
}

impl Open {
    /// Is `packet` the next one of this flow, `headers` being the first one's?
    #[inline]
    fn is_followed_by(&self, headers: &[u8], packet: &[u8], flow: &Flow) -> bool {
        let own = &self.flow;
        let transport = own.transport;
        own.v6 == flow.v6
            && own.tcp == flow.tcp
            && own.headers == flow.headers
            && flow.payload <= own.payload
            && self.len + flow.payload <= MAX_PACKET_BYTES
            && self.segments < MAX_SEGMENTS
            && headers[transport..transport + 4] == packet[transport..transport + 4]
            && same_ip(headers, packet, own.v6)
            && (!own.tcp || flow.sequence == self.next && same_tcp(headers, packet, own))
    }
}

/// Same addresses, class, hop limit and, for IPv4, fragment flags.
#[inline]
fn same_ip(a: &[u8], b: &[u8], v6: bool) -> bool {
    if v6 {
        a[..4] == b[..4] && a[7..IPV6_HEADER] == b[7..IPV6_HEADER]
    } else {
        a[1] == b[1] && a[6] == b[6] && a[8] == b[8] && a[12..IPV4_HEADER] == b[12..IPV4_HEADER]
    }
}

/// Same acknowledgement, window and options.
#[inline]
fn same_tcp(a: &[u8], b: &[u8], flow: &Flow) -> bool {
    let at = flow.transport;
    a[at + 8..at + 12] == b[at + 8..at + 12]
        && a[at + 14..at + 16] == b[at + 14..at + 16]
        && a[at + 20..flow.headers] == b[at + 20..flow.headers]
}

/// A packet that could be joined to others, with right checksums: joining would hide wrong ones from the kernel.
#[inline]
fn flow_of(packet: &[u8], ip: &Ip, udp: bool) -> Option<Flow> {
    let (v6, transport) = (ip.is_v6(), ip.transport);
    if ip.fragment || (!v6 && (transport != IPV4_HEADER || packet[6] & 0x80 != 0)) {
        return None;
    }
    let flow = match ip.protocol {
        TCP if packet.len() > transport + TCP_HEADER => {
            let headers = transport + (packet[transport + 12] >> 4) as usize * 4;
            let flags = packet[transport + 13];
            if headers < transport + TCP_HEADER || headers >= packet.len() || flags & !PSH != ACK {
                return None;
            }
            let (sequence, push) = (get32(packet, transport + 4), flags & PSH != 0);
            Flow { v6, tcp: true, transport, headers, payload: packet.len() - headers, sequence, push }
        }
        UDP if udp && packet.len() > transport + UDP_HEADER => {
            let headers = transport + UDP_HEADER;
            let whole = get16(packet, transport + 4) as usize == packet.len() - transport;
            if !whole || get16(packet, transport + UDP_SUM) == 0 {
                return None;
            }
            Flow {
                v6,
                tcp: false,
                transport,
                headers,
                payload: packet.len() - headers,
                sequence: 0,
                push: false,
            }
        }
        _ => return None,
    };
    let init = pseudo_of(packet, v6, ip.protocol, packet.len() - transport);
    let fits = fold(sum(&packet[transport..], init)) == 0xffff
        && (v6 || fold(sum(&packet[..IPV4_HEADER], 0)) == 0xffff);
    fits.then_some(flow)
}

/// Writes the lengths and the pseudo header's sum of the whole; says what the kernel needs to cut it again.
fn finish(open: &Open, whole: &mut [u8]) -> VirtioNetHdr {
    let Flow { v6, tcp, transport, headers, payload, .. } = open.flow;
    let len = whole.len();
    set_ip_len(whole, v6, transport, len);
    if !tcp {
        put16(whole, transport + 4, (len - transport) as u16);
    }
    let csum_offset = if tcp { TCP_SUM } else { UDP_SUM };
    let value = fold(pseudo_of(whole, v6, if tcp { TCP } else { UDP }, len - transport));
    put_sum(whole, transport + csum_offset, value);
    VirtioNetHdr {
        flags: NEEDS_CSUM,
        gso_type: match (tcp, v6) {
            (true, false) => GSO_TCP_V4,
            (true, true) => GSO_TCP_V6,
            (false, _) => GSO_UDP,
        },
        hdr_len: headers as u16,
        gso_size: payload as u16,
        csum_start: transport as u16,
        csum_offset: csum_offset as u16,
    }
}
