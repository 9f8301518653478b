//! Probes of paths, as the application makes them (docs/PROTOCOLS.md, 'Paths over UDP'). They go before other datagrams that are no
//! WireGuard. An observer can read which pair they name, and replay them from anywhere before they arrive. So only what
//! bears the pair's code is a probe:
//!
//! - An answer counts once, from the address that was asked.
//! - A question counts once from each address at which the other end is known.
//! - From all other addresses together it counts a few times, until it came from a known one.
use crate::limits::{ANSWERED_KEPT, ASKED_KEPT, PROBE_COPIES, QUESTIONS_KEPT, QUESTIONS_PER_SECOND};
use crate::sockets::Source;
use crate::wiped::Wiped;
use parking_lot::{Mutex, RwLock};
use ring::hmac;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// By which probes name the pair of peers; each end has one.
pub type Word = [u8; 8];
/// With which the other end makes their codes.
pub type ProbeKey = [u8; 32];

const MAGIC: &[u8] = b"mp\x01";
const WORD_AT: usize = 4;
const NUMBER_AT: usize = 12;
const LENGTH_AT: usize = 20;
const CODE_BYTES: usize = 16;
const PERIOD: Duration = Duration::from_secs(1);

/// Two peers whose probes are expected.
pub struct ProbePair {
    /// What the other end's probes name, and what this node's do.
    pub word: Word,
    pub their_word: Word,
    pub key: ProbeKey,
    /// Where the other end says that it is.
    pub told: Vec<SocketAddr>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Question,
    Answer,
}

impl Kind {
    fn of(datagram: &[u8]) -> Option<Kind> {
        match datagram.strip_prefix(MAGIC)?.first()? {
            1 => Some(Kind::Question),
            2 => Some(Kind::Answer),
            _ => None,
        }
    }

