//! The kernel's WireGuard device, by generic netlink: its key, port, mark and peers are told (WG_CMD_SET_DEVICE), and
//! what its peers do is read (WG_CMD_GET_DEVICE). A table that is too long for one message goes in several.
use super::netlink::{Wipe, Wire};
use crate::sessions::Key;
use crate::table::Prefix;
use netlink_packet_core::{NLM_F_ACK, NLM_F_DUMP, Nla};
use netlink_packet_generic::GenlMessage;
use netlink_packet_generic::ctrl::nlas::GenlCtrlAttrs;
use netlink_packet_generic::ctrl::{GenlCtrl, GenlCtrlCmd};
use netlink_packet_wireguard::{
    WireguardAddressFamily, WireguardAllowedIp, WireguardAllowedIpAttr, WireguardAttribute, WireguardCmd,
    WireguardDeviceFlags, WireguardMessage, WireguardPeer, WireguardPeerAttribute, WireguardPeerFlags,
};
use std::io;
use std::net::SocketAddr;
use zeroize::Zeroize;

/// The most bytes of peers in one message: a list has a length of 16 bits, and the kernel takes 200 KiB at once.
const MAX_PEERS_BYTES: usize = 24 * 1024;
/// The most ranges that one entry of a peer names; more go in further entries for the same peer.
const MAX_RANGES: usize = 256;

/// The change to one peer of the kernel's table.
pub enum Change {
    /// Its sessions end, and it is not answered any more.
    Remove(Key),
    Set {
        key: Key,
        preshared: Option<Key>,
        /// Replaces all that it had.
        allowed: Option<Vec<Prefix>>,
        endpoint: Option<SocketAddr>,
    },
}

/// A peer as the kernel has it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PeerState {
    pub endpoint: Option<SocketAddr>,
    /// Unix time, seconds and nanoseconds; zero: none so far.
    pub handshake: (i64, i64),
    pub bytes_in: u64,
    pub bytes_out: u64,
}

/// The device as the kernel has it.
#[derive(Default)]
pub struct DeviceState {
    pub port: u16,
    pub peers: Vec<(Key, PeerState)>,
}

pub struct WireguardDevice {
    wire: Wire,
    family: u16,
    name: String,
}

impl Wipe for GenlMessage<GenlCtrl> {}

impl Wipe for GenlMessage<WireguardMessage> {
    fn wipe(&mut self) {
        for attribute in &mut self.payload.attributes {
            match attribute {
                WireguardAttribute::PrivateKey(key) => key.zeroize(),
                WireguardAttribute::Peers(peers) => peers.iter_mut().for_each(wipe_peer),
                _ => {}
            }
        }
    }
}

fn wipe_peer(peer: &mut WireguardPeer) {
    for attribute in &mut peer.0 {
        if let WireguardPeerAttribute::PresharedKey(key) = attribute {
            key.zeroize();
        }
    }
}

impl WireguardDevice {
    pub fn open(mut wire: Wire, name: &str) -> io::Result<WireguardDevice> {
        let question = GenlCtrl {
            cmd: GenlCtrlCmd::GetFamily,
            nlas: vec![GenlCtrlAttrs::FamilyName("wireguard".into())],
        };
        let answers = wire.ask(GenlMessage::from_payload(question), NLM_F_ACK)?;
        let family = answers.iter().flat_map(|answer| &answer.payload.nlas).find_map(|nla| match nla {
            GenlCtrlAttrs::FamilyId(id) => Some(*id),
            _ => None,
        });
        let family = family.ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))?;
        Ok(WireguardDevice { wire, family, name: name.into() })
    }

    /// Tells the key, the port (0: any) and the mark; peers of before are gone.
    pub fn configure(&mut self, private_key: &Key, port: u16, mark: u32) -> io::Result<()> {
        self.set(vec![
            WireguardAttribute::Flags(WireguardDeviceFlags::ReplacePeers),
            WireguardAttribute::PrivateKey(*private_key),
            WireguardAttribute::ListenPort(port),
            WireguardAttribute::Fwmark(mark),
        ])
    }

    pub fn remove_all(&mut self) -> io::Result<()> {
        self.set(vec![WireguardAttribute::Flags(WireguardDeviceFlags::ReplacePeers)])
    }

    pub fn apply(&mut self, changes: impl IntoIterator<Item = Change>) -> io::Result<()> {
        for peers in batches(changes.into_iter().flat_map(entries)) {
            self.set(vec![WireguardAttribute::Peers(peers)])?;
        }
        Ok(())
    }

    pub fn read(&mut self) -> io::Result<DeviceState> {
        let mut answers = self.ask(WireguardCmd::GetDevice, Vec::new(), NLM_F_DUMP)?;
        let mut state = DeviceState::default();
        for answer in &mut answers {
            // the kernel tells the private key
            answer.wipe();
            for attribute in &answer.payload.attributes {
                match attribute {
                    WireguardAttribute::ListenPort(port) => state.port = *port,
                    WireguardAttribute::Peers(peers) => {
                        state.peers.extend(peers.iter().filter_map(peer_state))
                    }
                    _ => {}
                }
            }
        }
        // a peer with many ranges goes on in the next message, which says nothing else of it
        state.peers.dedup_by(|next, before| next.0 == before.0);
        Ok(state)
    }

    fn set(&mut self, attributes: Vec<WireguardAttribute>) -> io::Result<()> {
        self.ask(WireguardCmd::SetDevice, attributes, NLM_F_ACK).map(|_| ())
    }

    fn ask(
        &mut self,
        cmd: WireguardCmd,
        mut attributes: Vec<WireguardAttribute>,
        flags: u16,
    ) -> io::Result<Vec<GenlMessage<WireguardMessage>>> {
        attributes.insert(0, WireguardAttribute::IfName(self.name.clone()));
        let mut message = GenlMessage::from_payload(WireguardMessage { cmd, attributes });
        message.set_resolved_family_id(self.family);
        self.wire.ask(message, flags)
    }
}

