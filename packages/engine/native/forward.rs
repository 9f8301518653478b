//! Packets that a guest sends to a peer, or a peer to a guest: opened for the one and sealed for the other, and the device
//! never sees them. They go on as they came, as through a switch. There can be no circle: one of the two ends is a
//! guest, which nobody else carries for.
use crate::counters::Reason;
use crate::limits::FRAME_PREFIX_BYTES;
use crate::outbound::Sender;
use crate::outbox::Outbox;
use crate::packet::parse;
use crate::queues::push_frame;
use crate::shared::Shared;
use crate::table::Table;
use tun_rs::VirtioNetHdr;

/// One thread's own; its memory is used again.
pub struct Forward {
    /// The number of the thread's queue.
    queue: usize,
    /// Packets as frames.
    packets: Vec<u8>,
    /// What their senders have to be told, packets too.
    too_big: Vec<u8>,
    frames: Vec<u8>,
    /// Made with the first packet: most nodes have no guests.
    outbox: Option<Outbox>,
}

impl Forward {
    pub fn new(queue: usize) -> Forward {
        Forward { queue, packets: Vec::new(), too_big: Vec::new(), frames: Vec::new(), outbox: None }
    }

    #[inline]
    pub fn push(&mut self, packet: &[u8]) {
        push_frame(&mut self.packets, packet);
    }

    /// Sends what was pushed to the owners of its destinations. No peer's lock may be held.
    #[inline]
    pub fn send(&mut self, shared: &Shared, table: &Table) {
        if !self.packets.is_empty() {
            self.send_all(shared, table);
        }
    }

    fn send_all(&mut self, shared: &Shared, table: &Table) {
        let mut wakes = self.pass(shared, table);
        if !self.too_big.is_empty() {
            // these are short, and of a kind that is not answered
            std::mem::swap(&mut self.packets, &mut self.too_big);
            wakes |= self.pass(shared, table);
            self.too_big.clear();
        }
        if let (Some(outbox), Some(sockets)) = (&mut self.outbox, &shared.sockets) {
            let refused = outbox.flush(sockets, true);
            shared.counters.drop_many(Reason::NotSent, refused);
        }
        if wakes {
            shared.events.wake();
        }
    }

    /// True: the application has to be woken. `packets` is empty afterwards.
    fn pass(&mut self, shared: &Shared, table: &Table) -> bool {
        let Forward { queue, packets, too_big, frames, outbox } = self;
        let outbox = outbox.get_or_insert_with(|| Outbox::new(*queue));
        let (mut rest, mut wakes) = (packets.as_mut_slice(), false);
        while let Some((prefix, behind)) = rest.split_first_chunk_mut::<FRAME_PREFIX_BYTES>() {
            let Some((packet, next)) = behind.split_at_mut_checked(u16::from_be_bytes(*prefix) as usize)
            else {
                break;
            };
            rest = next;
            let Ok(ip) = parse(packet) else { continue };
            match table.owner(ip.destination) {
                None => shared.counters.drop_one(Reason::NoRoute),
                Some(entry) => {
                    let mut sender = Sender { shared, entry, frames, outbox, too_big: Some(too_big) };
                    wakes |= sender.send(&VirtioNetHdr::default(), &ip, packet);
                }
            }
        }
        packets.clear();
        wakes
    }
}
