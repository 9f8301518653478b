//! What is known of one flow, and how long that counts.
use super::headers::{ACK, DCCP, FIN, RST, SCTP, SYN, Tcp, UDP_LITE};
use super::key::{Key, Side};
use super::lists::Links;
use crate::limits::*;
use crate::packet::{ICMP, ICMP_V6, TCP, UDP};

/// Time since the engine began, in quarters of a second.
pub type Ticks = u32;

#[derive(Clone, Debug)]
pub struct Flow {
    pub key: Key,
    /// The next one with the same hash, or the next slot that is free.
    pub chain: u32,
    pub links: [Links; 2],
    /// The number of the peer at the other end, by whom flows are bounded.
    pub peer: u32,
    pub seen: Ticks,
    /// The generation of rules that allowed or refused it.
    pub generation: u32,
    /// Of TCP: where each side said that its bytes end.
    ends: [u32; 2],
    /// One bit for each side that said so.
    ended: u8,
    /// The side that began it.
    pub origin: Side,
    /// True when no rules are asked for it: this node began it, or a guest of this node with a member.
    pub ours: bool,
    /// The other side sent something.
    answered: bool,
    /// Of TCP: reset.
    reset: bool,
    /// The rules do not allow it any more.
    pub refused: bool,
    /// The list that it is in.
    pub class: u8,
}

/// Flows that go first where there is no room: they were not answered, or are over.
pub const FLEETING: u8 = 0;
pub const LASTING: u8 = 1;

impl Flow {
    pub fn new(key: Key, origin: Side, peer: u32, seen: Ticks) -> Flow {
        Flow {
            key,
            chain: 0,
            links: Default::default(),
            peer,
            seen,
            generation: 0,
            ends: [0; 2],
            ended: 0,
            origin,
            ours: false,
            answered: false,
            reset: false,
            refused: false,
            class: FLEETING,
        }
    }

    /// TCP's connection is over; another may begin.
    pub fn is_over(&self) -> bool {
        self.reset || self.ended == 3
    }

    /// The class that it belongs to.
    pub fn class_now(&self) -> u8 {
        if self.answered && !self.is_over() && !self.refused { LASTING } else { FLEETING }
    }

    pub fn has_expired(&self, now: Ticks) -> bool {
        now.saturating_sub(self.seen) > self.timeout()
    }

    fn timeout(&self) -> Ticks {
        match self.key.protocol() {
            TCP if self.reset => RESET_FLOW_TICKS,
            TCP if self.class_now() == FLEETING => FLEETING_TCP_TICKS,
            TCP => TCP_FLOW_TICKS,
            UDP | UDP_LITE if self.class_now() == LASTING => ANSWERED_UDP_TICKS,
            UDP | UDP_LITE | ICMP | ICMP_V6 | SCTP | DCCP if self.class_now() == FLEETING => UDP_FLOW_TICKS,
            ICMP | ICMP_V6 => UDP_FLOW_TICKS,
            _ => OTHER_FLOW_TICKS,
        }
    }

    /// Takes note of a packet from one side. False: it is TCP's, inbound, and goes on after the end of its connection.
    pub fn step(&mut self, from: Side, tcp: Option<Tcp>, inbound: bool) -> bool {
        self.answered |= from != self.origin;
        let Some(tcp) = tcp else { return true };
        if tcp.has(RST) {
            self.reset = true;
            return true;
        }
        let (bit, end) = (1 << from, &mut self.ends[from as usize & 1]);
        let upto = tcp.sequence.wrapping_add(tcp.payload);
        let is_beyond = self.ended & bit != 0 && (upto.wrapping_sub(*end) as i32) > 0;
        if inbound && tcp.payload > 0 && (self.reset || is_beyond) {
            return false;
        }
        if tcp.has(FIN) && self.ended & bit == 0 {
            *end = upto;
            self.ended |= bit;
        }
        true
    }

    /// True: plain packets of it need not be looked at one by one for a moment.
    pub fn runs(&self) -> bool {
        self.key.protocol() == UDP || self.key.protocol() == TCP && self.ended == 0 && !self.reset
    }
}

/// A packet of TCP that changes nothing in its flow's state.
pub fn is_plain(flags: u8) -> bool {
    flags & (SYN | FIN | RST | ACK) == ACK
}
