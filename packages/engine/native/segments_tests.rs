//! Cutting and joining again gives what there was; nothing else is touched.
use super::*;
use crate::limits::MAX_PACKET_BYTES;
use crate::packet::{TCP, UDP, parse};
use crate::testing::packets::{Spec, build, build_super, checksums_fit};
use crate::testing::random::Random;
use tun_rs::VirtioNetHdr;

fn cut_all(header: &VirtioNetHdr, bytes: &[u8], limit: usize) -> Result<Vec<Vec<u8>>, Refused> {
    let mut packets = Vec::new();
    let ip = parse(bytes).map_err(|_| Refused::Malformed)?;
    cut(header, &ip, &mut bytes.to_vec(), limit, |packet| packets.push(packet.to_vec()))?;
    Ok(packets)
}

fn join_all(packets: &[Vec<u8>], udp: bool) -> Vec<Vec<u8>> {
    let mut joiner = Joiner::new(1 << 18, true, udp);
    for packet in packets {
        put(&mut joiner, packet);
    }
    let mut pieces = Vec::new();
    joiner.drain(true, |piece| pieces.push(piece.to_vec()));
    pieces
}

/// Acts as opening a datagram does: what was there before stays behind the packet.
fn put(joiner: &mut Joiner, packet: &[u8]) {
    let slot = joiner.slot(packet.len() + 16);
    slot[..packet.len()].copy_from_slice(packet);
    slot[packet.len()..].fill(0xee);
    joiner.commit(&parse(packet).unwrap());
}

#[test]
fn joins_what_it_cut_for_both_families_and_transports() {
    for (v6, tcp) in [(false, false), (false, true), (true, false), (true, true)] {
        for (mss, payload) in [(1368, 1368 * 45), (1368, 1368 * 3 + 7), (1000, 1001), (60, 300), (2, 40)] {
            let (header, bytes) = build_super(&Spec { v6, tcp, payload, ..Spec::default() }, mss);
            let packets = cut_all(&header, &bytes, MAX_PACKET_BYTES).unwrap();
            assert_eq!(packets.len(), payload.div_ceil(mss));
            assert!(packets.iter().all(|packet| checksums_fit(packet)), "v6 {v6} tcp {tcp} {mss} {payload}");
            let pieces = join_all(&packets, true);
            assert_eq!(pieces.len(), 1, "v6 {v6} tcp {tcp} {mss} {payload}");
            let got = VirtioNetHdr::decode(&pieces[0]).unwrap();
            assert_eq!((got.flags, got.gso_type, got.gso_size), (1, header.gso_type, header.gso_size));
            assert_eq!((got.csum_start, got.csum_offset), (header.csum_start, header.csum_offset));
            assert_eq!(&pieces[0][HEADER..], &bytes[..], "v6 {v6} tcp {tcp} {mss} {payload}");
        }
    }
}

#[test]
fn cuts_tcp_shorter_than_the_kernel_asked_where_a_peer_needs_it() {
    let (header, bytes) = build_super(&Spec { payload: 9000, ..Spec::default() }, 1400);
    let packets = cut_all(&header, &bytes, 1200).unwrap();
    assert!(packets.iter().all(|packet| packet.len() <= 1200 && checksums_fit(packet)));
    let pieces = join_all(&packets, true);
    assert_eq!(&pieces[0][HEADER..], &bytes[..]);
}

#[test]
fn refuses_udp_that_is_longer_than_the_mtu() {
    let (header, bytes) = build_super(&Spec { tcp: false, payload: 9000, ..Spec::default() }, 1400);
    assert_eq!(cut_all(&header, &bytes, 1200), Err(Refused::TooBig));
    let none = VirtioNetHdr::default();
    let packet = build(&Spec { payload: 1300, ..Spec::default() });
    assert_eq!(cut_all(&none, &packet, 1200), Err(Refused::TooBig));
}

#[test]
fn finishes_a_checksum_that_the_kernel_left_open() {
    for tcp in [false, true] {
        let (mut header, bytes) = build_super(&Spec { tcp, payload: 333, ..Spec::default() }, 1400);
        (header.gso_type, header.gso_size) = (0, 0);
        let packets = cut_all(&header, &bytes, 1500).unwrap();
        assert!(checksums_fit(&packets[0]));
    }
}

