//! The kernel's end: a TUN device with super-segments where the system grants them, or a memory device (pairs of
//! sockets that keep message boundaries) whose other end a test holds. Each queue of either is one file descriptor here.
use crate::poll::{event_fd, ring};
use crate::segments::HEADER;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixListener;
use std::time::Duration;
use tun_rs::SyncDevice;

pub struct Device {
    /// At least one. The kernel keeps a flow on one of them: the one by which what answers it was written last.
    queues: Vec<DeviceQueue>,
    offload: bool,
    /// True when joined UDP is taken too (Linux 6.2).
    offload_udp: bool,
    /// Held while the device is open, where the kernel would let others add queues to it.
    _claim: Option<UnixListener>,
}

/// A way to and from the kernel that one thread may use beside those of the others.
pub struct DeviceQueue {
    end: End,
    /// True when a header for super-segments stands before each packet.
    offload: bool,
}

enum End {
    Tun(SyncDevice),
    Memory(OwnedFd),
}

/// The outcome of a read.
pub enum Read {
    /// The number of bytes that were read, header included.
    Bytes(usize),
    /// Nothing is there now.
    Empty,
    /// The device is gone.
    Gone(io::Error),
}

impl Device {
    /// All queues of one TUN device, at least one.
    pub fn tun(queues: Vec<SyncDevice>, claim: Option<UnixListener>) -> Device {
        let offload = queues.iter().all(|queue| queue.tcp_gso());
        let offload_udp = queues.iter().all(|queue| queue.udp_gso());
        let queues = queues.into_iter().map(|device| DeviceQueue { end: End::Tun(device), offload });
        Device { queues: queues.collect(), offload, offload_udp, _claim: claim }
    }

    /// A memory device with at least one queue, and its other end.
    pub fn memory(offload: bool, queues: usize) -> io::Result<(Device, MemoryEnd)> {
        let (mut near, mut far) = (Vec::new(), Vec::new());
        for _ in 0..queues.max(1) {
            let [one, other] = create_pair()?;
            near.push(DeviceQueue { end: End::Memory(one), offload });
            far.push(other);
        }
        Ok((Device { queues: near, offload, offload_udp: offload, _claim: None }, MemoryEnd { far, offload }))
    }

    /// The TUN device, for all that is the interface's and not a queue's.
    pub fn interface(&self) -> Option<&SyncDevice> {
        match &self.queue(0).end {
            End::Tun(device) => Some(device),
            End::Memory(_) => None,
        }
    }

    pub fn queue_count(&self) -> usize {
        self.queues.len()
    }

    /// The queue with this number; numbers beyond the last one begin anew with the first.
    #[inline]
    pub fn queue(&self, number: usize) -> &DeviceQueue {
        &self.queues[number % self.queues.len()]
    }

    pub fn offload(&self) -> bool {
        self.offload
    }

    pub fn offload_udp(&self) -> bool {
        self.offload_udp
    }
}

impl DeviceQueue {
    /// The number of bytes before each packet.
    pub fn header_len(&self) -> usize {
        if self.offload { HEADER } else { 0 }
    }

    pub fn fd(&self) -> RawFd {
        match &self.end {
            End::Tun(device) => device.as_raw_fd(),
            End::Memory(fd) => fd.as_raw_fd(),
        }
    }

    pub fn read(&self, buffer: &mut [u8]) -> Read {
        match read(self.fd(), buffer) {
            // a TUN device never gives nothing; of the pair, the other end was closed
            Ok(0) => Read::Gone(io::Error::from(io::ErrorKind::UnexpectedEof)),
            Ok(len) => Read::Bytes(len),
            Err(error) if is_passing(&error) => Read::Empty,
            Err(error) => Read::Gone(error),
        }
    }

    /// Writes one piece, which begins with `HEADER` bytes whatever the device takes. False: it was refused.
    pub fn write(&self, piece: &[u8]) -> bool {
        let from = HEADER - self.header_len();
        piece.get(from..).is_some_and(|bytes| write(self.fd(), bytes).is_ok())
    }
}

