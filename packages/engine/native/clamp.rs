//! Prevents black holes. A TCP SYN is told how long segments may be. For other packets the engine sends the message of routers
//! that a packet is too big (RFC 1191, RFC 8201).
use crate::checksum::fold;
use crate::icmp_error::{IcmpError, MAX_ICMP_ERROR, build_error};
use crate::packet::*;

const SYN: u8 = 2;
const MSS_OPTION: u8 = 2;
/// The bytes that `too_big` may write.
pub const MAX_TOO_BIG: usize = MAX_ICMP_ERROR;

/// Lowers the segment size in a TCP SYN to what fits into `mtu`. Corrects the checksum if it is `complete`: a checksum that the
/// kernel left to us covers only the pseudo header so far.
#[inline]
pub fn clamp_segment_size(packet: &mut [u8], ip: &Ip, mtu: usize, complete: bool) {
    let at = ip.transport;
    if ip.protocol != TCP || ip.fragment || packet.len() < at + 20 || packet[at + 13] & SYN == 0 {
        return;
    }
    let headers = if ip.is_v6() { IPV6_HEADER } else { IPV4_HEADER } + 20;
    let (end, most) = (at + (packet[at + 12] >> 4) as usize * 4, mtu.saturating_sub(headers) as u16);
    let mut option = at + 20;
    while option + 4 <= end.min(packet.len()) {
        match packet[option] {
            0 => return,
            1 => option += 1,
            MSS_OPTION if packet[option + 1] == 4 => {
                let before = get16(packet, option + 2);
                if before > most {
                    put16(packet, option + 2, most);
                    if complete {
                        amend(packet, at + 16, option + 2 - at, before, most);
                    }
                }
                return;
            }
            _ if packet[option + 1] < 2 => return,
            _ => option += packet[option + 1] as usize,
        }
    }
}

/// Updates a checksum for one changed word (RFC 1624).
fn amend(packet: &mut [u8], sum_at: usize, offset: usize, before: u16, after: u16) {
    // a word at an odd place counts with its bytes swapped
    let [before, after] =
        [before, after].map(|word| if offset.is_multiple_of(2) { word } else { word.swap_bytes() });
    let total = !get16(packet, sum_at) as u64 + !before as u64 + after as u64;
    put16(packet, sum_at, !fold(total));
}

/// The message to the packet's sender that only `mtu` bytes go through, as if its destination said so; its length
/// in `out`. None: such a packet gets no answer (an ICMP error, or a later fragment). It is sent whether or not IPv4
/// allows fragments: the sender is this machine, which then makes them itself.
pub fn too_big(packet: &[u8], ip: &Ip, mtu: usize, out: &mut [u8; MAX_TOO_BIG]) -> Option<usize> {
    build_error(packet, ip, IcmpError::TooBig(mtu), out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::packets::{Spec, build, checksums_fit, slow_sum};
    use crate::testing::random::Random;

    /// A SYN with these option bytes (12 of them).
    fn syn(v6: bool, options: [u8; 12]) -> Vec<u8> {
        let mut packet = build(&Spec { v6, flags: SYN, ..Spec::default() });
        let at = if v6 { 40 } else { 20 };
        packet[at + 20..at + 32].copy_from_slice(&options);
        packet[at + 16..at + 18].fill(0);
        let addresses = if v6 { &packet[8..40] } else { &packet[12..20] };
        let sum = !slow_sum(&packet[at..], slow_sum(addresses, 6 + 32)) as u16;
        packet[at + 16..at + 18].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    #[test]
    fn lowers_the_segment_size_wherever_the_option_stands() {
        for v6 in [false, true] {
            for options in [[2, 4, 0x23, 0, 1, 1, 1, 1, 1, 1, 1, 0], [1, 2, 4, 0x23, 0, 1, 1, 1, 1, 1, 0, 0]]
            {
                let mut packet = syn(v6, options);
                let ip = parse(&packet).unwrap();
                clamp_segment_size(&mut packet, &ip, 1280, true);
                let at = ip.transport + if options[0] == 2 { 22 } else { 23 };
                assert_eq!(get16(&packet, at), if v6 { 1220 } else { 1240 });
                assert!(checksums_fit(&packet), "v6 {v6} {options:?}");
                let before = packet.clone();
                clamp_segment_size(&mut packet, &ip, 9000, true);
                assert_eq!(packet, before, "never raises it");
            }
        }
    }

    #[test]
    fn tells_the_sender_what_fits() {
        let mut out = [0; MAX_TOO_BIG];
        for v6 in [false, true] {
            let packet = build(&Spec { v6, tcp: false, payload: 1400, ..Spec::default() });
            let ip = parse(&packet).unwrap();
            let len = too_big(&packet, &ip, 1280, &mut out).unwrap();
            let answer = parse(&out[..len]).unwrap();
            assert_eq!((answer.source, answer.destination, answer.len), (ip.destination, ip.source, len));
            assert_eq!(&out[answer.transport + 8..len], &packet[..len - answer.transport - 8]);
            if v6 {
                assert!(checksums_fit(&out[..len]));
                assert_eq!((out[40], get32(&out, 44)), (2, 1280));
            } else {
                assert_eq!((slow_sum(&out[..20], 0), slow_sum(&out[20..len], 0)), (0xffff, 0xffff));
                assert_eq!((out[20], out[21], get16(&out, 26)), (3, 4, 1280));
            }
            assert_eq!(
                too_big(&out[..len], &answer, 1280, &mut [0; MAX_TOO_BIG]),
                None,
                "no error about an error"
            );
        }
    }

    #[test]
    fn nonsense_does_not_panic() {
        let mut random = Random::new(10);
        for round in 0..200_000 {
            let mut packet = syn(round % 2 == 0, [2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 0]);
            for _ in 0..3 {
                let at = random.below(packet.len());
                packet[at] = random.next() as u8;
            }
            packet.truncate(1 + random.below(packet.len()));
            if let Ok(ip) = parse(&packet) {
                let mut packet = packet[..ip.len].to_vec();
                clamp_segment_size(&mut packet, &ip, random.below(2000), true);
                too_big(&packet, &ip, random.below(2000), &mut [0; MAX_TOO_BIG]);
            }
        }
    }
}
