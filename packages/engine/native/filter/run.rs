//! A run of plain packets of one flow: where the first one passed, those behind it in the same batch pass at once.
use super::flow::is_plain;
use crate::packet::{Ip, TCP, UDP};
use std::net::IpAddr;

/// The flow of the packet before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Run {
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    ports: [u8; 4],
}

impl Run {
    /// The run that a packet belongs to; none: it has to be judged by itself.
    #[inline]
    pub fn of(packet: &[u8], ip: &Ip) -> Option<Run> {
        let plain_v4 = ip.is_v6() || ip.transport == crate::packet::IPV4_HEADER;
        let header = packet.get(ip.transport..).filter(|_| plain_v4 && !ip.fragment)?;
        match ip.protocol {
            TCP if is_plain(*header.get(13)?) && header.len() >= 20 => {}
            UDP if header.len() >= 8 => {}
            _ => return None,
        }
        let Ip { source, destination, protocol, .. } = *ip;
        Some(Run { source, destination, protocol, ports: *header.first_chunk()? })
    }
}
