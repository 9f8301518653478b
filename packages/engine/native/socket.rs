//! The UDP sockets that all peers share: both families, super-segments each way (GSO and GRO, by quinn-udp). Datagrams
//! are never fragmented: what is too long for the way is refused or lost, and found out by probes.
use crate::limits::{MAX_DATAGRAM_BYTES, SOCKET_BUFFER_BYTES, SOCKET_PATIENCE_MS};
use quinn_udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, RawFd};

pub struct UdpSocket {
    socket: Socket,
    state: UdpSocketState,
    /// It speaks both families: IPv4 addresses are mapped into IPv6 (RFC 4291, section 2.5.5.2).
    dual: bool,
    port: u16,
}

/// What quinn-udp has the kernel say with each datagram, and nobody reads here.
const UNREAD: [(libc::c_int, libc::c_int); 5] = [
    (libc::SOL_SOCKET, libc::SO_TIMESTAMPNS),
    (libc::IPPROTO_IP, libc::IP_PKTINFO),
    (libc::IPPROTO_IP, libc::IP_RECVTOS),
    (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO),
    (libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS),
];

/// The wishes that a person may have of the socket.
#[derive(Clone, Copy, Debug, Default)]
pub struct SocketConfig {
    /// 0: the kernel chooses one.
    pub port: u16,
    /// The routing mark of all that is sent (SO_MARK).
    pub mark: Option<u32>,
}

/// Says in words for people why the port cannot be had.
pub fn describe(error: &io::Error, port: u16) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => format!("another program has UDP port {port}"),
        _ => format!("UDP port {port}: {error}"),
    }
}

impl UdpSocket {
    /// Listens on all addresses of both families, or of IPv4 where the host has no IPv6.
    pub fn open(config: SocketConfig) -> io::Result<UdpSocket> {
        match Self::bind(config, true, false) {
            Err(error) if error.kind() != io::ErrorKind::AddrInUse => Self::bind(config, false, false),
            result => result,
        }
    }

    /// Lets further sockets of the same user be bound to its port, that say the same of themselves (SO_REUSEPORT).
    pub fn share_port(&self, shares: bool) -> io::Result<()> {
        set_option(self.fd(), libc::SOL_SOCKET, libc::SO_REUSEPORT, u32::from(shares))
    }

    /// Opens another one on the same port, which this one has to share.
    pub fn open_beside(&self, mark: Option<u32>) -> io::Result<UdpSocket> {
        Self::bind(SocketConfig { port: self.port, mark }, self.dual, true)
    }

    fn bind(config: SocketConfig, dual: bool, shares: bool) -> io::Result<UdpSocket> {
        let domain = if dual { Domain::IPV6 } else { Domain::IPV4 };
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        let any = if dual { IpAddr::from(Ipv6Addr::UNSPECIFIED) } else { Ipv4Addr::UNSPECIFIED.into() };
        if dual {
            socket.set_only_v6(false)?;
        }
        if let Some(mark) = config.mark {
            mark_socket(socket.as_raw_fd(), mark)?;
        }
        if shares {
            set_option(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_REUSEPORT, 1)?;
        }
        socket.bind(&SocketAddr::new(any, config.port).into())?;
        for option in [libc::SO_RCVBUFFORCE, libc::SO_SNDBUFFORCE] {
            // without the privilege the system's own size stays, which is only slower
            let _ = set_option(socket.as_raw_fd(), libc::SOL_SOCKET, option, SOCKET_BUFFER_BYTES);
        }
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        for (level, option) in UNREAD {
            // one that stays is only slower; an IPv4 socket has not all of them
            let _ = set_option(socket.as_raw_fd(), level, option, 0);
        }
        let local = socket.local_addr()?.as_socket();
        let port =
            local.map(|local| local.port()).ok_or_else(|| io::Error::other("a socket without a port"))?;
        Ok(UdpSocket { socket, state, dual, port })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Receives what is there: each buffer holds datagrams of one sender, `stride` bytes each. 0: nothing is there.
    pub fn receive(&self, buffers: &mut [IoSliceMut], metas: &mut [RecvMeta]) -> usize {
        self.state.recv(UdpSockRef::from(&self.socket), buffers, metas).unwrap_or(0)
    }

    /// The address that a datagram came from, as the application writes it.
    pub fn sender(meta: &RecvMeta) -> SocketAddr {
        SocketAddr::new(meta.addr.ip().to_canonical(), meta.addr.port())
    }

    /// Sends datagrams of `segment` bytes each, the last one perhaps shorter; waits a little for a full buffer. The
    /// number that the kernel did not take.
    pub fn send_batch(&self, to: SocketAddr, datagrams: &[u8], segment: usize) -> usize {
        let to = self.address(to);
        // one, once the kernel has refused super-segments
        let most = self.state.max_gso_segments().max(1) * segment;
        let mut refused = 0;
        for part in datagrams.chunks(most.min(MAX_DATAGRAM_BYTES / segment * segment).max(segment)) {
            if self.patiently(to, part, segment).is_err() {
                refused +=
                    part.chunks(segment).filter(|each| self.patiently(to, each, segment).is_err()).count();
            }
        }
        refused
    }

    /// Sends one datagram; never waits.
    pub fn send(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        self.try_send(self.address(to), datagram, datagram.len())
    }

    fn patiently(&self, to: SocketAddr, part: &[u8], segment: usize) -> io::Result<()> {
        let result = self.try_send(to, part, segment);
        match &result {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let mut entry = libc::pollfd { fd: self.fd(), events: libc::POLLOUT, revents: 0 };
                // SAFETY: one valid entry.
                unsafe { libc::poll(&mut entry, 1, SOCKET_PATIENCE_MS) };
                self.try_send(to, part, segment)
            }
            _ => result,
        }
    }

