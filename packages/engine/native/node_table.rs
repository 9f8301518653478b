//! Values from JavaScript, checked: the table, addresses, keys and pairs of peers.
use crate::filter::{Matched, PacketMatch, PacketRule, PacketRules, RulesChange};
use crate::interface::OpenError;
use crate::limits::{MAX_RULE_LAYERS, MAX_RULES};
use crate::peer::Tunnel;
use crate::peer_config::PeerConfig;
use crate::probe_gate::{ProbePair, Word};
use crate::sessions::Key;
use crate::table::{Path, Prefix};
use napi::bindgen_prelude::{Uint8Array, Uint32Array};
use napi::{Error, Result};
use napi_derive::napi;
use std::net::SocketAddr;

/// Two peers whose probes of paths are expected.
#[napi(object)]
pub struct NativeProbePair {
    /// The words of 8 bytes that the other end's probes name, and this node's.
    pub token: Uint8Array,
    pub their_token: Uint8Array,
    pub key: Uint8Array,
    /// Where the other end says that it is, a space between two.
    pub endpoints: String,
}

/// The whole table in few values, as `src/native.ts` says.
#[napi(object)]
pub struct NativeTable {
    pub peers: Uint32Array,
    pub keys: Uint8Array,
    pub ranges: String,
    pub endpoints: String,
    pub local: String,
    /// Undefined: the rules stay as they are.
    pub rules: Option<NativeRules>,
}

/// Rules in few values, as `src/native.ts` says.
#[napi(object)]
pub struct NativeRules {
    /// False: there are none, and all flows may begin.
    pub given: bool,
    pub ranges: String,
    pub sets: Uint32Array,
    pub rules: Uint32Array,
    pub silent: bool,
}

/// A rule's word for any set.
const ANY_SET: u32 = u32::MAX;
const KEY_BYTES: usize = size_of::<Key>();

/// Errors carry their code before a line end; `src/errors.ts` takes them apart.
pub fn failed(error: OpenError) -> Error {
    Error::from_reason(format!("{}\n{}", error.code, error.message))
}

pub fn system(error: std::io::Error) -> Error {
    failed(OpenError { code: "engine.system", message: error.to_string() })
}

fn bad_input(message: String) -> Error {
    failed(OpenError { code: "engine.bad_table", message })
}

pub fn key(bytes: &[u8]) -> Result<Key> {
    bytes.try_into().map_err(|_| bad_input("a key has 32 bytes".into()))
}

pub fn word(bytes: &[u8]) -> Result<Word> {
    bytes.try_into().map_err(|_| bad_input("a token has 8 bytes".into()))
}

pub fn probe_pair(pair: &NativeProbePair) -> Result<ProbePair> {
    let told = pair.endpoints.split_ascii_whitespace().map(socket_address).collect::<Result<_>>()?;
    let (word, their_word) = (word(&pair.token)?, word(&pair.their_token)?);
    Ok(ProbePair { word, their_word, key: key(&pair.key)?, told })
}

pub fn prefixes(texts: &[String]) -> Result<Vec<Prefix>> {
    let parse =
        |text: &String| Prefix::parse(text).ok_or_else(|| bad_input(format!("not a range: {text:?}")));
    texts.iter().map(parse).collect()
}

pub fn socket_address(text: &str) -> Result<SocketAddr> {
    text.parse().map_err(|_| bad_input(format!("not an address with a port: {text:?}")))
}

/// Ranges as text, a space between two.
pub fn ranges(text: &str) -> impl Iterator<Item = Result<Prefix>> {
    text.split_ascii_whitespace()
        .map(|text| Prefix::parse(text).ok_or_else(|| bad_input(format!("not a range: {text:?}"))))
}

/// What a new table does to the rules.
pub fn rules_change(rules: Option<&NativeRules>) -> Result<RulesChange> {
    let Some(rules) = rules else { return Ok(RulesChange::Keep) };
    if !rules.given {
        return Ok(RulesChange::Set(None));
    }
    let mut sets = rules.sets.iter().copied();
    let mut each = || sets.by_ref().next().ok_or_else(bad_rules);
    let with_sets = |range: Result<Prefix>| {
        let count = each()? as usize;
        Ok((range?, (0..count).map(|_| each()).collect::<Result<_>>()?))
    };
    let ranges = ranges(&rules.ranges).map(with_sets).collect::<Result<_>>()?;
    let mut words = rules.rules.iter().copied();
    let mut layers = Vec::new();
    while let Some(count) = words.next() {
        layers.push((0..count).map(|_| rule(&mut words)).collect::<Result<Vec<_>>>()?);
    }
    if layers.len() > MAX_RULE_LAYERS || layers.iter().any(|layer| layer.len() > MAX_RULES) {
        return Err(bad_input("more rules than the engine takes".into()));
    }
    Ok(RulesChange::Set(Some(PacketRules { ranges, layers, silent: rules.silent })))
}

fn rule(words: &mut impl Iterator<Item = u32>) -> Result<PacketRule> {
    let mut next = || words.next().ok_or_else(bad_rules);
    let set = |word| if word == ANY_SET { None } else { Some(word) };
    let (from, to, count) = (set(next()?), set(next()?), next()?);
    let on = (0..count).map(|_| {
        let (protocol, ports) = (next()?, next()?);
        let protocol = match protocol {
            0 => Matched::Tcp,
            1 => Matched::Udp,
            2 => Matched::Icmp,
            _ => return Err(bad_rules()),
        };
        Ok(PacketMatch { protocol, first_port: (ports >> 16) as u16, last_port: ports as u16 })
    });
    Ok(PacketRule { from, to, on: on.collect::<Result<_>>()? })
}

fn bad_rules() -> Error {
    bad_input("rules whose parts do not fit together".into())
}

pub fn peer_configs(table: &NativeTable) -> Result<Vec<PeerConfig>> {
    let short = || bad_input("a table whose parts do not fit together".into());
    let (mut keys, mut ranges) = (table.keys.chunks_exact(2 * KEY_BYTES), ranges(&table.ranges));
    let mut endpoints = table.endpoints.split_ascii_whitespace();
    let mut peers = Vec::with_capacity(table.peers.len() / 7);
    for row in table.peers.chunks_exact(7) {
        let (tunnel, preshared) = match row[1] {
            0 => (Tunnel::None, None),
            1 => {
                let (public, preshared) = keys.next().ok_or_else(short)?.split_at(KEY_BYTES);
                (Tunnel::WireGuard(key(public)?), Some(key(preshared)?.into()))
            }
            _ => (Tunnel::Legacy, None),
        };
        let allowed = ranges.by_ref().take(row[3] as usize).collect::<Result<Vec<_>>>()?;
        let mtu = u16::try_from(row[2]).map_err(|_| short())?;
        let socket_mtu = u16::try_from(row[5]).map_err(|_| short())?;
        let socket = u16::try_from(row[6]).map_err(|_| short())?;
        let endpoint = match row[4] {
            0 | 3 => None,
            _ => Some(socket_address(endpoints.next().ok_or_else(short)?)?),
        };
        let path = Path { endpoint, stream: matches!(row[4], 0 | 2), socket };
        peers.push(PeerConfig { id: row[0], tunnel, preshared, allowed, mtu, socket_mtu, path });
    }
    Ok(peers)
}
