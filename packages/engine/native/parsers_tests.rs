//! Everything that reads what others sent, fed with arbitrary bytes: nothing panics, nothing points outside, and what
//! comes out keeps its promises. `PROPTEST_CASES` makes it longer; a failing case is kept in `proptest-regressions`.
use crate::carrier::Carrier;
use crate::checksum::{fold, sum};
use crate::clamp::{MAX_TOO_BIG, clamp_segment_size, too_big};
use crate::device::Device;
use crate::engine::Engine;
use crate::filter::{PacketRules, RulesChange};
use crate::packet::parse;
use crate::peer::Tunnel;
use crate::peer_config::PeerConfig;
use crate::probe_gate::{ProbeGate, tests::pair};
use crate::queues::{Incoming, frames, push_frame};
use crate::receivers::index_at;
use crate::segments::{HEADER, Joiner, cut};
use crate::sessions::{Identity, Message, Sessions, message_of};
use crate::sockets::{OWN, Source};
use crate::table::{Path, Prefix};
use crate::testing::cases::at_least;
use crate::testing::packets::{Spec, build, slow_sum};
use proptest::collection::vec;
use proptest::prelude::*;
use std::net::SocketAddr;
use std::time::Instant;
use tun_rs::VirtioNetHdr;

/// A change of one byte, anywhere in the first hundred bytes.
type Change = (usize, u8);

/// A right packet, of which some bytes are changed and the end may be missing.
fn packet() -> impl Strategy<Value = Vec<u8>> {
    let spec = (any::<bool>(), any::<bool>(), 0usize..1400, any::<u8>(), any::<u32>());
    let changes = vec((0usize..100, any::<u8>()), 0..4);
    (spec, changes, prop_oneof![3 => Just(0usize), 1 => 0usize..1500]).prop_map(
        |((v6, tcp, payload, flags, sequence), changes, missing): (_, Vec<Change>, usize)| {
            let mut packet = build(&Spec { v6, tcp, payload, flags, sequence, ..Spec::default() });
            for (at, byte) in changes {
                let at = at % packet.len();
                packet[at] = byte;
            }
            packet.truncate(packet.len().saturating_sub(missing));
            packet
        },
    )
}

/// Bytes of any kind, or such a packet.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![vec(any::<u8>(), 0..200), packet()]
}

/// As the kernel never sends it, too.
fn virtio_header() -> impl Strategy<Value = VirtioNetHdr> {
    let gso = prop_oneof![Just(0u8), Just(1), Just(4), Just(5), Just(0x81), any::<u8>()];
    let small = 0u16..80;
    (0u8..4, gso, any::<u16>(), 0u16..2000, small, prop_oneof![Just(6u16), Just(16), any::<u16>()]).prop_map(
        |(flags, gso_type, hdr_len, gso_size, csum_start, csum_offset)| VirtioNetHdr {
            flags,
            gso_type,
            hdr_len,
            gso_size,
            csum_start,
            csum_offset,
        },
    )
}

/// A datagram that looks like WireGuard's by its first bytes and length, or like nothing.
fn datagram() -> impl Strategy<Value = Vec<u8>> {
    let body = vec(any::<u8>(), 0..300);
    let shaped = (1u8..5, body.clone(), any::<bool>()).prop_map(|(kind, mut body, exact)| {
        if exact {
            body.resize([144, 88, 60, 44][kind as usize - 1], 7);
        }
        [&[kind, 0, 0, 0][..], &body].concat()
    });
    prop_oneof![body, shaped]
}

/// Each frame in turn, as one batch would have them.
fn taken(incoming: &Incoming) -> Vec<u8> {
    let mut batch = Vec::new();
    incoming.take(&mut batch);
    batch
}

