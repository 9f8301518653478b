//! The engine's UDP sockets: its own, which stay and share one port, one for each thread that receives; and further ones
//! that come and go. Each of those has a port of its own, and so a mapping of its own at a NAT: where a NAT forgets them,
//! the next one is there before.
use crate::limits::MAX_FURTHER_SOCKETS;
use crate::poll::Poll;
use crate::port_group;
use crate::socket::{SocketConfig, UdpSocket, address_towards};
use parking_lot::RwLock;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::*};

/// Stands for the engine's own socket where a further one is named by its port.
pub const OWN: u16 = 0;

/// Where a datagram came from, and which socket received it: `OWN`, or the port of a further one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    pub address: SocketAddr,
    pub socket: u16,
}

pub struct Sockets {
    /// At least one; which one sends makes no difference to who receives.
    own: Vec<UdpSocket>,
    mark: Option<u32>,
    further: RwLock<Vec<Arc<UdpSocket>>>,
    /// How many those are: nobody asks for the lock while there are none.
    count: AtomicUsize,
    /// Has something to read whenever a further one has. Those of its own are none of them: what watches a socket costs at
    /// each datagram.
    any_further: Poll,
}

impl Sockets {
    /// `count`: how many of its own there should be; fewer where the kernel lets none share a port.
    pub fn open(config: SocketConfig, count: usize) -> io::Result<Sockets> {
        Ok(Sockets {
            own: port_group::open(config, count)?,
            mark: config.mark,
            further: RwLock::default(),
            count: AtomicUsize::new(0),
            any_further: Poll::new()?,
        })
    }

    /// How many of its own there are.
    pub fn own_count(&self) -> usize {
        self.own.len()
    }

    /// The one of its own with this number; numbers beyond the last one begin anew with the first.
    #[inline]
    pub fn own(&self, number: usize) -> &UdpSocket {
        &self.own[number % self.own.len()]
    }

    /// The further ones, which the thread of the first one reads. Holding them keeps them open.
    #[inline]
    pub fn further(&self, number: usize) -> Vec<Arc<UdpSocket>> {
        if number > 0 || self.count.load(Acquire) == 0 { Vec::new() } else { self.further.read().clone() }
    }

    /// The descriptors to wait for: that of the own socket with this number. The thread that reads the further sockets gets one more,
    /// which is readable when any of those is.
    pub fn fds(&self, number: usize) -> (RawFd, Option<RawFd>) {
        (self.own(number).fd(), (number == 0).then_some(self.any_further.fd()))
    }

    /// Opens a further one, on a port that the kernel chooses, and gives the port.
    pub fn open_further(&self) -> io::Result<u16> {
        let mut further = self.further.write();
        if further.len() >= MAX_FURTHER_SOCKETS {
            return Err(io::Error::other(format!("{MAX_FURTHER_SOCKETS} further sockets are open")));
        }
        let socket = UdpSocket::open(SocketConfig { port: 0, mark: self.mark })?;
        // one that is closed leaves by itself
        self.any_further.add(socket.fd(), 0)?;
        let port = socket.port();
        further.push(Arc::new(socket));
        self.count.store(further.len(), Release);
        Ok(port)
    }

    /// This machine's address towards another one; none: there is no way there.
    pub fn address_towards(&self, other: SocketAddr) -> Option<IpAddr> {
        address_towards(other, self.mark).ok()
    }

    /// Closes a further one; what is still to be sent by it leaves by the engine's own.
    pub fn close_further(&self, port: u16) {
        let mut further = self.further.write();
        further.retain(|socket| socket.port() != port);
        self.count.store(further.len(), Release);
    }

    /// Gives `each` the socket with this port, or where there is none any more that of the engine's own which has this
    /// number.
    #[inline]
    pub fn with<T>(&self, port: u16, number: usize, each: impl FnOnce(&UdpSocket) -> T) -> T {
        match self.find(port) {
            Some(socket) => each(&socket),
            None => each(self.own(number)),
        }
    }

    #[inline]
    fn find(&self, port: u16) -> Option<Arc<UdpSocket>> {
        if port == OWN || self.count.load(Acquire) == 0 {
            return None;
        }
        // a copy, so that the lock is not held over what is done with it
        self.further.read().iter().find(|socket| socket.port() == port).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_sockets_have_ports_of_their_own_and_come_and_go() {
        let sockets = Sockets::open(SocketConfig::default(), 1).unwrap();
        let ports: Vec<u16> = (0..MAX_FURTHER_SOCKETS).map(|_| sockets.open_further().unwrap()).collect();
        assert!(sockets.open_further().is_err(), "they are bounded");
        for port in &ports {
            assert_eq!(sockets.with(*port, 0, UdpSocket::port), *port);
            assert_ne!(*port, sockets.own(0).port());
        }
        sockets.close_further(ports[0]);
        assert_eq!(sockets.with(ports[0], 0, UdpSocket::port), sockets.own(0).port());
        assert_eq!(sockets.further(0).len(), MAX_FURTHER_SOCKETS - 1);
        assert_eq!(sockets.with(OWN, 0, UdpSocket::port), sockets.own(0).port());
    }

    /// Has a further one something to read within this time?
    fn tells(sockets: &Sockets, within_ms: i32) -> bool {
        let fd = sockets.fds(0).1.unwrap();
        let mut entry = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid entry.
        unsafe { libc::poll(&raw mut entry, 1, within_ms) == 1 }
    }

    #[test]
    fn the_descriptor_tells_of_a_socket_that_was_opened_later_and_no_more_of_one_that_is_closed() {
        let sockets = Sockets::open(SocketConfig::default(), 1).unwrap();
        assert!(!tells(&sockets, 0));
        let port = sockets.open_further().unwrap();
        let sender = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.send_to(b"hello", ("127.0.0.1", port)).unwrap();
        assert!(tells(&sockets, 10_000));
        sockets.close_further(port);
        assert!(!tells(&sockets, 0));
    }
}
