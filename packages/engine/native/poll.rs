//! What a thread waits for: many descriptors, and a bell that others ring.
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// Makes a bell (eventfd).
pub fn event_fd() -> io::Result<OwnedFd> {
    // SAFETY: a plain system call.
    owned(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })
}

pub fn ring(bell: &OwnedFd) {
    let one = 1u64.to_ne_bytes();
    // SAFETY: eight valid bytes.
    unsafe { libc::write(bell.as_raw_fd(), one.as_ptr().cast(), one.len()) };
}

/// The result of a system call that makes a descriptor.
fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was just made and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// What `wait` gives when the bell was rung; descriptors have other numbers.
pub const BELL: u64 = 0;
const MAX_WAKEUPS: usize = 64;

/// Waits for many descriptors (epoll) and a bell (eventfd).
pub struct Poll {
    epoll: OwnedFd,
    bell: OwnedFd,
}

impl Poll {
    pub fn new() -> io::Result<Poll> {
        // SAFETY: a plain system call.
        let epoll = owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        let poll = Poll { epoll, bell: event_fd()? };
        poll.add(poll.bell.as_raw_fd(), BELL)?;
        Ok(poll)
    }

    /// A descriptor that is closed leaves by itself.
    pub fn add(&self, fd: i32, what: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: what };
        // SAFETY: the event is valid for the time of the call.
        let result =
            unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, &raw mut event) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    pub fn ring(&self) {
        ring(&self.bell);
    }

    /// The descriptor that can be read whenever one of them can.
    pub fn fd(&self) -> RawFd {
        self.epoll.as_raw_fd()
    }

    pub fn wait(&self, at_most: Duration) -> Vec<u64> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; MAX_WAKEUPS];
        let ms = at_most.as_millis().min(i32::MAX as u128) as i32 + 1;
        // SAFETY: room for as many events as are named.
        let count =
            unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), events.as_mut_ptr(), MAX_WAKEUPS as i32, ms) };
        let found: Vec<u64> = events.iter().take(count.max(0) as usize).map(|event| event.u64).collect();
        if found.contains(&BELL) {
            let mut count = [0u8; 8];
            // SAFETY: eight bytes of room.
            unsafe { libc::read(self.bell.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
        }
        found
    }
}
