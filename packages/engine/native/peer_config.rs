//! What the application says of one peer.
use crate::peer::Tunnel;
use crate::sessions::Key;
use crate::table::{Path, Prefix};
use zeroize::Zeroizing;

/// One peer as the application names it.
pub struct PeerConfig {
    /// The application's number for the peer, the same in all tables.
    pub id: u32,
    pub tunnel: Tunnel,
    /// The secret that both ends of WireGuard have besides their keys.
    pub preshared: Option<Zeroizing<Key>>,
    pub allowed: Vec<Prefix>,
    pub mtu: u16,
    /// The longest packet that the path over the socket takes; longer ones go by the stream.
    pub socket_mtu: u16,
    pub path: Path,
}
