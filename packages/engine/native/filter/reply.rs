//! How a refusal is told: TCP gets a reset, as if nobody listened, other protocols an ICMP error 'communication
//! administratively prohibited'. Both come from the packet's destination.
use super::headers::{ACK, FIN, Headers, Kind, Part, RST, SYN, Tcp};
use crate::checksum::{fold, pseudo, sum};
use crate::icmp_error::{IcmpError, MAX_ICMP_ERROR, build_error};
use crate::packet::*;

/// The bytes that an answer has at most.
pub const MAX_REPLY: usize = MAX_ICMP_ERROR;

/// Builds the answer to a refused packet; its length. None: such a packet gets no answer.
pub fn build_reply(packet: &[u8], ip: &Ip, headers: &Headers, out: &mut [u8; MAX_REPLY]) -> Option<usize> {
    if is_multicast(ip.destination) || is_multicast(ip.source) || matches!(headers.part, Part::Later { .. }) {
        return None;
    }
    match headers.kind {
        Kind::Tcp(tcp) if tcp.has(RST) || headers.part != Part::Whole => None,
        Kind::Tcp(tcp) => Some(reset(packet, ip, (headers, tcp), out)),
        Kind::Error => None,
        _ => build_error(packet, ip, IcmpError::Prohibited, out),
    }
}

/// A reset as RFC 9293 (3.5.2) says.
fn reset(packet: &[u8], ip: &Ip, (headers, tcp): (&Headers, Tcp), out: &mut [u8; MAX_REPLY]) -> usize {
    let at = if ip.is_v6() { IPV6_HEADER } else { IPV4_HEADER };
    let len = at + 20;
    let answer = &mut out[..len];
    answer.fill(0);
    if ip.is_v6() {
        (answer[0], answer[5], answer[6], answer[7]) = (0x60, 20, TCP, 64);
        answer[8..24].copy_from_slice(&packet[24..40]);
        answer[24..40].copy_from_slice(&packet[8..24]);
    } else {
        (answer[0], answer[3], answer[6], answer[8], answer[9]) = (0x45, len as u8, 0x40, 64, TCP);
        answer[12..16].copy_from_slice(&packet[16..20]);
        answer[16..20].copy_from_slice(&packet[12..16]);
        let value = !fold(sum(&answer[..IPV4_HEADER], 0));
        put_sum(answer, 10, value);
    }
    let (source, destination) = headers.ports;
    put16(answer, at, destination);
    put16(answer, at + 2, source);
    answer[at + 12] = 0x50;
    if tcp.has(ACK) {
        answer[at + 4..at + 8].copy_from_slice(&tcp.acknowledged.to_be_bytes());
        answer[at + 13] = RST;
    } else {
        let len = tcp.payload + u32::from(tcp.has(SYN)) + u32::from(tcp.has(FIN));
        answer[at + 8..at + 12].copy_from_slice(&tcp.sequence.wrapping_add(len).to_be_bytes());
        answer[at + 13] = RST | ACK;
    }
    let addresses = if ip.is_v6() { 8..IPV6_HEADER } else { 12..IPV4_HEADER };
    let init = pseudo(&answer[addresses], TCP, 20);
    let value = !fold(sum(&answer[at..], init));
    put_sum(answer, at + 16, value);
    len
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
