//! Datagrams that a wire without offloads brings one by one: what is joined of them for the device.
use super::sockets::{address_of, eventually, over_sockets, path, received, set_path, stranger};
use super::*;
use std::net::UdpSocket as PlainSocket;

const SEGMENT: usize = 1300;

/// Two ends, and the sealed datagrams of `a`'s super-segments as they would cross such a wire.
struct Wire {
    a: End,
    b: End,
    wire: PlainSocket,
}

impl Wire {
    fn new() -> Wire {
        let (a, b) = over_sockets(true, false);
        assert!(a.kernel.send(&build(&Spec { payload: 3, ..Spec::default() })));
        received(&b);
        let wire = stranger();
        wire.set_read_timeout(Some(PATIENCE)).unwrap();
        // as much as the system lets it have: nothing may be lost here
        socket2::SockRef::from(&wire).set_recv_buffer_size(1 << 20).unwrap();
        set_path(&a, 2, Path { endpoint: Some(wire.local_addr().unwrap()), ..path(&b, false) });
        Wire { a, b, wire }
    }

    /// A super-segment of `count` segments, sealed.
    fn sealed(&self, count: usize) -> Vec<Vec<u8>> {
        let (header, bytes) = build_super(&Spec { payload: SEGMENT * count, ..Spec::default() }, SEGMENT);
        let mut piece = vec![0; HEADER];
        header.encode(&mut piece).unwrap();
        piece.extend_from_slice(&bytes);
        assert!(self.a.kernel.send_piece(&piece));
        let mut memory = [0; 2000];
        let mut next = || self.wire.recv(&mut memory).map(|len| memory[..len].to_vec()).unwrap();
        (0..count).map(|_| next()).collect()
    }

    fn send(&self, datagrams: &[Vec<u8>]) {
        for datagram in datagrams {
            self.wire.send_to(datagram, address_of(&self.b)).unwrap();
        }
    }

    /// How many segments the pieces have that the kernel gets, until there are `count`.
    fn pieces(&self, count: usize) -> Vec<usize> {
        let mut pieces = Vec::new();
        while pieces.iter().sum::<usize>() < count {
            pieces.push(received(&self.b).len() / SEGMENT);
        }
        pieces
    }
}

#[test]
fn datagrams_that_come_one_by_one_are_joined_for_the_device() {
    let wire = Wire::new();
    let joined = || {
        wire.send(&wire.sealed(30));
        wire.pieces(30).iter().any(|count| *count > 1).then_some(())
    };
    eventually(joined, "a piece of several datagrams");
}

#[test]
fn what_one_call_receives_goes_on_with_what_the_next_one_does() {
    const COUNT: usize = RECEIVE_BUFFERS + 13;
    let wire = Wire::new();
    let datagrams = wire.sealed(COUNT);
    let table = wire.b.engine.table();
    // the first call has some of them at most, and what it has waits until all of them are there
    let state = table.entry(PEER).unwrap().peer.state();
    wire.send(&datagrams);
    drop(state);
    assert_eq!(wire.pieces(COUNT), [COUNT]);
}