#[test]
fn keeps_order_and_bytes_of_what_does_not_belong_together() {
    let (header, bytes) = build_super(&Spec { payload: 1368 * 4, ..Spec::default() }, 1368);
    let mut packets = cut_all(&header, &bytes, 1500).unwrap();
    packets.swap(1, 2); // a hole, and one that comes late
    packets.insert(1, build(&Spec { tcp: false, payload: 100, ..Spec::default() }));
    packets.insert(3, build(&Spec { payload: 0, flags: 0x11, ..Spec::default() }));
    let pieces = join_all(&packets, true);
    assert_eq!(pieces.len(), packets.len());
    for (piece, packet) in pieces.iter().zip(&packets) {
        assert_eq!(piece[..HEADER], [0; HEADER]);
        assert_eq!(&piece[HEADER..], &packet[..]);
    }
}

#[test]
fn never_joins_a_packet_whose_checksum_is_wrong() {
    let (header, bytes) = build_super(&Spec { payload: 4000, ..Spec::default() }, 1000);
    for broken in 0..4 {
        let mut packets = cut_all(&header, &bytes, 1500).unwrap();
        packets[broken][700] ^= 1;
        let apart: Vec<_> = join_all(&packets, true).into_iter().filter(|piece| piece[0] == 0).collect();
        assert!(apart.iter().any(|piece| piece[HEADER..] == packets[broken][..]), "packet {broken}");
    }
}

#[test]
fn leaves_udp_alone_where_the_device_cannot_take_it_joined() {
    let (header, bytes) = build_super(&Spec { tcp: false, payload: 3000, ..Spec::default() }, 1000);
    assert_eq!(join_all(&cut_all(&header, &bytes, 1500).unwrap(), false).len(), 3);
}

#[test]
fn a_cancelled_slot_leaves_no_trace() {
    let (header, bytes) = build_super(&Spec { payload: 4000, ..Spec::default() }, 1000);
    let packets = cut_all(&header, &bytes, 1500).unwrap();
    let mut joiner = Joiner::new(1 << 18, true, true);
    for packet in &packets {
        joiner.slot(900).fill(0x55);
        joiner.cancel();
        put(&mut joiner, packet);
    }
    let mut pieces = Vec::new();
    joiner.drain(true, |piece| pieces.push(piece.to_vec()));
    assert_eq!(pieces.len(), 1);
    assert_eq!(&pieces[0][HEADER..], &bytes[..]);
}

#[test]
fn nonsense_neither_panics_nor_leaves_the_buffer() {
    let mut random = Random::new(3);
    let mut joiner = Joiner::new(1 << 18, true, true);
    for round in 0..300_000 {
        let spec =
            Spec { v6: round & 1 == 0, tcp: round & 2 == 0, payload: random.below(300), ..Spec::default() };
        let (mut header, mut bytes) = build_super(&spec, 1 + random.below(200));
        for _ in 0..random.below(3) {
            let at = random.below(bytes.len().min(60));
            bytes[at] = random.next() as u8;
        }
        match random.below(6) {
            0 => header.csum_start = random.next() as u16,
            1 => header.csum_offset = random.next() as u16,
            2 => header.gso_size = random.next() as u16,
            3 => header.gso_type = random.next() as u8,
            4 => bytes.truncate(1 + random.below(bytes.len())),
            _ => {}
        }
        let Ok(ip) = parse(&bytes) else { continue };
        let _ = cut(&header, &ip, &mut bytes, 100 + random.below(1400), |packet| {
            assert!(packet.len() <= MAX_PACKET_BYTES);
            // a packet that was cut is looked at anew by whoever receives it
            let Ok(ip) = parse(packet) else { return };
            joiner.slot(packet.len() + 16)[..packet.len()].copy_from_slice(packet);
            joiner.commit(&ip);
        });
        joiner.drain(random.below(2) == 0, |piece| assert!(piece.len() > HEADER));
        if !joiner.has_room(2000) {
            joiner.drain(true, |_| {});
        }
    }
}

#[test]
fn joins_only_what_parses_as_one_packet_again() {
    let mut random = Random::new(4);
    for _ in 0..20_000 {
        let spec =
            Spec { v6: random.below(2) == 0, tcp: random.below(2) == 0, payload: 900, ..Spec::default() };
        let (header, bytes) = build_super(&spec, 100 + random.below(400));
        let mut packets = cut_all(&header, &bytes, 1500).unwrap();
        let which = random.below(packets.len());
        let at = random.below(packets[which].len().min(60));
        packets[which][at] ^= 1 << random.below(8);
        packets.retain(|packet| parse(packet).is_ok());
        for piece in join_all(&packets, true) {
            let ip = parse(&piece[HEADER..]).unwrap();
            let header = VirtioNetHdr::decode(&piece).unwrap();
            if header.gso_type != 0 {
                assert!(ip.protocol == TCP || ip.protocol == UDP);
                assert_eq!(ip.len, piece.len() - HEADER);
                assert!(header.hdr_len as usize + (header.gso_size as usize) < piece.len());
            }
        }
    }
}