/// A change as the kernel takes it, in one entry or several.
fn entries(change: Change) -> Vec<WireguardPeer> {
    let (key, preshared, allowed, endpoint) = match change {
        Change::Remove(key) => {
            return vec![WireguardPeer(vec![
                WireguardPeerAttribute::PublicKey(key),
                WireguardPeerAttribute::Flags(WireguardPeerFlags::RemoveMe),
            ])];
        }
        Change::Set { key, preshared, allowed, endpoint } => (key, preshared, allowed, endpoint),
    };
    let mut first = vec![WireguardPeerAttribute::PublicKey(key)];
    first.extend(preshared.map(WireguardPeerAttribute::PresharedKey));
    first.extend(endpoint.map(WireguardPeerAttribute::Endpoint));
    let Some(allowed) = allowed else { return vec![WireguardPeer(first)] };
    first.push(WireguardPeerAttribute::Flags(WireguardPeerFlags::ReplaceAllowedIps));
    let mut parts = allowed
        .chunks(MAX_RANGES)
        .map(|part| WireguardPeerAttribute::AllowedIps(part.iter().map(allowed_ip).collect()));
    first.extend(parts.next());
    let further = parts.map(|part| WireguardPeer(vec![WireguardPeerAttribute::PublicKey(key), part]));
    std::iter::once(WireguardPeer(first)).chain(further).collect()
}

fn allowed_ip(prefix: &Prefix) -> WireguardAllowedIp {
    let family =
        if prefix.address.is_ipv4() { WireguardAddressFamily::Ipv4 } else { WireguardAddressFamily::Ipv6 };
    WireguardAllowedIp(vec![
        WireguardAllowedIpAttr::Family(family),
        WireguardAllowedIpAttr::IpAddr(prefix.address),
        WireguardAllowedIpAttr::Cidr(prefix.length),
    ])
}

/// Entries in as many messages as they need.
fn batches(entries: impl Iterator<Item = WireguardPeer>) -> Vec<Vec<WireguardPeer>> {
    let (mut batches, mut bytes) = (Vec::<Vec<WireguardPeer>>::new(), usize::MAX);
    for entry in entries {
        let length = entry.value_len() + 4;
        match batches.last_mut() {
            Some(batch) if bytes + length <= MAX_PEERS_BYTES => {
                batch.push(entry);
                bytes += length;
            }
            _ => {
                batches.push(vec![entry]);
                bytes = length;
            }
        }
    }
    batches
}

fn peer_state(peer: &WireguardPeer) -> Option<(Key, PeerState)> {
    let (mut key, mut state) = (None, PeerState::default());
    for attribute in &peer.0 {
        match attribute {
            WireguardPeerAttribute::PublicKey(bytes) => key = Some(*bytes),
            WireguardPeerAttribute::Endpoint(endpoint) => state.endpoint = Some(*endpoint),
            WireguardPeerAttribute::LastHandshake(time) => {
                state.handshake = (time.seconds, time.nano_seconds)
            }
            WireguardPeerAttribute::RxBytes(bytes) => state.bytes_in = *bytes,
            WireguardPeerAttribute::TxBytes(bytes) => state.bytes_out = *bytes,
            _ => {}
        }
    }
    key.map(|key| (key, state))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(number: u8, ranges: usize) -> Change {
        let allowed = (0..ranges)
            .map(|at| Prefix { address: [10, number, (at >> 8) as u8, at as u8].into(), length: 32 });
        Change::Set {
            key: [number; 32],
            preshared: Some([9; 32]),
            allowed: Some(allowed.collect()),
            endpoint: None,
        }
    }

    fn ranges_of(peer: &WireguardPeer) -> usize {
        peer.0
            .iter()
            .map(
                |attribute| {
                    if let WireguardPeerAttribute::AllowedIps(all) = attribute { all.len() } else { 0 }
                },
            )
            .sum()
    }

    #[test]
    fn a_long_table_goes_in_several_messages_and_loses_nothing() {
        let all = batches((0..200).map(|number| change(number, 3)).flat_map(entries));
        assert!(all.len() > 1);
        assert_eq!(all.iter().flatten().count(), 200);
        assert_eq!(all.iter().flatten().map(ranges_of).sum::<usize>(), 600);
        for batch in &all {
            assert!(batch.iter().map(|peer| peer.value_len() + 4).sum::<usize>() <= MAX_PEERS_BYTES);
        }
    }

    #[test]
    fn a_peer_with_many_ranges_replaces_the_old_ones_once_and_adds_the_rest() {
        let parts = entries(change(1, 1000));
        assert_eq!(parts.iter().map(ranges_of).collect::<Vec<_>>(), [256, 256, 256, 232]);
        let replaces =
            |peer: &WireguardPeer| peer.0.iter().any(|each| matches!(each, WireguardPeerAttribute::Flags(_)));
        assert_eq!(parts.iter().map(replaces).collect::<Vec<_>>(), [true, false, false, false]);
        assert!(batches(parts.into_iter()).len() > 1);
    }

    #[test]
    fn keys_are_overwritten() {
        let attributes =
            vec![WireguardAttribute::PrivateKey([7; 32]), WireguardAttribute::Peers(entries(change(1, 1)))];
        let mut message =
            GenlMessage::from_payload(WireguardMessage { cmd: WireguardCmd::SetDevice, attributes });
        message.wipe();
        let text = format!("{:?}", message.payload);
        assert!(!text.contains("7, 7, 7") && !text.contains("9, 9, 9"), "{text}");
    }
}
