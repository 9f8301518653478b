//! The claim of a process to an interface's name.
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

/// Takes the name that stands for a living owner of the interface of this kind: one of the network namespace, which ends
/// with the process. EBUSY: another process has it.
pub fn claim(kind: &str, name: &str) -> io::Result<UnixListener> {
    let address = SocketAddr::from_abstract_name(format!("mesh-{kind}-{name}"))?;
    UnixListener::bind_addr(&address).map_err(|error| match error.raw_os_error() {
        Some(libc::EADDRINUSE) => io::Error::from_raw_os_error(libc::EBUSY),
        _ => error,
    })
}
