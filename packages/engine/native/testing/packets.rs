//! Well-formed packets for tests, built without the code under test.
use std::net::IpAddr;
use tun_rs::VirtioNetHdr;

pub struct Spec<'a> {
    pub v6: bool,
    pub tcp: bool,
    pub payload: usize,
    pub source: &'a str,
    pub destination: &'a str,
    pub sequence: u32,
    /// TCP's flags byte.
    pub flags: u8,
}

impl Default for Spec<'_> {
    fn default() -> Self {
        Spec {
            v6: false,
            tcp: true,
            payload: 0,
            source: "",
            destination: "",
            sequence: 0xffff_f000,
            flags: 0x10,
        }
    }
}

/// The plain sum, in host order, for comparison.
pub fn slow_sum(bytes: &[u8], init: u32) -> u32 {
    let mut sum = init;
    for (at, byte) in bytes.iter().enumerate() {
        sum += (*byte as u32) << if at % 2 == 0 { 8 } else { 0 };
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum
}

fn octets(text: &str, default: &str) -> Vec<u8> {
    match (if text.is_empty() { default } else { text }).parse().unwrap() {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

/// True: IP's and the transport's checksum are right.
pub fn checksums_fit(packet: &[u8]) -> bool {
    let v6 = packet[0] >> 4 == 6;
    let (at, protocol) = if v6 { (40, packet[6]) } else { (20, packet[9]) };
    let addresses = if v6 { &packet[8..40] } else { &packet[12..20] };
    let pseudo = slow_sum(addresses, protocol as u32 + (packet.len() - at) as u32);
    slow_sum(&packet[at..], pseudo) == 0xffff && (v6 || slow_sum(&packet[..20], 0) == 0xffff)
}

/// A packet with right checksums; TCP has 12 bytes of options.
pub fn build(spec: &Spec) -> Vec<u8> {
    let (_, mut packet) = build_super(spec, 1 << 15);
    let at = if spec.v6 { 40 } else { 20 };
    let protocol = if spec.tcp { 6 } else { 17 };
    let sum_at = at + if spec.tcp { 16 } else { 6 };
    packet[sum_at..sum_at + 2].fill(0);
    let addresses = if spec.v6 { &packet[8..40] } else { &packet[12..20] };
    let pseudo = slow_sum(addresses, protocol + (packet.len() - at) as u32);
    let sum = match !slow_sum(&packet[at..], pseudo) as u16 {
        0 => 0xffff,
        sum => sum,
    };
    packet[sum_at..sum_at + 2].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// A super-segment as the kernel hands it over, with its header.
pub fn build_super(spec: &Spec, mss: usize) -> (VirtioNetHdr, Vec<u8>) {
    let at = if spec.v6 { 40 } else { 20 };
    let head = at + if spec.tcp { 32 } else { 8 };
    let mut bytes = vec![0u8; head + spec.payload];
    let len = bytes.len();
    let protocol = if spec.tcp { 6 } else { 17 };
    let (source, destination) = if spec.v6 {
        (octets(spec.source, "fd00::1"), octets(spec.destination, "fd00::2"))
    } else {
        (octets(spec.source, "10.1.0.1"), octets(spec.destination, "10.1.0.2"))
    };
    if spec.v6 {
        bytes[0] = 0x60;
        bytes[4..6].copy_from_slice(&((len - 40) as u16).to_be_bytes());
        (bytes[6], bytes[7]) = (protocol, 64);
        bytes[8..24].copy_from_slice(&source);
        bytes[24..40].copy_from_slice(&destination);
    } else {
        bytes[0] = 0x45;
        bytes[2..4].copy_from_slice(&(len as u16).to_be_bytes());
        (bytes[6], bytes[8], bytes[9]) = (0x40, 64, protocol);
        bytes[12..16].copy_from_slice(&source);
        bytes[16..20].copy_from_slice(&destination);
        let sum = !slow_sum(&bytes[..20], 0) as u16;
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    bytes[at..at + 4].copy_from_slice(&[1, 2, 3, 4]);
    if spec.tcp {
        bytes[at + 4..at + 8].copy_from_slice(&spec.sequence.to_be_bytes());
        (bytes[at + 12], bytes[at + 13]) = (0x80, spec.flags);
    } else {
        bytes[at + 4..at + 6].copy_from_slice(&((len - at) as u16).to_be_bytes());
    }
    for (i, byte) in bytes[head..].iter_mut().enumerate() {
        *byte = (i * 31 % 251) as u8;
    }
    let csum_offset = if spec.tcp { 16 } else { 6 };
    let addresses = if spec.v6 { &bytes[8..40] } else { &bytes[12..20] };
    let pseudo = slow_sum(addresses, protocol as u32 + (len - at) as u32) as u16;
    bytes[at + csum_offset..at + csum_offset + 2].copy_from_slice(&pseudo.to_be_bytes());
    let gso_type = match (spec.tcp, spec.v6) {
        (true, false) => 1,
        (true, true) => 4,
        _ => 5,
    };
    let header = VirtioNetHdr {
        flags: 1,
        gso_type,
        hdr_len: head as u16,
        gso_size: mss as u16,
        csum_start: at as u16,
        csum_offset: csum_offset as u16,
    };
    (header, bytes)
}
