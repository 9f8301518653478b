use super::*;
use crate::filter::headers::read;
use crate::testing::packets::{Spec, build, checksums_fit, slow_sum};

fn told(packet: &[u8]) -> Option<Vec<u8>> {
    let (ip, mut out) = (parse(packet).unwrap(), [0; MAX_REPLY]);
    let headers = read(packet, &ip).unwrap();
    let len = build_reply(packet, &ip, &headers, &mut out)?;
    let reply = parse(&out[..len]).unwrap();
    assert_eq!((reply.source, reply.destination, reply.len), (ip.destination, ip.source, len));
    Some(out[..len].to_vec())
}

#[test]
fn tcp_gets_a_reset_that_its_sender_believes() {
    for v6 in [false, true] {
        let packet = build(&Spec { v6, flags: SYN, payload: 7, sequence: 0xffff_fffe, ..Spec::default() });
        let reply = told(&packet).unwrap();
        let at = if v6 { 40 } else { 20 };
        assert!(checksums_fit(&reply));
        assert_eq!(reply[at..at + 4], [3, 4, 1, 2], "the ports change sides");
        // 7 bytes and the SYN
        assert_eq!((get32(&reply, at + 4), get32(&reply, at + 8), reply[at + 13]), (0, 6, RST | ACK));
        let mut packet = build(&Spec { v6, flags: ACK, payload: 7, ..Spec::default() });
        packet[at + 8..at + 12].copy_from_slice(&77u32.to_be_bytes());
        let reply = told(&packet).unwrap();
        assert!(checksums_fit(&reply));
        assert_eq!((get32(&reply, at + 4), get32(&reply, at + 8), reply[at + 13]), (77, 0, RST));
        assert_eq!(told(&build(&Spec { v6, flags: RST, ..Spec::default() })), None);
        assert_eq!(told(&reply), None, "a reset is not answered");
    }
}

#[test]
fn others_get_an_error_that_quotes_their_packet() {
    for v6 in [false, true] {
        let packet = build(&Spec { v6, tcp: false, payload: 90, ..Spec::default() });
        let reply = told(&packet).unwrap();
        let at = if v6 { 40 } else { 20 };
        assert_eq!(reply[at..at + 2], if v6 { [1, 1] } else { [3, 13] });
        assert_eq!(reply[at + 8..], packet);
        let sum = if v6 { slow_sum(&reply[8..40], 58 + (reply.len() - 40) as u32) } else { 0 };
        assert_eq!(slow_sum(&reply[at..], sum), 0xffff);
        assert_eq!(told(&reply), None, "an error is not answered");
    }
}

#[test]
fn multicast_and_later_fragments_get_no_answer() {
    for destination in ["224.0.0.251", "255.255.255.255"] {
        assert_eq!(told(&build(&Spec { tcp: false, destination, payload: 9, ..Spec::default() })), None);
    }
    let mut later = build(&Spec { tcp: false, payload: 90, ..Spec::default() });
    later[7] = 9;
    assert_eq!(told(&later), None);
}
