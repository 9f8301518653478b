//! Several sockets on one UDP port (SO_REUSEPORT), one for each thread that receives: what comes from one address and port
//! comes to one of them, in its order.
//!
//! 1. The first is bound alone, so that a port which anybody has is refused.
//! 2. The others join it.
//! 3. A program in the kernel says by a packet's source which of them gets it (SO_ATTACH_REUSEPORT_CBPF).
//!
//! Another program of the same user could still join the port, as the kernel spreads nothing for sockets that refuse this.
//! It gets no packet: the program names none but these.
use crate::socket::{SocketConfig, UdpSocket, set_option};
use libc::{BPF_A, BPF_RSH, BPF_TAX, BPF_W, BPF_X, BPF_XOR, sock_filter, sock_fprog};
use libc::{BPF_ABS, BPF_ALU, BPF_B, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_MISC, BPF_MOD, BPF_MUL, BPF_RET};
use std::hash::{BuildHasher, RandomState};
use std::io;

/// Opens `count` sockets on one port, or one alone where the kernel does not take several.
pub fn open(config: SocketConfig, count: usize) -> io::Result<Vec<UdpSocket>> {
    let mut group = vec![UdpSocket::open(config)?];
    if count > 1 && join(&mut group, config.mark, count).is_err() {
        group.truncate(1);
        group[0].share_port(false)?;
    }
    Ok(group)
}

fn join(group: &mut Vec<UdpSocket>, mark: Option<u32>, count: usize) -> io::Result<()> {
    group[0].share_port(true)?;
    while group.len() < count {
        group.push(group[0].open_beside(mark)?);
    }
    spread(group)
}

/// Tells the kernel which of them gets a packet.
fn spread(group: &[UdpSocket]) -> io::Result<()> {
    let mut program = chooser(group.len() as u32, RandomState::new().hash_one(()) as u32);
    let filter = sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // the kernel copies the program
    set_option(group[0].fd(), libc::SOL_SOCKET, libc::SO_ATTACH_REUSEPORT_CBPF, filter)
}

/// Where IP's header begins, for a load (SKF_NET_OFF).
const NETWORK: u32 = libc::SKF_NET_OFF as u32;
/// Odd numbers without a pattern, that spread what they are multiplied with.
const FACTORS: [u32; 2] = [0x9e37_79b1, 0x85eb_ca6b];

/// A program that gives a number below `count` by a packet's source address and ports; `secret`, so that nobody can aim at
/// one of them.
fn chooser(count: u32, secret: u32) -> Vec<sock_filter> {
    let of_v4 = [12, 20];
    let of_v6 = [8, 12, 16, 20, 40];
    let (v4, v6) = (mixed(&of_v4, secret), mixed(&of_v6, secret));
    let mut program = vec![
        step(BPF_LD | BPF_B | BPF_ABS, NETWORK),
        step(BPF_ALU | BPF_RSH | BPF_K, 4),
        // skips what is for IPv4, with its end
        sock_filter { jt: v4.len() as u8 + 3, ..step(BPF_JMP | BPF_JEQ | BPF_K, 6) },
    ];
    for mut part in [v4, v6] {
        program.append(&mut part);
        // the upper bits have something of all words
        program.push(step(BPF_ALU | BPF_RSH | BPF_K, 24));
        program.push(step(BPF_ALU | BPF_MOD | BPF_K, count));
        program.push(step(BPF_RET | BPF_A, 0));
    }
    program
}

/// Mixes the words at these offsets of IP's header.
fn mixed(offsets: &[u32], secret: u32) -> Vec<sock_filter> {
    let mut steps = vec![step(BPF_LD | libc::BPF_IMM, secret)];
    for (offset, factor) in offsets.iter().zip(FACTORS.iter().cycle()) {
        steps.extend([
            step(BPF_MISC | BPF_TAX, 0),
            step(BPF_LD | BPF_W | BPF_ABS, NETWORK.wrapping_add(*offset)),
            step(BPF_ALU | BPF_XOR | BPF_X, 0),
            step(BPF_ALU | BPF_MUL | BPF_K, *factor),
        ]);
    }
    steps
}

