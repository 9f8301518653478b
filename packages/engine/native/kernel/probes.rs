//! Datagrams other than WireGuard's on the port of the kernel's socket. They come by raw sockets whose filter runs in the kernel, and
//! leave with that port as their source. So a NAT has one mapping for them and for the kernel's packets. It takes CAP_NET_RAW.
use crate::socket::{mark_socket, set_option};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};

const UDP_HEADER_BYTES: usize = 8;
/// Where the checksum stands in UDP's header.
const CHECKSUM_AT: usize = 6;
const UDP: u8 = 17;

pub struct Probes {
    v4: Socket,
    /// None: the host has no IPv6.
    v6: Option<Socket>,
    port: u16,
    mark: Option<u32>,
}

impl Probes {
    pub fn open(port: u16, mark: Option<u32>) -> io::Result<Probes> {
        let v4 = open(Domain::IPV4, port, mark)?;
        set_option(v4.as_raw_fd(), libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE)?;
        let v6 = open(Domain::IPV6, port, mark).ok();
        if let Some(v6) = &v6 {
            let fd = v6.as_raw_fd();
            set_option(fd, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE)?;
            // the kernel knows the source address, which the checksum covers
            set_option(fd, libc::IPPROTO_IPV6, libc::IPV6_CHECKSUM, CHECKSUM_AT as i32)?;
        }
        Ok(Probes { v4, v6, port, mark })
    }

    /// The descriptors to wait for.
    pub fn fds(&self) -> [Option<RawFd>; 2] {
        [Some(self.v4.as_raw_fd()), self.v6.as_ref().map(AsRawFd::as_raw_fd)]
    }

