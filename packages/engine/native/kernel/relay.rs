//! Sealed datagrams between the kernel and peers' streams. For the kernel such a peer is a port of the loopback interface. What the
//! kernel sends there waits for the stream. What the stream brings is sent to the kernel from there.
use crate::counters::{Counters, Reason};
use crate::events::{Event, Events};
use crate::limits::MAX_BATCH_BYTES;
use crate::queues::{Fed, Incoming, Outgoing, frames, push_frame};
use parking_lot::Mutex;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

/// The longest time without an answer to a handshake, after which WireGuard gives up.
const SILENCE: Duration = Duration::from_secs(90);
/// The most datagrams that are read from one peer before others are read.
const DATAGRAMS_AT_ONCE: usize = 128;
/// The first byte of the message that begins a handshake, and of one with a packet.
const INITIATION: u8 = 1;
const SEALED: u8 = 4;

pub struct RelayPeer {
    pub id: u32,
    pub counters: Counters,
    pub outgoing: Outgoing,
    incoming: Incoming,
    socket: UdpSocket,
    address: SocketAddr,
    /// When the first handshake was begun that is not answered yet.
    unanswered: Mutex<Option<Instant>>,
}

impl RelayPeer {
    /// `port`: the kernel's.
    pub fn open(id: u32, port: u16) -> io::Result<RelayPeer> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        // what others of this machine send there is not taken
        socket.connect((Ipv4Addr::LOCALHOST, port))?;
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        Ok(RelayPeer {
            id,
            counters: Counters::default(),
            outgoing: Outgoing::default(),
            incoming: Incoming::default(),
            socket,
            address,
            unanswered: Mutex::default(),
        })
    }

    /// Where the kernel sends what is for the stream.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Takes the next bytes of the stream, cut anywhere.
    pub fn feed(&self, bytes: &[u8]) -> Fed {
        let fed = self.incoming.feed(bytes);
        self.counters.drop_many(Reason::InboundFull, fed.dropped);
        self.counters.drop_many(Reason::BadFrame, fed.bad);
        fed
    }

    /// The stream begins anew, with a whole frame.
    pub fn restart(&self) {
        self.incoming.restart();
    }

    /// Sends the kernel what the stream brought. `batch` is memory that is used again.
    pub fn write_kernel(&self, batch: &mut Vec<u8>, events: &Events) {
        let was_crowded = self.incoming.take(batch);
        let refused = frames(batch).filter(|frame| self.socket.send(frame).is_err()).count();
        self.counters.drop_many(Reason::DeviceRefused, refused);
        if was_crowded {
            events.tell(Event::Writable, self.id);
        }
    }

    /// Queues what the kernel sent for the stream. True: there may be more.
    pub fn read_kernel(&self, memory: &mut RelayMemory, events: &Events) -> bool {
        let mut count = 0;
        while count < DATAGRAMS_AT_ONCE {
            let Ok(length) = self.socket.recv(&mut memory.datagram) else { break };
            count += 1;
            let datagram = &memory.datagram[..length];
            match datagram.first() {
                Some(&SEALED) => push_frame(&mut memory.sealed, datagram),
                Some(first) => {
                    if *first == INITIATION {
                        self.unanswered.lock().get_or_insert_with(Instant::now);
                    }
                    push_frame(&mut memory.urgent, datagram);
                }
                None => {}
            }
            if memory.sealed.len() >= MAX_BATCH_BYTES / 2 {
                self.queue(&mut memory.sealed, false, events);
            }
        }
        self.queue(&mut memory.urgent, true, events);
        self.queue(&mut memory.sealed, false, events);
        count == DATAGRAMS_AT_ONCE
    }

    /// A handshake was completed.
    pub fn answered(&self) {
        *self.unanswered.lock() = None;
    }

    /// True once when the peer has not answered handshakes for so long that WireGuard gave up.
    pub fn is_silent(&self) -> bool {
        let mut unanswered = self.unanswered.lock();
        let is_over = unanswered.is_some_and(|since| since.elapsed() >= SILENCE);
        if is_over {
            *unanswered = None;
        }
        is_over
    }

    fn queue(&self, frames: &mut Vec<u8>, urgent: bool, events: &Events) {
        if frames.is_empty() {
            return;
        }
        let pushed = self.outgoing.push(frames, urgent);
        self.counters.drop_many(Reason::OutboundFull, pushed.dropped);
        frames.clear();
        if pushed.announce {
            events.tell(Event::Readable, self.id);
        }
    }
}

/// Memory of the relay's thread, which is used again.
pub struct RelayMemory {
    datagram: Vec<u8>,
    sealed: Vec<u8>,
    urgent: Vec<u8>,
}

impl Default for RelayMemory {
    fn default() -> RelayMemory {
        RelayMemory { datagram: vec![0; 65_536], sealed: Vec::new(), urgent: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_pass_both_ways_and_only_between_the_two_ends() {
        let kernel = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        kernel.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let peer = RelayPeer::open(7, kernel.local_addr().unwrap().port()).unwrap();
        let (events, mut memory, mut batch) =
            (Events::new(Box::new(|| {})), RelayMemory::default(), Vec::new());
        let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let _ = stranger.send_to(&[4; 40], peer.address());
        kernel.send_to(&[4; 50], peer.address()).unwrap();
        kernel.send_to(&[1; 148], peer.address()).unwrap();
        peer.read_kernel(&mut memory, &events);
        // the handshake has a reserve of its own, and goes first
        let taken = peer.outgoing.take().unwrap();
        assert_eq!(frames(&taken).map(<[u8]>::len).collect::<Vec<_>>(), [148, 50]);
        assert_eq!(events.poll(), [(Event::Readable, 7)]);

        let mut stream = Vec::new();
        push_frame(&mut stream, &[2; 92]);
        assert!(!peer.feed(&stream[..10]).announce);
        assert!(peer.feed(&stream[10..]).announce);
        peer.write_kernel(&mut batch, &events);
        let mut datagram = [0; 200];
        assert_eq!(kernel.recv_from(&mut datagram).unwrap(), (92, peer.address()));
    }
}