fn step(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quinn_udp::RecvMeta;
    use std::io::IoSliceMut;
    use std::net::UdpSocket as PlainSocket;
    use std::time::{Duration, Instant};

    const PATIENCE: Duration = Duration::from_secs(20);

    /// Takes all that has come, as the first byte of each datagram.
    fn take(socket: &UdpSocket) -> Vec<u8> {
        let (mut got, mut memory, mut metas) = (Vec::new(), vec![0; 65_536], [RecvMeta::default()]);
        while socket.receive(&mut [IoSliceMut::new(&mut memory)], &mut metas) == 1 {
            let RecvMeta { len, stride, .. } = metas[0];
            got.extend(memory[..len].chunks(stride).map(|datagram| datagram[0]));
        }
        got
    }

    fn at(address: &str, group: &[UdpSocket]) -> (String, u16) {
        (address.into(), group[0].port())
    }

    #[test]
    fn every_socket_gets_some_senders_and_each_sender_comes_to_one_in_its_order() {
        let group = open(SocketConfig::default(), 4).unwrap();
        assert_eq!(group.len(), 4);
        for address in ["127.0.0.1", "::1"] {
            let (mut has_some, began) = ([false; 4], Instant::now());
            while has_some != [true; 4] {
                assert!(began.elapsed() < PATIENCE, "{has_some:?} by {address}");
                let sender = PlainSocket::bind((address, 0)).unwrap();
                for n in 0..20 {
                    sender.send_to(&[n], at(address, &group)).unwrap();
                }
                let got: Vec<Vec<u8>> = group.iter().map(take).collect();
                let by = got.iter().position(|got| !got.is_empty()).unwrap();
                assert_eq!(got[by], (0..20).collect::<Vec<u8>>());
                assert_eq!(got.iter().filter(|got| !got.is_empty()).count(), 1, "{got:?}");
                has_some[by] = true;
            }
        }
    }

    #[test]
    fn a_port_that_is_taken_is_refused_shared_or_not() {
        for taken in [1, 3] {
            let before = open(SocketConfig::default(), taken).unwrap();
            for count in [1, 3] {
                let config = SocketConfig { port: before[0].port(), mark: None };
                let kind = open(config, count).map(drop).map_err(|error| error.kind());
                assert_eq!(kind, Err(io::ErrorKind::AddrInUse), "{count} beside {taken}");
            }
        }
    }

    #[test]
    fn a_port_that_another_program_shares_is_refused() {
        let other = UdpSocket::open(SocketConfig::default()).unwrap();
        other.share_port(true).unwrap();
        let beside = other.open_beside(None).unwrap();
        let kind = open(SocketConfig { port: beside.port(), mark: None }, 2).map(drop);
        assert_eq!(kind.map_err(|error| error.kind()), Err(io::ErrorKind::AddrInUse));
    }

    #[test]
    fn one_that_joins_later_gets_nothing() {
        let group = open(SocketConfig::default(), 2).unwrap();
        let stranger = group[0].open_beside(None).unwrap();
        for address in ["127.0.0.1", "::1"] {
            for n in 0..200 {
                let sender = PlainSocket::bind((address, 0)).unwrap();
                sender.send_to(&[n], at(address, &group)).unwrap();
            }
        }
        assert_eq!(take(&stranger), []);
        assert_eq!(group.iter().map(|socket| take(socket).len()).sum::<usize>(), 400);
    }

    #[test]
    fn one_alone_shares_nothing() {
        let group = open(SocketConfig::default(), 1).unwrap();
        assert!(group[0].open_beside(None).is_err());
    }

    #[test]
    fn all_have_the_mark() {
        // without the privilege none is opened
        let Ok(group) = open(SocketConfig { port: 0, mark: Some(77) }, 3) else { return };
        for socket in &group {
            let (mut mark, mut length) = (0u32, 4);
            // SAFETY: the value has as many bytes as the length says.
            let result = unsafe {
                let value = (&raw mut mark).cast();
                libc::getsockopt(socket.fd(), libc::SOL_SOCKET, libc::SO_MARK, value, &raw mut length)
            };
            assert_eq!((result, mark), (0, 77));
        }
    }
}
