//! What others send to an engine, overheard on any device of this host that it passes by (AF_PACKET).
use socket2::{Domain, Protocol, Socket, Type};
use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

const LISTEN: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_millis(100);
/// The most that is kept.
const MOST: usize = 64;
const ETHERNET_HEADER: usize = 14;
const IPV4_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
/// A longer one is a super-segment of several.
const MOST_BYTES: usize = 1500;

/// The datagrams to the engine that passed within two seconds, of those that are wanted.
pub fn overhear(to: SocketAddr, wanted: impl Fn(&[u8]) -> bool) -> std::io::Result<Vec<Vec<u8>>> {
    let all = (libc::ETH_P_ALL as u16).to_be() as i32;
    let mut socket = Socket::new(
        Domain::from(libc::AF_PACKET),
        Type::from(libc::SOCK_RAW),
        Some(Protocol::from(all)),
    )?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let (mut heard, mut memory, began) = (Vec::new(), vec![0; 1 << 16], Instant::now());
    while began.elapsed() < LISTEN && heard.len() < MOST {
        let Ok(len) = socket.read(&mut memory) else {
            continue;
        };
        heard.extend(
            datagram_to(&memory[..len], to)
                .filter(|each| wanted(each))
                .map(<[u8]>::to_vec),
        );
    }
    Ok(heard)
}

/// What a frame has inside for the engine.
fn datagram_to(frame: &[u8], to: SocketAddr) -> Option<&[u8]> {
    let IpAddr::V4(address) = to.ip() else {
        return None;
    };
    let packet = frame
        .get(ETHERNET_HEADER..)
        .filter(|packet| packet.len() <= MOST_BYTES)?;
    let (ip, behind) = packet.split_at_checked(IPV4_HEADER)?;
    let (udp, datagram) = behind.split_at_checked(UDP_HEADER)?;
    let is_for = frame[12..14] == [8, 0]
        && (ip[0], ip[9]) == (0x45, 17)
        && ip[16..20] == address.octets()
        && udp[2..4] == to.port().to_be_bytes();
    (is_for && !datagram.is_empty()).then_some(datagram)
}
