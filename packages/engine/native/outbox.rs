//! Sealed datagrams that wait for the socket, gathered into what one system call takes: datagrams of equal length for
//! one address, of which the last may be shorter. One thread's own; its memory is used again.
use crate::limits::{MAX_DATAGRAM_BYTES, MAX_SEND_SEGMENTS, OUTBOX_BYTES};
use crate::sockets::Sockets;
use std::net::SocketAddr;

struct Batch {
    to: SocketAddr,
    /// The socket by which it leaves.
    socket: u16,
    at: usize,
    len: usize,
    segment: usize,
    count: usize,
    /// Its last datagram is shorter: nothing may follow.
    closed: bool,
}

pub struct Outbox {
    buffer: Vec<u8>,
    batches: Vec<Batch>,
    /// The number of its thread's queue, and so which of the engine's own sockets it sends by.
    queue: usize,
}

impl Outbox {
    pub fn new(queue: usize) -> Outbox {
        Outbox { buffer: Vec::with_capacity(4 * OUTBOX_BYTES), batches: Vec::with_capacity(256), queue }
    }

    /// Appends a datagram for `to`, which leaves by `socket`.
    #[inline]
    pub fn push(&mut self, to: SocketAddr, socket: u16, datagram: &[u8]) {
        let (at, len) = (self.buffer.len(), datagram.len());
        self.buffer.extend_from_slice(datagram);
        match self.batches.last_mut() {
            Some(last) if last.to == to && last.socket == socket && last.takes(len) => {
                last.len += len;
                last.count += 1;
                last.closed = len < last.segment;
            }
            _ => self.batches.push(Batch { to, socket, at, len, segment: len, count: 1, closed: false }),
        }
    }

    /// More than one super-segment waits.
    pub fn is_full(&self) -> bool {
        self.buffer.len() >= OUTBOX_BYTES
    }

    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Sends what waits; the number of datagrams that were refused. Unless `all`, a last batch with room for more stays:
    /// what comes next may fill it up, and a full one costs the kernel no more than a small one.
    pub fn flush(&mut self, sockets: &Sockets, all: bool) -> usize {
        let kept = self.batches.pop_if(|last| !all && last.has_room());
        let mut refused = 0;
        for Batch { to, socket, at, len, segment, .. } in self.batches.drain(..) {
            let datagrams = &self.buffer[at..at + len];
            refused += sockets.with(socket, self.queue, |socket| socket.send_batch(to, datagrams, segment));
        }
        match kept {
            Some(batch) => {
                self.buffer.copy_within(batch.at..batch.at + batch.len, 0);
                self.buffer.truncate(batch.len);
                self.batches.push(Batch { at: 0, ..batch });
            }
            None => self.buffer.clear(),
        }
        refused
    }
}

impl Batch {
    #[inline]
    fn takes(&self, len: usize) -> bool {
        !self.closed
            && len <= self.segment
            && self.count < MAX_SEND_SEGMENTS
            && self.len + len <= MAX_DATAGRAM_BYTES
    }

    /// Worth waiting for more.
    fn has_room(&self) -> bool {
        !self.closed && self.count < MAX_SEND_SEGMENTS / 2 && self.len < MAX_DATAGRAM_BYTES * 3 / 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::{SocketConfig, UdpSocket};
    use crate::sockets::OWN;
    use quinn_udp::RecvMeta;
    use std::io::IoSliceMut;
    use std::time::{Duration, Instant};

    /// All datagrams that arrive, in order, until there are `count`.
    fn receive(socket: &UdpSocket, count: usize) -> Vec<Vec<u8>> {
        let (mut got, began) = (Vec::new(), Instant::now());
        let mut memory = vec![0; 65_536];
        while got.len() < count {
            assert!(began.elapsed() < Duration::from_secs(20), "{} of {count}", got.len());
            let mut meta = [RecvMeta::default()];
            if socket.receive(&mut [IoSliceMut::new(&mut memory)], &mut meta) == 1 {
                got.extend(memory[..meta[0].len].chunks(meta[0].stride).map(<[u8]>::to_vec));
            }
        }
        got
    }

    #[test]
    fn datagrams_arrive_one_by_one_in_their_order_whatever_their_lengths() {
        let (near, far) = (SocketConfig::default(), SocketConfig::default());
        let (near, far) = (Sockets::open(near, 1).unwrap(), UdpSocket::open(far).unwrap());
        let to: SocketAddr = format!("127.0.0.1:{}", far.port()).parse().unwrap();
        let lengths = [1300, 1300, 700, 1300, 1300, 1300, 90, 90, 2000, 1300, 1300];
        let sent: Vec<Vec<u8>> = lengths.iter().enumerate().map(|(n, len)| vec![n as u8; *len]).collect();
        let mut outbox = Outbox::new(0);
        for datagram in &sent {
            outbox.push(to, OWN, datagram);
        }
        assert_eq!(outbox.batches.len(), 5);
        assert_eq!(outbox.flush(&near, false), 0);
        assert!(!outbox.is_empty(), "the last one has room for more");
        assert_eq!(outbox.flush(&near, true), 0);
        assert!(outbox.is_empty());
        assert_eq!(receive(&far, sent.len()), sent);
    }

    #[test]
    fn a_batch_that_stayed_is_continued() {
        let (near, far) = (SocketConfig::default(), SocketConfig::default());
        let (near, far) = (Sockets::open(near, 1).unwrap(), UdpSocket::open(far).unwrap());
        let to: SocketAddr = format!("[::1]:{}", far.port()).parse().unwrap();
        let mut outbox = Outbox::new(0);
        for n in 0..100u8 {
            outbox.push(to, OWN, &[n; 1000]);
            if n % 7 == 0 {
                assert_eq!(outbox.flush(&near, false), 0);
            }
        }
        assert_eq!(outbox.flush(&near, true), 0);
        let expected: Vec<Vec<u8>> = (0..100u8).map(|n| vec![n; 1000]).collect();
        assert_eq!(receive(&far, 100), expected);
    }
}
