//! What tests and benchmarks send to an engine's socket, as fast as a machine can. Each prints one line of JSON.
//!
//! wire-tool peers ENDPOINT KEY TARGET SECONDS < lines of PRIVATE PRESHARED ADDRESS
//!     many WireGuard peers in one process, each with a socket of its own
//! wire-tool flood ENDPOINT SECONDS KINDS [--sources CIDR] [--key KEY] [--rate N]
//!     datagrams of hostile kinds, from many addresses
//!
//! Keys are 64 hexadecimal digits; a preshared key that is `-` is none.
mod capture;
mod datagrams;
mod flood;
mod peers;

use std::fmt::Display;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = match words.split_first() {
        Some((verb, rest)) if verb == "peers" => peers::run(rest),
        Some((verb, rest)) if verb == "flood" => flood::run(rest),
        _ => Err("peers or flood, with what belongs to it".into()),
    };
    match result {
        Ok(line) => println!("{line}"),
        Err(message) => {
            eprintln!("wire-tool: {message}");
            std::process::exit(2);
        }
    }
}

/// Reads one word of the command line.
fn parsed<T: std::str::FromStr<Err: Display>>(
    words: &[String],
    at: usize,
    name: &str,
) -> Result<T, String> {
    let word = words.get(at).ok_or_else(|| format!("{name} is missing"))?;
    word.parse()
        .map_err(|error| format!("{name} {word}: {error}"))
}

/// A key of 64 hexadecimal digits.
fn key_of(hex: &str) -> Result<[u8; 32], String> {
    let digits = hex.as_bytes().as_chunks::<2>().0;
    let bytes = digits.iter().map(|pair| {
        let text = str::from_utf8(pair).map_err(|error| error.to_string())?;
        u8::from_str_radix(text, 16).map_err(|error| error.to_string())
    });
    let bytes: Vec<u8> = bytes.collect::<Result<_, String>>()?;
    bytes
        .try_into()
        .map_err(|_| "a key has 64 hexadecimal digits".into())
}
