//! Hears from the kernel (rtnetlink) that others changed the interface, or that networks of this machine came or went.
//! Only the fixed heads of its messages are read: on a router a thousand may come in a second.
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use std::io;
use std::os::fd::{AsRawFd, RawFd};

/// Groups of rtnetlink: links, addresses and routes of both families.
const GROUPS: u32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400;
const BUFFER_BYTES: usize = 32 * 1024;
/// The lengths of netlink's header, and of what stands before the attributes of a route.
const HEADER: usize = 16;
const ROUTE: usize = 12;
const ALIGN: usize = 4;
/// The attribute with the interface of a route (RTA_OIF).
const OUT_INTERFACE: u16 = 4;

/// What changed since the last look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The interface itself: its state, an address, or a route into it that went.
    pub interface: bool,
    /// Addresses of other interfaces.
    pub networks: bool,
}

pub struct LinkWatch {
    socket: Socket,
    index: u32,
}

impl LinkWatch {
    /// Watches the interface with this index.
    pub fn open(index: u32) -> io::Result<LinkWatch> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind(&SocketAddr::new(0, GROUPS))?;
        socket.set_non_blocking(true)?;
        Ok(LinkWatch { socket, index })
    }

    pub fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Takes all that the kernel told so far.
    pub fn read(&self) -> Changes {
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut changes = Changes::default();
        loop {
            match self.socket.recv(&mut &mut buffer[..], 0) {
                Ok(length) => note(buffer.get(..length).unwrap_or(&buffer), self.index, &mut changes),
                // the kernel dropped some
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {
                    changes = Changes { interface: true, networks: true };
                }
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                Err(_) => return changes,
            }
        }
    }
}

fn note(mut bytes: &[u8], index: u32, changes: &mut Changes) {
    while let (Some(length), Some(kind)) = (u32_at(bytes, 0), u16_at(bytes, 4)) {
        let length = (length as usize).clamp(HEADER, bytes.len().max(HEADER));
        let body = bytes.get(HEADER..length).unwrap_or_default();
        let named = u32_at(body, 4);
        let is_own = named == Some(index);
        match kind {
            libc::RTM_NEWLINK | libc::RTM_DELLINK => changes.interface |= is_own,
            libc::RTM_NEWADDR | libc::RTM_DELADDR if is_own => changes.interface = true,
            libc::RTM_NEWADDR | libc::RTM_DELADDR => changes.networks |= named.is_some(),
            libc::RTM_DELROUTE => changes.interface |= interface_of_route(body) == Some(index),
            _ => {}
        }
        bytes = bytes.get(length.next_multiple_of(ALIGN)..).unwrap_or_default();
    }
}

fn interface_of_route(body: &[u8]) -> Option<u32> {
    let mut attributes = body.get(ROUTE..)?;
    while let (Some(length), Some(kind)) = (u16_at(attributes, 0), u16_at(attributes, 2)) {
        if kind == OUT_INTERFACE {
            return u32_at(attributes, 4);
        }
        attributes = attributes.get((length as usize).max(ALIGN).next_multiple_of(ALIGN)..)?;
    }
    None
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map(|bytes| u32::from_ne_bytes(*bytes))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map(|bytes| u16::from_ne_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.resize(HEADER, 0);
        bytes.extend(body);
        bytes
    }

    fn of_interface(index: u32) -> Vec<u8> {
        [[0; 4], index.to_ne_bytes()].concat()
    }

    fn of_route(index: u32) -> Vec<u8> {
        let attribute = |kind: u16, value: [u8; 4]| {
            [8u16.to_ne_bytes().to_vec(), kind.to_ne_bytes().to_vec(), value.to_vec()].concat()
        };
        [vec![0; ROUTE], attribute(1, [10, 1, 0, 0]), attribute(OUT_INTERFACE, index.to_ne_bytes())].concat()
    }

    fn noted(bytes: &[u8]) -> (bool, bool) {
        let mut changes = Changes::default();
        note(bytes, 7, &mut changes);
        (changes.interface, changes.networks)
    }

    #[test]
    fn what_happens_to_the_interface_is_told_from_what_happens_to_others() {
        for (kind, body, expected) in [
            (libc::RTM_NEWLINK, of_interface(7), (true, false)),
            (libc::RTM_NEWLINK, of_interface(8), (false, false)),
            (libc::RTM_DELADDR, of_interface(7), (true, false)),
            (libc::RTM_NEWADDR, of_interface(8), (false, true)),
            (libc::RTM_DELROUTE, of_route(7), (true, false)),
            (libc::RTM_DELROUTE, of_route(8), (false, false)),
            (libc::RTM_NEWROUTE, of_route(7), (false, false)),
        ] {
            assert_eq!(noted(&message(kind, &body)), expected, "{kind}");
        }
    }

    #[test]
    fn all_messages_of_a_buffer_count_and_none_that_is_cut() {
        let all =
            [message(libc::RTM_NEWADDR, &of_interface(8)), message(libc::RTM_DELADDR, &of_interface(7))];
        assert_eq!(noted(&all.concat()), (true, true));
        for length in 0..all[1].len() {
            assert_eq!(noted(&all[1][..length]), (false, false), "{length}");
        }
    }
}
