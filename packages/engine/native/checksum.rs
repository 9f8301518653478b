//! The Internet checksum (RFC 1071), in native byte order until it is stored.

/// One's-complement sum; `init` is an earlier sum over an even number of bytes.
#[inline]
pub fn sum(bytes: &[u8], init: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if bytes.len() >= 128 && std::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, which was just asked.
        return unsafe { sum_avx2(bytes, init) };
    }
    sum_words(bytes, init)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_avx2(bytes: &[u8], init: u64) -> u64 {
    sum_words(bytes, init)
}

/// Eight independent sums, so that the compiler can use vector registers.
#[inline(always)]
fn sum_words(bytes: &[u8], init: u64) -> u64 {
    let mut lanes = [0u64; 8];
    let mut blocks = bytes.chunks_exact(32);
    for block in &mut blocks {
        for (lane, word) in lanes.iter_mut().zip(block.chunks_exact(4)) {
            *lane += u32::from_ne_bytes([word[0], word[1], word[2], word[3]]) as u64;
        }
    }
    let mut total = lanes.iter().fold(init, |total, lane| total + lane);
    let mut pairs = blocks.remainder().chunks_exact(2);
    for pair in &mut pairs {
        total += u16::from_ne_bytes([pair[0], pair[1]]) as u64;
    }
    if let [last] = pairs.remainder() {
        total += u16::from_ne_bytes([*last, 0]) as u64;
    }
    total
}

/// Folds the carries back in: 16 bits in native order.
#[inline]
pub fn fold(mut sum: u64) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Sum of the pseudo header: both addresses, the protocol and the transport's length.
#[inline]
pub fn pseudo(addresses: &[u8], protocol: u8, transport_len: usize) -> u64 {
    sum(addresses, 0) + (protocol as u16).to_be() as u64 + (transport_len as u16).to_be() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random::Random;

    fn slow(bytes: &[u8]) -> u16 {
        let mut sum = 0u32;
        for pair in bytes.chunks(2) {
            sum += u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]) as u32;
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    #[test]
    fn agrees_with_the_slow_sum_for_every_length() {
        let mut random = Random::new(1);
        let bytes: Vec<u8> = (0..2000).map(|_| random.next() as u8).collect();
        for len in 0..bytes.len() {
            assert_eq!(fold(sum(&bytes[..len], 0)), slow(&bytes[..len]).to_be(), "{len} bytes");
        }
        assert_eq!(fold(sum(&[0xff; 65_535], 0)), slow(&[0xff; 65_535]).to_be());
    }
}
