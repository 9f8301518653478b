//! Cutting: one read from the device becomes the packets that travel.
use super::*;
use crate::packet::{Ip, TCP, UDP, get16, get32};
use tun_rs::VirtioNetHdr;

/// Why the kernel's super-segment was not taken.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    Malformed,
    /// Longer than `limit`, and of a kind that cannot be cut shorter.
    TooBig,
}

/// The header's parts that every segment repeats or counts on.
struct Plan {
    v6: bool,
    tcp: bool,
    transport: usize,
    headers: usize,
    segment: usize,
    identification: u16,
    sequence: u32,
}

/// Calls `each` with every packet of the super-segment `bytes` (without the virtio header), in order. TCP is cut
/// so that no packet is longer than `limit`. What is refused was not changed.
///
/// The packets are built in place: a segment's headers overwrite the end of the one before, which `each` has
/// consumed by then. `bytes` holds nothing of use afterwards.
pub fn cut(
    header: &VirtioNetHdr,
    ip: &Ip,
    bytes: &mut [u8],
    limit: usize,
    mut each: impl FnMut(&mut [u8]),
) -> Result<(), Refused> {
    if header.gso_type == GSO_NONE {
        if bytes.len() > limit {
            return Err(Refused::TooBig);
        }
        finish_checksum(header, bytes)?;
        each(bytes);
        return Ok(());
    }
    let plan = plan(header, ip, bytes, limit)?;
    let mut headers = [0; MAX_HEADERS];
    let headers = &mut headers[..plan.headers];
    headers.copy_from_slice(&bytes[..plan.headers]);
    let (mut at, mut index) = (plan.headers, 0u16);
    while at < bytes.len() {
        let payload = plan.segment.min(bytes.len() - at);
        let last = at + payload == bytes.len();
        let packet = &mut bytes[at - plan.headers..at + payload];
        packet[..plan.headers].copy_from_slice(headers);
        number(&plan, packet, index, at - plan.headers, last);
        each(packet);
        at += payload;
        index = index.wrapping_add(1);
    }
    Ok(())
}

/// The kernel left the transport's checksum to the device.
fn finish_checksum(header: &VirtioNetHdr, bytes: &mut [u8]) -> Result<(), Refused> {
    if !is_unfinished(header) {
        return Ok(());
    }
    let (start, offset) = (header.csum_start as usize, header.csum_offset as usize);
    let at = start + offset;
    if at + 2 > bytes.len() {
        return Err(Refused::Malformed);
    }
    // the field holds the pseudo header's sum, so that summing over it includes that
    let value = match !fold(sum(&bytes[start..], 0)) {
        0 if offset == UDP_SUM => 0xffff,
        value => value,
    };
    put_sum(bytes, at, value);
    Ok(())
}

fn plan(header: &VirtioNetHdr, ip: &Ip, bytes: &[u8], limit: usize) -> Result<Plan, Refused> {
    let tcp = match header.gso_type & !GSO_ECN {
        GSO_TCP_V4 | GSO_TCP_V6 => true,
        GSO_UDP => false,
        _ => return Err(Refused::Malformed),
    };
    let transport = header.csum_start as usize;
    let least = if tcp { TCP_HEADER } else { UDP_HEADER };
    // IPv6 may have extension headers before the transport's, IPv4's length is in its header
    let placed = if ip.is_v6() { transport >= ip.transport } else { transport == ip.transport };
    if !placed || bytes.len() < transport + least || bytes.len() != ip.len {
        return Err(Refused::Malformed);
    }
    let own = if tcp { (bytes[transport + 12] >> 4) as usize * 4 } else { UDP_HEADER };
    let headers = transport + own;
    if own < least || headers > MAX_HEADERS || headers > bytes.len() || header.gso_size == 0 {
        return Err(Refused::Malformed);
    }
    let asked = header.gso_size as usize;
    let room = limit.saturating_sub(headers);
    if room == 0 || (!tcp && asked > room && bytes.len() > limit) {
        return Err(Refused::TooBig);
    }
    Ok(Plan {
        v6: ip.is_v6(),
        tcp,
        transport,
        headers,
        segment: asked.min(room),
        identification: get16(bytes, 4),
        sequence: if tcp { get32(bytes, transport + 4) } else { 0 },
    })
}

/// Gives a segment its length, number, flags and checksums. `offset`: of its payload in the whole.
#[inline]
fn number(plan: &Plan, packet: &mut [u8], index: u16, offset: usize, last: bool) {
    let Plan { v6, tcp, transport, .. } = *plan;
    if !v6 {
        put16(packet, 4, plan.identification.wrapping_add(index));
    }
    set_ip_len(packet, v6, transport, packet.len());
    let sum_at = transport + if tcp { TCP_SUM } else { UDP_SUM };
    put16(packet, sum_at, 0);
    if tcp {
        let sequence = plan.sequence.wrapping_add(offset as u32);
        packet[transport + 4..transport + 8].copy_from_slice(&sequence.to_be_bytes());
        if !last {
            packet[transport + 13] &= !(FIN | PSH);
        }
        if index > 0 {
            packet[transport + 13] &= !CWR;
        }
    } else {
        put16(packet, transport + 4, (packet.len() - transport) as u16);
    }
    let init = pseudo_of(packet, v6, if tcp { TCP } else { UDP }, packet.len() - transport);
    let value = match !fold(sum(&packet[transport..], init)) {
        0 if !tcp => 0xffff,
        value => value,
    };
    put_sum(packet, sum_at, value);
}