proptest! {
    #![proptest_config(at_least(3_000))]

    #[test]
    fn a_header_never_points_outside(bytes in bytes()) {
        if let Ok(ip) = parse(&bytes) {
            prop_assert!(ip.transport <= ip.len && ip.len <= bytes.len());
        }
    }

    #[test]
    fn a_sum_is_the_plain_one(bytes in vec(any::<u8>(), 0..300)) {
        let fast = u16::from_be_bytes(fold(sum(&bytes, 0)).to_ne_bytes());
        prop_assert_eq!(fast as u32 % 0xffff, slow_sum(&bytes, 0) % 0xffff);
    }

    #[test]
    fn what_is_cut_fits_and_is_whole(header in virtio_header(), mut bytes in bytes(), limit in 0usize..2000) {
        let Ok(ip) = parse(&bytes) else { return Ok(()) };
        let bytes = &mut bytes[..ip.len];
        let mut longest = 0;
        let result = cut(&header, &ip, bytes, limit, |packet| longest = longest.max(packet.len()));
        prop_assert!(longest <= limit || result.is_err());
    }

    #[test]
    fn what_is_told_about_sizes_is_a_packet(mut bytes in bytes(), mtu in 0usize..2000, complete: bool) {
        let Ok(ip) = parse(&bytes) else { return Ok(()) };
        let packet = &mut bytes[..ip.len];
        let before = packet.len();
        clamp_segment_size(packet, &ip, mtu, complete);
        prop_assert_eq!(packet.len(), before);
        let mut out = [0; MAX_TOO_BIG];
        if let Some(len) = too_big(packet, &ip, mtu, &mut out) {
            let told = parse(&out[..len]);
            prop_assert!(told.is_ok_and(|told| (told.len, told.destination) == (len, ip.source)));
        }
    }

    #[test]
    fn what_is_joined_can_be_cut_again(packets in vec(packet(), 0..40), joins: bool) {
        let mut joiner = Joiner::new(1 << 17, joins, joins);
        let mut sent = 0;
        for packet in &packets {
            let Ok(ip) = parse(packet) else { continue };
            joiner.slot(ip.len).copy_from_slice(&packet[..ip.len]);
            joiner.commit(&ip);
            sent += 1;
        }
        let mut got = 0;
        joiner.drain(true, |piece| {
            let header = VirtioNetHdr::decode(piece).unwrap();
            let mut packet = piece[HEADER..].to_vec();
            let ip = parse(&packet).unwrap();
            cut(&header, &ip, &mut packet, usize::MAX, |_| got += 1).unwrap();
        });
        prop_assert_eq!(got, sent);
    }

    #[test]
    fn a_stream_gives_the_same_frames_however_it_is_cut(
        good in vec(vec(any::<u8>(), 32..100), 0..8),
        bad in vec(any::<u8>(), 0..40),
        parts in vec(1usize..90, 1..20),
    ) {
        let mut stream = Vec::new();
        good.iter().for_each(|frame| push_frame(&mut stream, frame));
        stream.extend(bad);
        let (whole, pieces) = (Incoming::default(), Incoming::default());
        let mut broken = [whole.feed(&stream).broken, false];
        let mut rest = &stream[..];
        for len in parts.iter().cycle() {
            let (part, behind) = rest.split_at((*len).min(rest.len()));
            broken[1] |= pieces.feed(part).broken;
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
        let [whole, pieces] = [taken(&whole), taken(&pieces)];
        prop_assert_eq!(broken[0], broken[1]);
        prop_assert!(frames(&whole).take(good.len()).eq(good.iter().map(Vec::as_slice)));
        prop_assert_eq!(whole, pieces);
    }

    #[test]
    fn a_datagram_of_strangers_is_never_taken(datagram in datagram(), from: u32) {
        let (identity, peer) = (Identity::new([1; 32]), Identity::new([2; 32]));
        let mut sessions = Sessions::new(&identity, 1, peer.public_key(), None);
        let from = SocketAddr::new(from.to_be_bytes().into(), 7);
        let mut answers = Vec::new();
        let _ = index_at(&datagram, datagram.len() % 9);
        let probes = ProbeGate::default();
        let word = datagram.get(4..).and_then(|rest| rest.first_chunk::<8>()).copied();
        if let Some(word) = word {
            probes.expect(pair(word, [1; 32]));
        }
        let source = Source { address: from, socket: OWN };
        probes.sent(source, &datagram);
        probes.judge(source, &datagram, Instant::now());
        match message_of(&datagram) {
            Some(Message::Handshake) => {
                prop_assert!(!identity.is_for_us(&datagram) || datagram[0] == 3);
                prop_assert!(identity.cookie(from, &datagram).is_err() || datagram[0] == 3);
                prop_assert_eq!(identity.initiator(&datagram), None);
                prop_assert!(sessions.handshake(&datagram, &mut answers).is_err());
            }
            Some(Message::Sealed) => {
                prop_assert!(sessions.open(&datagram, &mut vec![0; datagram.len()]).is_err());
            }
            None => {}
        }
        prop_assert!(answers.is_empty());
    }

    #[test]
    fn a_changed_message_of_a_peer_is_refused(at in 0usize..148, bit in 0u8..8, cut in 0usize..148) {
        let (identity, peer) = (Identity::new([1; 32]), Identity::new([2; 32]));
        let mut theirs = Sessions::new(&peer, 1, identity.public_key(), None);
        let mut sessions = Sessions::new(&identity, 1, peer.public_key(), None);
        let (mut batch, mut answers) = (Vec::new(), Vec::new());
        theirs.initiate(true, &mut batch);
        let mut message = frames(&batch).next().unwrap().to_vec();
        prop_assert_eq!(message_of(&message[..cut]), None);
        // the last 16 bytes prove an address, which streams have no need of
        message[at.min(131)] ^= 1 << bit;
        prop_assert!(
            message_of(&message) != Some(Message::Handshake) || sessions.handshake(&message, &mut answers).is_err()
        );
        prop_assert!(answers.is_empty());
    }

    #[test]
    fn a_prefix_is_read_as_it_is_written(text in "[0-9a-fA-F:./]{0,40}", address: u128, length in 0u8..=128) {
        if let Some(prefix) = Prefix::parse(&text) {
            prop_assert_eq!(Prefix::parse(&prefix.text()), Some(prefix));
        }
        let prefix = Prefix { address: std::net::Ipv6Addr::from_bits(address).into(), length };
        prop_assert_eq!(Prefix::parse(&prefix.text()), Some(prefix));
    }
}

proptest! {
    // each case has an engine of its own, with its threads
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn an_engine_survives_whatever_its_carriers_bring(
        streams in vec(vec(any::<u8>(), 0..400), 1..30),
        packets in vec(bytes(), 1..30),
        datagrams in vec(datagram(), 1..60),
        queues in 1..4usize,
        rules in prop_oneof![Just(None), Just(Some(PacketRules { layers: vec![vec![]], ..PacketRules::default() }))],
    ) {
        let (device, kernel) = Device::memory(true, queues).unwrap();
        let socket = Some(Default::default());
        let engine = Engine::start(device, [1; 32], socket, Box::new(|| {})).unwrap();
        let sealed = Tunnel::WireGuard(Identity::new([2; 32]).public_key());
        let peer = |id: u32, tunnel| PeerConfig {
            id,
            tunnel,
            preshared: None,
            allowed: vec![Prefix { address: [10, 1, 0, id as u8].into(), length: 32 }],
            mtu: 1400,
            socket_mtu: 1400,
            path: Path::STREAM,
        };
        let local = Prefix { address: [10, 1, 0, 9].into(), length: 32 };
        engine.set_table(vec![peer(1, sealed), peer(2, Tunnel::Legacy)], &[local], RulesChange::Set(rules)).unwrap();
        let strange = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = SocketAddr::new([127, 0, 0, 1].into(), engine.port().unwrap());
        for bytes in &streams {
            engine.inject(1, bytes);
            engine.restart(1);
        }
        for packet in &packets {
            engine.inject_packets(2, packet);
            kernel.send_piece(&[&[0; HEADER][..], packet].concat());
        }
        for datagram in &datagrams {
            let _ = strange.send_to(datagram, to);
        }
        engine.datagrams().take();
        drop(kernel.receive());
        prop_assert_eq!(engine.events().failure(), None);
    }
}