    /// The next datagram and where it came from, in `buffer`; none: nothing is there now.
    pub fn receive<'a>(&self, buffer: &'a mut [u8]) -> Option<(SocketAddr, &'a [u8])> {
        let (from, range) = self.receive_v4(buffer).or_else(|| self.receive_v6(buffer))?;
        Some((from, &buffer[range]))
    }

    fn receive_v4(&self, buffer: &mut [u8]) -> Option<(SocketAddr, std::ops::Range<usize>)> {
        let length = (&self.v4).read(buffer).ok()?;
        let packet = buffer.get(..length)?;
        let header = (usize::from(packet.first()? & 0xf)) * 4;
        let source: [u8; 4] = packet.get(12..16)?.try_into().ok()?;
        let range = payload(packet, header)?;
        Some((SocketAddr::new(source.into(), source_port(packet, header)?), range))
    }

    fn receive_v6(&self, buffer: &mut [u8]) -> Option<(SocketAddr, std::ops::Range<usize>)> {
        let socket = self.v6.as_ref()?;
        // SAFETY: `MaybeUninit<u8>` has the layout of `u8`, and the call only writes to it.
        let space = unsafe { std::slice::from_raw_parts_mut(buffer.as_mut_ptr().cast(), buffer.len()) };
        let (length, from) = socket.recv_from(space).ok()?;
        let packet = buffer.get(..length)?;
        let range = payload(packet, 0)?;
        Some((SocketAddr::new(from.as_socket_ipv6()?.ip().to_owned().into(), source_port(packet, 0)?), range))
    }

    /// False: it cannot be sent, or not at this length.
    pub fn send(&self, to: SocketAddr, datagram: &[u8]) -> bool {
        self.try_send(SocketAddr::new(to.ip().to_canonical(), to.port()), datagram).is_ok()
    }

    fn try_send(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        let length = u16::try_from(UDP_HEADER_BYTES + datagram.len()).map_err(io::Error::other)?;
        let mut packet = Vec::with_capacity(length.into());
        packet.extend_from_slice(&self.port.to_be_bytes());
        packet.extend_from_slice(&to.port().to_be_bytes());
        packet.extend_from_slice(&length.to_be_bytes());
        packet.extend_from_slice(&[0, 0]);
        packet.extend_from_slice(datagram);
        // the port is in the packet: here it must be 0
        let address = SockAddr::from(SocketAddr::new(to.ip(), 0));
        match (to.ip(), &self.v6) {
            (IpAddr::V4(destination), _) => {
                let sum = checksum(self.source_to(destination)?, destination, &packet);
                packet[CHECKSUM_AT..UDP_HEADER_BYTES].copy_from_slice(&sum.to_be_bytes());
                self.v4.send_to(&packet, &address).map(|_| ())
            }
            (IpAddr::V6(_), Some(v6)) => v6.send_to(&packet, &address).map(|_| ()),
            (IpAddr::V6(_), None) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// The address that the host sends from to this one.
    fn source_to(&self, to: Ipv4Addr) -> io::Result<Ipv4Addr> {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        if let Some(mark) = self.mark {
            mark_socket(socket.as_raw_fd(), mark)?;
        }
        socket.connect((to, 9))?;
        match socket.local_addr()?.ip() {
            IpAddr::V4(v4) => Ok(v4),
            IpAddr::V6(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

fn open(domain: Domain, port: u16, mark: Option<u32>) -> io::Result<Socket> {
    let socket = Socket::new(domain, Type::from(libc::SOCK_RAW), Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    attach_filter(socket.as_raw_fd(), domain == Domain::IPV4, port)?;
    if let Some(mark) = mark {
        mark_socket(socket.as_raw_fd(), mark)?;
    }
    Ok(socket)
}

/// Lets in what is for the port, and no WireGuard: a byte from 1 to 4, then three of zero.
fn attach_filter(fd: RawFd, is_v4: bool, port: u16) -> io::Result<()> {
    const LOAD_HEADER: u16 = (libc::BPF_LDX | libc::BPF_B | libc::BPF_MSH) as u16;
    const ZERO: u16 = (libc::BPF_LDX | libc::BPF_IMM) as u16;
    const HALF: u16 = (libc::BPF_LD | libc::BPF_H | libc::BPF_IND) as u16;
    const WORD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_IND) as u16;
    const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut filter = [
        // X: how long IPv4's header is; a raw socket of IPv6 sees none
        if is_v4 { step(LOAD_HEADER, 0, 0, 0) } else { step(ZERO, 0, 0, 0) },
        step(HALF, 0, 0, 2),
        step(EQUAL, 0, 6, port.into()),
        step(WORD, 0, 0, UDP_HEADER_BYTES as u32),
        step(EQUAL, 4, 0, 0x0100_0000),
        step(EQUAL, 3, 0, 0x0200_0000),
        step(EQUAL, 2, 0, 0x0300_0000),
        step(EQUAL, 1, 0, 0x0400_0000),
        step(RETURN, 0, 0, u32::MAX),
        step(RETURN, 0, 0, 0),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // the kernel copies the steps
    set_option(fd, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, program)
}

fn source_port(packet: &[u8], header: usize) -> Option<u16> {
    packet.get(header..)?.first_chunk().map(|port| u16::from_be_bytes(*port))
}

/// Where UDP's payload is, by the length that its header says.
fn payload(packet: &[u8], header: usize) -> Option<std::ops::Range<usize>> {
    let length = packet.get(header + 4..)?.first_chunk().map(|length| u16::from_be_bytes(*length))?;
    let range = header + UDP_HEADER_BYTES..header + usize::from(length);
    (range.start <= range.end && range.end <= packet.len()).then_some(range)
}

/// UDP's checksum over IPv4 (RFC 768); never 0, which would say that there is none.
fn checksum(source: Ipv4Addr, destination: Ipv4Addr, packet: &[u8]) -> u16 {
    let mut sum = u32::from(UDP) + packet.len() as u32;
    let words = [source.octets(), destination.octets()].concat();
    for pair in words.chunks(2).chain(packet.chunks(2)) {
        sum += u32::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    match !(sum as u16) {
        0 => u16::MAX,
        sum => sum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_that_of_the_kernel() {
        // a datagram "mesh" from 127.0.0.1:1234 to 127.0.0.1:4660, as the kernel sealed it
        let packet = [0x04, 0xd2, 0x12, 0x34, 0x00, 0x0c, 0, 0, b'm', b'e', b's', b'h'];
        let home = Ipv4Addr::LOCALHOST;
        let sum = checksum(home, home, &packet);
        let mut sealed = packet;
        sealed[6..8].copy_from_slice(&sum.to_be_bytes());
        // with its own checksum in it, the sum of all words is all ones
        assert_eq!(checksum(home, home, &sealed), u16::MAX);
    }

    #[test]
    fn a_length_that_cannot_be_is_no_payload() {
        assert_eq!(payload(&[0, 1, 0, 2, 0, 12, 0, 0, 1, 2, 3, 4], 0), Some(8..12));
        for packet in [&[0, 1, 0, 2, 0, 13, 0, 0, 1, 2, 3, 4][..], &[0, 1, 0, 2, 0, 7, 0, 0], &[0, 1], &[]] {
            assert_eq!(payload(packet, 0), None, "{packet:?}");
        }
    }
}
