//! Sockets beside the engine's own: packets, handshakes and probes go by the one that is named.
use super::sockets::{address_of, eventually, received};
use super::*;
use crate::sockets::{OWN, Source};
use std::net::SocketAddr;

const OF_A: [&str; 2] = ["10.1.0.1/32", "fd00::1/128"];
const OF_B: [&str; 2] = ["10.1.0.2/32", "fd00::2/128"];

fn at(port: u16) -> SocketAddr {
    SocketAddr::new([127, 0, 0, 1].into(), port)
}

fn by(socket: u16, to: SocketAddr) -> Path {
    Path { endpoint: Some(to), stream: false, socket }
}

fn passes(from: &End, to: &End, packet: &[u8]) {
    assert!(from.kernel.send(packet));
    let got = received(to);
    assert_eq!(&got[got.len() - packet.len()..], packet);
}

/// Packets both ways over a further socket of `a`, which `b` sends to.
fn over_further() -> (End, End, u16) {
    let (a, b) = (End::new(1, false), End::new(2, false));
    let port = a.engine.open_socket().unwrap();
    a.table(PeerConfig { path: by(port, address_of(&b)), ..peer(2, &OF_B) }, &OF_A);
    b.table(PeerConfig { path: by(OWN, at(port)), ..peer(1, &OF_A) }, &OF_B);
    passes(&a, &b, &build(&Spec { payload: 1, ..Spec::default() }));
    passes(&b, &a, &reply());
    (a, b, port)
}

#[test]
fn packets_and_handshakes_go_by_the_socket_that_the_path_names() {
    let (a, mut b, port) = over_further();
    assert!(b.take().is_empty(), "nothing went by the stream");
    // the answer to a handshake that came to it leaves by it too
    let again = End::new(2, false);
    again.table(PeerConfig { path: by(OWN, at(port)), ..peer(1, &OF_A) }, &OF_B);
    passes(&again, &a, &reply());
    a.table(PeerConfig { path: by(port, address_of(&again)), ..peer(2, &OF_B) }, &OF_A);
    passes(&a, &again, &build(&Spec { payload: 40, ..Spec::default() }));
}

#[test]
fn probes_go_by_the_socket_that_is_named_and_say_which_one_they_came_to() {
    let (a, b, port) = over_further();
    assert!(a.engine.send_datagram(address_of(&b), b"a probe", port));
    let got = eventually(|| b.engine.datagrams().take().pop(), "the probe");
    assert_eq!(got.from, Source { address: at(port), socket: OWN });
    assert!(b.engine.send_datagram(at(port), b"its answer", OWN));
    let got = eventually(|| a.engine.datagrams().take().pop(), "the answer");
    assert_eq!(got.from, Source { address: address_of(&b), socket: port });
}

#[test]
fn what_would_go_by_a_socket_that_was_closed_goes_by_the_engines_own() {
    let (a, b, port) = over_further();
    a.engine.close_socket(port);
    passes(&a, &b, &build(&Spec { payload: 2, ..Spec::default() }));
    b.table(PeerConfig { path: by(OWN, address_of(&a)), ..peer(1, &OF_A) }, &OF_B);
    passes(&b, &a, &reply());
    // the port is free again
    eventually(|| std::net::UdpSocket::bind((std::net::Ipv6Addr::UNSPECIFIED, port)).ok(), "the port");
}