/// The other end of a memory device.
pub struct MemoryEnd {
    far: Vec<OwnedFd>,
    offload: bool,
}

impl MemoryEnd {
    /// Sends a packet as the kernel would, each flow by one queue. False: the engine has too much to read already.
    pub fn send(&self, packet: &[u8]) -> bool {
        if !self.offload {
            return write(self.queue_of(packet), packet).is_ok();
        }
        let mut piece = vec![0; HEADER];
        piece.extend_from_slice(packet);
        self.send_piece(&piece)
    }

    /// Sends a super-segment with its header.
    pub fn send_piece(&self, piece: &[u8]) -> bool {
        write(self.queue_of(piece.get(HEADER..).unwrap_or_default()), piece).is_ok()
    }

    /// The next thing that the kernel would have got, by any queue: a packet, or with offload a piece with its header.
    pub fn receive(&self) -> Option<Vec<u8>> {
        (0..self.far.len()).find_map(|queue| self.receive_by(queue))
    }

    /// The same, by one queue.
    pub fn receive_by(&self, queue: usize) -> Option<Vec<u8>> {
        let mut buffer = vec![0; HEADER + crate::limits::MAX_PACKET_BYTES];
        let len = read(self.far.get(queue)?.as_raw_fd(), &mut buffer).ok().filter(|len| *len > 0)?;
        buffer.truncate(len);
        Some(buffer)
    }

    /// How many queues there are.
    pub fn queues(&self) -> usize {
        self.far.len()
    }

    /// The number of the queue that a packet goes by: that of its addresses and ports.
    pub fn number_of(&self, packet: &[u8]) -> usize {
        let mut hasher = DefaultHasher::new();
        let from = if packet.first().is_some_and(|first| first >> 4 == 6) { 8..44 } else { 12..24 };
        packet.get(from).unwrap_or_default().hash(&mut hasher);
        hasher.finish() as usize % self.far.len()
    }

    fn queue_of(&self, packet: &[u8]) -> RawFd {
        self.far[self.number_of(packet)].as_raw_fd()
    }
}

fn create_pair() -> io::Result<[OwnedFd; 2]> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: `ends` has place for the two descriptors.
    if unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both were just made and belong to nobody else.
    Ok(ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }))
}

/// True when there is nothing now, but later: no data, a signal, or the interface is down.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR | libc::EIO))
}

fn read(fd: RawFd, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is valid for its length, for the time of the call.
    let len = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
    usize::try_from(len).map_err(|_| io::Error::last_os_error())
}

fn write(fd: RawFd, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the bytes are valid for their length, for the time of the call.
    let len = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
    usize::try_from(len).map_err(|_| io::Error::last_os_error())
}

/// Wakes all threads that wait for the device or a socket.
pub struct Waker(OwnedFd);

impl Waker {
    pub fn new() -> io::Result<Waker> {
        event_fd().map(Waker)
    }

    /// Wakes them for good: this is only for stopping.
    pub fn wake(&self) {
        ring(&self.0);
    }

    /// Waits until the device or socket `fd`, or the `other` one, has something to read, or `wake` was called.
    pub fn wait_for(&self, fd: RawFd, other: Option<RawFd>) {
        // a negative one is passed over
        self.poll([fd, other.unwrap_or(-1)], -1);
    }

    /// Waits for this time, or until `wake` was called.
    pub fn pause(&self, time: Duration) {
        self.poll([-1, -1], time.as_millis() as i32);
    }

    fn poll(&self, others: [RawFd; 2], at_most_ms: i32) {
        let fds = [self.0.as_raw_fd(), others[0], others[1]];
        let mut fds = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        // SAFETY: three valid entries.
        unsafe { libc::poll(fds.as_mut_ptr(), 3, at_most_ms) };
    }
}
