//! What the application says of one peer.
use crate::peer::Tunnel;
use crate::sessions::Key;
use crate::table::{Path, Prefix};
use zeroize::Zeroize;

/// One peer as the application names it.
pub struct PeerConfig {
    /// The application's number for the peer, the same in all tables.
    pub id: u32,
    pub tunnel: TunnelConfig,
    pub allowed: Vec<Prefix>,
    pub mtu: u16,
    /// The longest packet that the path over the socket takes; longer ones go by the stream.
    pub socket_mtu: u16,
    pub path: Path,
}

#[derive(Clone, Copy)]
pub enum TunnelConfig {
    None,
    /// A WireGuard peer's public key, and the secret both ends have besides.
    WireGuard {
        public: Key,
        preshared: Option<Key>,
    },
    Legacy,
}

impl TunnelConfig {
    /// Overwrites the secret, which whoever uses it has copied.
    pub fn wipe(&mut self) {
        if let TunnelConfig::WireGuard { preshared, .. } = self {
            preshared.zeroize();
        }
    }

    pub fn tunnel(&self) -> Tunnel {
        match self {
            TunnelConfig::None => Tunnel::None,
            TunnelConfig::WireGuard { public, .. } => Tunnel::WireGuard(*public),
            TunnelConfig::Legacy => Tunnel::Legacy,
        }
    }
}
