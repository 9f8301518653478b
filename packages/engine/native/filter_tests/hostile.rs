//! A member with rules against it tries to get in.
use super::lab::*;

fn closed() -> Lab {
    Lab::new(Some(rules(vec![rule(Some(2), Some(1), &["tcp 443"])])))
}

fn from_peer(body: Body) -> Packet {
    packet("10.1.0.2", "10.1.0.1", body)
}

#[test]
fn a_known_source_port_is_no_answer() {
    let lab = closed();
    for flags in [SYN, ACK, SYN | ACK, FIN, RST, 0, FIN | 8 | 32, SYN | FIN] {
        for port in [443, 53, 22, 0] {
            assert!(!lab.comes(&from_peer(tcp((port, 22), flags, 5))), "{flags} from {port}");
        }
    }
    for port in [53, 123, 443] {
        assert!(!lab.comes(&from_peer(udp((port, 40_000)))));
    }
    assert!(!lab.comes(&from_peer(Body::Answer { id: 1 })));
}

#[test]
fn a_connection_of_this_node_opens_no_way_back() {
    let lab = closed();
    let own = packet("10.1.0.1", "10.1.0.2", tcp((40_000, 8443), SYN, 0));
    assert!(lab.leaves(&own) && lab.comes(&own.reply(SYN | ACK)));
    assert!(!lab.comes(&from_peer(tcp((8443, 40_000), SYN, 0))), "the other way on the same ports");
    assert!(!lab.comes(&from_peer(tcp((8443, 40_001), ACK, 3))));
    assert!(lab.comes(&own.reply(ACK)), "and the connection lives on");
    let ping = packet("10.1.0.1", "10.1.0.2", Body::Ask { id: 7 });
    assert!(lab.leaves(&ping) && lab.comes(&ping.reply(0)));
    assert!(!lab.comes(&from_peer(Body::Ask { id: 7 })));
    assert!(!lab.comes(&from_peer(Body::Answer { id: 8 })));
}

#[test]
fn forged_errors_do_not_pass() {
    let lab = closed();
    let to_other = packet("10.1.0.1", "10.1.0.3", udp((40_000, 53)));
    assert!(lab.leaves(&to_other));
    let forged = |quoted: Packet| from_peer(Body::Error { quoted: Box::new(quoted) });
    assert!(!lab.comes(&forged(to_other)), "about a flow with another peer");
    assert!(!lab.comes(&forged(packet("10.1.0.1", "10.1.0.2", udp((40_000, 53))))), "never sent");
    let own = packet("10.1.0.1", "10.1.0.2", udp((40_000, 53)));
    assert!(lab.leaves(&own) && lab.comes(&forged(own.clone())));
    let mut cut = forged(own.clone()).bytes();
    cut.truncate(20 + 8 + 20 + 4);
    let len = cut.len() as u16;
    cut[2..4].copy_from_slice(&len.to_be_bytes());
    assert!(!lab.bytes_pass(&cut, true), "without the ports");
    let later = Packet { part: Part::Later { id: 7, start: 5 }, ..own };
    assert!(!lab.comes(&forged(later)));
}

#[test]
fn tiny_first_fragments_and_those_over_headers_are_refused() {
    for (source, destination, at) in [("10.1.0.2", "10.1.0.1", 20), ("fd00::2", "fd00::1", 48)] {
        let lab = closed();
        let first = packet(source, destination, tcp((4, 443), SYN, 12));
        let first = Packet { part: Part::First { id: 9 }, ..first };
        for len in [0, 8, 16, 19] {
            let mut tiny = first.bytes();
            tiny.truncate(at + len);
            let lengths = if at == 20 { (2, at + len) } else { (4, at + len - 40) };
            tiny[lengths.0..lengths.0 + 2].copy_from_slice(&(lengths.1 as u16).to_be_bytes());
            assert!(!lab.bytes_pass(&tiny, true), "{len} bytes");
        }
        assert!(lab.comes(&first));
        for start in 1..4 {
            let over = Packet { part: Part::Later { id: 9, start }, ..first.clone() };
            assert!(!lab.comes(&over), "over the first one at {start}");
        }
        let other = packet(source, destination, tcp((4, 22), SYN, 12));
        assert!(!lab.comes(&Packet { part: Part::First { id: 9 }, ..other }));
    }
}

#[test]
fn many_fragments_take_no_place_from_other_peers() {
    use crate::filter::fragments::{FragmentKey, Fragments};
    let mut fragments = Fragments::default();
    let key = |id| FragmentKey { source: ip("10.1.0.2"), destination: ip("10.1.0.1"), id, protocol: 17 };
    let honest: Vec<u32> = (100..140).collect();
    honest.iter().for_each(|peer| fragments.add(*peer, key(*peer), (8, 0)));
    (0..100_000).for_each(|id| fragments.add(1, key(1_000 + id), (8, 0)));
    let left = honest.iter().filter(|peer| fragments.has(**peer, &key(**peer), 0)).count();
    // those whose hash meets the flooder's alone
    assert!(left > 35, "{left}");
}

#[test]
fn extension_headers_hide_nothing() {
    let lab = closed();
    let web = |options| Packet { options, ..packet("fd00::2", "fd00::1", tcp((4, 443), SYN, 0)) };
    let ssh = |options| Packet { options, ..packet("fd00::2", "fd00::1", tcp((4, 22), SYN, 0)) };
    for options in 0..12 {
        let fits = options <= crate::limits::MAX_EXTENSION_HEADERS;
        assert_eq!(lab.comes(&web(options)), fits, "{options}");
        assert!(!lab.comes(&ssh(options)));
    }
    // what no reader knows, and a routing header that names another destination
    for kind in [135, 139, 140, 253, 254] {
        let mut bytes = web(1).bytes();
        bytes[6] = kind;
        assert!(!lab.bytes_pass(&bytes, true), "{kind}");
    }
    let mut bytes = web(1).bytes();
    (bytes[6], bytes[43]) = (43, 1);
    assert!(!lab.bytes_pass(&bytes, true));
    // longer than the packet
    let mut bytes = web(1).bytes();
    bytes[41] = 200;
    assert!(!lab.bytes_pass(&bytes, true));
}

#[test]
fn source_routes_are_refused() {
    let lab = closed();
    let plain = from_peer(tcp((4, 443), SYN, 0)).bytes();
    for (option, passes) in
        [([1, 1, 1, 0], true), ([131, 3, 4, 0], false), ([137, 3, 4, 0], false), ([7, 0, 0, 0], false)]
    {
        let mut bytes = [&plain[..20], &option[..], &plain[20..]].concat();
        bytes[0] = 0x46;
        let len = bytes.len() as u16;
        bytes[2..4].copy_from_slice(&len.to_be_bytes());
        assert_eq!(lab.bytes_pass(&bytes, true), passes, "{option:?}");
    }
}

#[test]
fn a_reset_ends_no_flow_of_others() {
    let lab = closed();
    let own = packet("10.1.0.1", "10.1.0.3", tcp((40_000, 80), SYN, 0));
    assert!(lab.leaves(&own));
    assert!(!lab.comes(&from_peer(tcp((80, 40_000), RST, 0))));
    assert!(lab.comes(&own.reply(ACK)));
}