    /// Where the code is, which is over all before it.
    fn code_at(self) -> usize {
        match self {
            Kind::Question => 26,
            Kind::Answer => 40,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It names no pair that is expected.
    Other,
    /// It names one, and is not its own, or was sent too often.
    Refused,
    /// It comes from where the other end may be, or from anybody who overheard it.
    Question,
    /// It comes from an address at which the other end is known to be.
    KnownQuestion,
    /// No more come than were asked.
    Answer,
}

#[derive(Default)]
pub struct ProbeGate {
    pairs: RwLock<HashMap<Word, Pair>>,
    /// The questions that this node sent last and that have no answer yet, by their marks.
    asked: Mutex<Latest<ASKED_KEPT>>,
    marks: RandomState,
}

struct Pair {
    key: Wiped<hmac::Key>,
    their_word: Word,
    told: Vec<SocketAddr>,
    came: Arc<Mutex<Came>>,
}

/// What came lately of one pair.
#[derive(Default)]
struct Came {
    /// From where questions were answered that went there, the latest one last.
    answered: VecDeque<SocketAddr>,
    /// Questions from known addresses, by their marks.
    known: Questions,
    /// Those from all others, by their numbers; `spent` stands for one that came from a known address.
    others: Questions,
}

#[derive(Default)]
struct Questions {
    latest: Latest<QUESTIONS_KEPT>,
    /// How many since then.
    count: u32,
    since: Option<Instant>,
}

/// The latest numbers, each as often as it came. Those of probes are random, so that a part of them is enough.
#[derive(Default)]
struct Latest<const MOST: usize>(VecDeque<u32>);

impl<const MOST: usize> Latest<MOST> {
    fn count(&self, number: u32) -> usize {
        let (one, other) = self.0.as_slices();
        [one, other].iter().flat_map(|part| part.iter()).filter(|each| **each == number).count()
    }

    fn add(&mut self, number: u32) {
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back(number);
    }

    /// False: it was not there.
    fn remove(&mut self, number: u32) -> bool {
        let at = self.0.iter().position(|each| *each == number);
        at.is_some_and(|at| self.0.remove(at).is_some())
    }
}

impl ProbeGate {
    /// From now on probes of these two are expected. What came of them stays known.
    pub fn expect(&self, pair: ProbePair) {
        let ProbePair { word, their_word, key, told } = pair;
        let mut pairs = self.pairs.write();
        let came = pairs.get(&word).map(|pair| pair.came.clone()).unwrap_or_default();
        let key = Wiped::new(hmac::Key::new(hmac::HMAC_SHA256, &key));
        pairs.insert(word, Pair { key, their_word, told, came });
    }

    /// Expects no more probes that name this word.
    pub fn forget(&self, word: Word) {
        self.pairs.write().remove(&word);
    }

    /// A datagram leaves: where it is a question, an answer to it is expected from there.
    pub fn sent(&self, to: Source, datagram: &[u8]) {
        if let (Some(Kind::Question), Some(word)) = (Kind::of(datagram), word_of(datagram))
            && let Some(number) = number_of(datagram)
        {
            self.asked.lock().add(self.mark(word, number, to));
        }
    }

    pub fn judge(&self, from: Source, datagram: &[u8], now: Instant) -> Verdict {
        let pairs = self.pairs.read();
        let Some((word, pair)) = word_of(datagram).and_then(|word| pairs.get_key_value(&word)) else {
            return Verdict::Other;
        };
        let (Some(kind), Some(number)) = (Kind::of(datagram), number_of(datagram)) else {
            return Verdict::Refused;
        };
        let verdict = match kind {
            Kind::Answer => self.answer(pair, number, (from, datagram)),
            Kind::Question => {
                let mark = self.mark(*word, number, from);
                pair.question((mark, number), (from, datagram), now)
            }
        };
        verdict.unwrap_or(Verdict::Refused)
    }

    fn answer(&self, pair: &Pair, number: u64, (from, datagram): (Source, &[u8])) -> Option<Verdict> {
        let mark = self.mark(pair.their_word, number, from);
        // the code costs most, and is looked at last
        let is_asked = self.asked.lock().count(mark) > 0;
        if !is_asked || !pair.made(datagram, Kind::Answer) || !self.asked.lock().remove(mark) {
            return None;
        }
        pair.came.lock().answered_from(from.address);
        Some(Verdict::Answer)
    }

    /// Stands for a question of a pair that goes to or comes from an address. Nobody else can make one like it.
    fn mark(&self, word: Word, number: u64, Source { address, socket }: Source) -> u32 {
        let (ip, port) = (address.ip().to_canonical(), address.port());
        self.marks.hash_one((word, number, ip, port, socket)) as u32
    }
}

impl Pair {
    fn question(
        &self,
        (mark, number): (u32, u64),
        (from, datagram): (Source, &[u8]),
        now: Instant,
    ) -> Option<Verdict> {
        let is_told = self.told.contains(&from.address);
        let is_known = is_told || self.came.lock().answered.contains(&from.address);
        let (each, copies) = if is_known { (mark, 1) } else { (number as u32, PROBE_COPIES) };
        let has_room = {
            let mut came = self.came.lock();
            let has_room = came.questions(is_known).latest.count(each) < copies;
            has_room && (is_known || came.others.latest.count(spent(each)) == 0)
        };
        if !has_room || !is_whole(datagram) || !self.made(datagram, Kind::Question) {
            return None;
        }
        let mut came = self.came.lock();
        if !came.questions(is_known).take(each, now) {
            return None;
        }
        if !is_known {
            return Some(Verdict::Question);
        }
        came.others.latest.add(spent(number as u32));
        Some(Verdict::KnownQuestion)
    }

    /// Whether the other end made it.
    fn made(&self, datagram: &[u8], kind: Kind) -> bool {
        let Some((content, rest)) = datagram.split_at_checked(kind.code_at()) else { return false };
        let Some(code) = rest.first_chunk::<CODE_BYTES>() else { return false };
        let right = hmac::sign(&self.key, content);
        // takes as long wherever it differs
        right.as_ref().iter().zip(code).fold(0, |sum, (one, other)| sum | (one ^ other)) == 0
    }
}

impl Came {
    fn questions(&mut self, is_known: bool) -> &mut Questions {
        if is_known { &mut self.known } else { &mut self.others }
    }

    fn answered_from(&mut self, address: SocketAddr) {
        self.answered.retain(|each| *each != address);
        if self.answered.len() >= ANSWERED_KEPT {
            self.answered.pop_front();
        }
        self.answered.push_back(address);
    }
}

impl Questions {
    /// False: a second has no room for more.
    fn take(&mut self, each: u32, now: Instant) -> bool {
        if self.since.is_none_or(|since| now.saturating_duration_since(since) >= PERIOD) {
            (self.since, self.count) = (Some(now), 0);
        }
        if self.count >= QUESTIONS_PER_SECOND {
            return false;
        }
        self.count += 1;
        self.latest.add(each);
        true
    }
}

/// Random numbers are hardly ever each other's complement.
fn spent(number: u32) -> u32 {
    !number
}

fn word_of(datagram: &[u8]) -> Option<Word> {
    datagram.get(WORD_AT..)?.first_chunk().copied()
}

fn number_of(datagram: &[u8]) -> Option<u64> {
    datagram.get(NUMBER_AT..)?.first_chunk().map(|number| u64::from_be_bytes(*number))
}

/// A question is as long as it says: one that was cut must not stand for the one that it was.
fn is_whole(datagram: &[u8]) -> bool {
    let told = datagram.get(LENGTH_AT..).and_then(|rest| rest.first_chunk());
    let least = Kind::Question.code_at() + CODE_BYTES;
    told.is_some_and(|told| usize::from(u16::from_be_bytes(*told)).max(least) == datagram.len())
}

#[cfg(test)]
#[path = "probe_gate_tests.rs"]
pub mod tests;
