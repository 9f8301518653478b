//! Errors of ICMP and ICMPv6 about a packet, built as if the packet's destination said so (RFC 792, RFC 4443).
use crate::checksum::{fold, pseudo, sum};
use crate::packet::*;

/// The most bytes of an ICMP error: 576 in IPv4, the least MTU in IPv6.
const MAX_QUOTE_V4: usize = 576 - IPV4_HEADER - 8;
const MAX_QUOTE_V6: usize = 1280 - IPV6_HEADER - 8;
/// The bytes that `build_error` may write.
pub const MAX_ICMP_ERROR: usize = 1280;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpError {
    /// Only packets with so many bytes go through.
    TooBig(usize),
    /// Rules do not allow it.
    Prohibited,
}

/// The message to the packet's sender; its length in `out`. None: such a packet gets no answer (an ICMP error, or a later
/// fragment).
pub fn build_error(
    packet: &[u8],
    ip: &Ip,
    error: IcmpError,
    out: &mut [u8; MAX_ICMP_ERROR],
) -> Option<usize> {
    if ip.is_v6() { build_v6(packet, ip, error, out) } else { build_v4(packet, ip, error, out) }
}

fn build_v4(packet: &[u8], ip: &Ip, error: IcmpError, out: &mut [u8; MAX_ICMP_ERROR]) -> Option<usize> {
    let first_fragment = packet[6] & 0x1f == 0 && packet[7] == 0;
    let is_error = ip.protocol == ICMP && !matches!(packet.get(ip.transport), Some(0 | 8 | 13..=18));
    if !first_fragment || is_error {
        return None;
    }
    let quote = &packet[..packet.len().min(MAX_QUOTE_V4)];
    let len = IPV4_HEADER + 8 + quote.len();
    let message = &mut out[..len];
    message.fill(0);
    (message[0], message[8], message[9]) = (0x45, 64, ICMP);
    put16(message, 2, len as u16);
    message[12..16].copy_from_slice(&packet[16..20]);
    message[16..20].copy_from_slice(&packet[12..16]);
    let header_sum = !fold(sum(&message[..IPV4_HEADER], 0));
    put_sum(message, 10, header_sum);
    // destination unreachable: fragmentation needed, or communication administratively prohibited
    match error {
        IcmpError::TooBig(mtu) => {
            (message[20], message[21]) = (3, 4);
            put16(message, 26, mtu as u16);
        }
        IcmpError::Prohibited => (message[20], message[21]) = (3, 13),
    }
    message[28..].copy_from_slice(quote);
    let value = !fold(sum(&message[IPV4_HEADER..], 0));
    put_sum(message, 22, value);
    Some(len)
}

fn build_v6(packet: &[u8], ip: &Ip, error: IcmpError, out: &mut [u8; MAX_ICMP_ERROR]) -> Option<usize> {
    let is_error = ip.protocol == ICMP_V6 && packet.get(ip.transport).is_none_or(|kind| *kind < 128);
    if is_error {
        return None;
    }
    let quote = &packet[..packet.len().min(MAX_QUOTE_V6)];
    let len = IPV6_HEADER + 8 + quote.len();
    let message = &mut out[..len];
    message.fill(0);
    (message[0], message[6], message[7]) = (0x60, ICMP_V6, 64);
    put16(message, 4, (len - IPV6_HEADER) as u16);
    message[8..24].copy_from_slice(&packet[24..40]);
    message[24..40].copy_from_slice(&packet[8..24]);
    match error {
        IcmpError::TooBig(mtu) => {
            message[IPV6_HEADER] = 2;
            message[44..48].copy_from_slice(&(mtu as u32).to_be_bytes());
        }
        IcmpError::Prohibited => (message[IPV6_HEADER], message[41]) = (1, 1),
    }
    message[48..].copy_from_slice(quote);
    let init = pseudo(&message[8..IPV6_HEADER], ICMP_V6, len - IPV6_HEADER);
    let value = !fold(sum(&message[IPV6_HEADER..], init));
    put_sum(message, IPV6_HEADER + 2, value);
    Some(len)
}
