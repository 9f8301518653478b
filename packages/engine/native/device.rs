//! The kernel's end: a TUN device with super-segments where the system grants them, or a memory device (a pair of
//! sockets that keep message boundaries) whose other end a test holds. Both are one file descriptor here.
use crate::segments::HEADER;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use tun_rs::SyncDevice;

pub struct Device {
    end: End,
    /// True when a header for super-segments stands before each packet.
    offload: bool,
    /// True when joined UDP is taken too (Linux 6.2).
    offload_udp: bool,
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
    pub fn tun(device: SyncDevice) -> Device {
        let (offload, offload_udp) = (device.tcp_gso(), device.udp_gso());
        Device { end: End::Tun(device), offload, offload_udp }
    }

    /// A memory device and its other end.
    pub fn memory(offload: bool) -> io::Result<(Device, MemoryEnd)> {
        let mut ends = [0; 2];
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: `ends` has place for the two descriptors.
        if unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: both were just made and belong to nobody else.
        let [near, far] = ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        let device = Device { end: End::Memory(near), offload, offload_udp: offload };
        Ok((device, MemoryEnd { far, offload }))
    }

    pub fn interface(&self) -> Option<&SyncDevice> {
        match &self.end {
            End::Tun(device) => Some(device),
            End::Memory(_) => None,
        }
    }

    pub fn offload(&self) -> bool {
        self.offload
    }

    pub fn offload_udp(&self) -> bool {
        self.offload_udp
    }

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
    far: OwnedFd,
    offload: bool,
}

impl MemoryEnd {
    /// Sends a packet as the kernel would. False: the engine has too much to read already.
    pub fn send(&self, packet: &[u8]) -> bool {
        if !self.offload {
            return write(self.far.as_raw_fd(), packet).is_ok();
        }
        let mut piece = vec![0; HEADER];
        piece.extend_from_slice(packet);
        self.send_piece(&piece)
    }

    /// Sends a super-segment with its header.
    pub fn send_piece(&self, piece: &[u8]) -> bool {
        write(self.far.as_raw_fd(), piece).is_ok()
    }

    /// The next thing that the kernel would have got: a packet, or with offload a piece with its header.
    pub fn receive(&self) -> Option<Vec<u8>> {
        let mut buffer = vec![0; HEADER + crate::limits::MAX_PACKET_BYTES];
        let len = read(self.far.as_raw_fd(), &mut buffer).ok().filter(|len| *len > 0)?;
        buffer.truncate(len);
        Some(buffer)
    }
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

/// Wakes a thread that waits for the device.
pub struct Waker(OwnedFd);

impl Waker {
    pub fn new() -> io::Result<Waker> {
        // SAFETY: a plain system call; the result is checked.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it was just made and belongs to nobody else.
        Ok(Waker(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Wakes the thread for good: this is only for stopping.
    pub fn wake(&self) {
        let _ = write(self.0.as_raw_fd(), &1u64.to_ne_bytes());
    }

    /// Waits until the device or socket `fd` has something to read, or `wake` was called.
    pub fn wait_for(&self, fd: RawFd) {
        let watch = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut fds = [watch(fd), watch(self.0.as_raw_fd())];
        // SAFETY: two valid entries.
        unsafe { libc::poll(fds.as_mut_ptr(), 2, -1) };
    }
}