    fn try_send(&self, destination: SocketAddr, contents: &[u8], segment: usize) -> io::Result<()> {
        let segment_size = (contents.len() > segment).then_some(segment);
        let transmit = Transmit { destination, ecn: None, contents, segment_size, src_ip: None };
        self.state.try_send(UdpSockRef::from(&self.socket), &transmit)
    }

    fn address(&self, to: SocketAddr) -> SocketAddr {
        match to.ip() {
            IpAddr::V4(v4) if self.dual => SocketAddr::new(v4.to_ipv6_mapped().into(), to.port()),
            _ => to,
        }
    }
}

/// The address from which this machine would send there. Nothing is sent.
pub fn address_towards(other: SocketAddr, mark: Option<u32>) -> io::Result<IpAddr> {
    let socket = Socket::new(Domain::for_address(other), Type::DGRAM, Some(Protocol::UDP))?;
    if let Some(mark) = mark {
        mark_socket(socket.as_raw_fd(), mark)?;
    }
    socket.connect(&other.into())?;
    let own = socket.local_addr()?.as_socket();
    own.map(|own| own.ip()).ok_or_else(|| io::Error::other("a socket without an address"))
}

/// Marks what a socket of the application sends (SO_MARK), and with a listening one also what it accepts from now on.
pub fn mark_socket(fd: RawFd, mark: u32) -> io::Result<()> {
    set_option(fd, libc::SOL_SOCKET, libc::SO_MARK, mark)
}

/// Bounds the segments of a TCP socket, each way: of one that connects after this, and of those that a listening one accepts.
pub fn cap_segments(fd: RawFd, bytes: u32) -> io::Result<()> {
    set_option(fd, libc::IPPROTO_TCP, libc::TCP_MAXSEG, bytes)
}

/// Lets routers cut the IPv4 packets of a TCP socket (no DF), and of those that a listening one accepts from then on. Of an
/// IPv6 socket too, which may carry IPv4.
pub fn allow_fragments(fd: RawFd) -> io::Result<()> {
    set_option(fd, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_DONT as u32)
}

/// Sets an option of a socket: `value` is what the system takes for it.
pub fn set_option<T>(fd: RawFd, level: libc::c_int, option: libc::c_int, value: T) -> io::Result<()> {
    let length = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the value is valid for its length.
    let result = unsafe { libc::setsockopt(fd, level, option, (&raw const value).cast(), length) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn the_kernel_says_with_a_datagram_no_more_than_what_is_read() {
        for dual in [true, false] {
            let near = UdpSocket::bind(SocketConfig::default(), dual, false).unwrap();
            let far = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
            far.send_to(b"hello", ("127.0.0.1", near.port())).unwrap();
            let (mut memory, mut meta) = ([0; 100], [RecvMeta::default()]);
            let began = Instant::now();
            while near.receive(&mut [IoSliceMut::new(&mut memory)], &mut meta) == 0 {
                assert!(began.elapsed() < Duration::from_secs(20), "it never came");
            }
            let [RecvMeta { len, stride, ecn, dst_ip, timestamp, .. }] = meta;
            assert_eq!((len, stride, UdpSocket::sender(&meta[0])), (5, 5, far.local_addr().unwrap()));
            assert_eq!((ecn, dst_ip, timestamp), (None, None, None), "dual {dual}");
        }
    }
}
