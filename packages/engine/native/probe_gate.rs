//! Probes of paths, as the application makes them (docs/PROTOCOLS.md, 'Paths over UDP'). They go before all other datagrams
//! that are no WireGuard, and whoever is on the way can read which pair of peers they name, and send them again from
//! anywhere. So only what bears the pair's code is one, an answer only to a question of late, and each a few times.
use crate::limits::{ANSWERS_KEPT, ASKED_KEPT, PROBE_COPIES, QUESTIONS_KEPT, QUESTIONS_PER_SECOND};
use crate::wiped::Wiped;
use parking_lot::{Mutex, RwLock};
use ring::hmac;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// By which probes name the pair of peers.
pub type Word = [u8; 8];
/// With which the other end makes their codes.
pub type ProbeKey = [u8; 32];

const MAGIC: &[u8] = b"mp\x01";
const WORD_AT: usize = 4;
const NUMBER_AT: usize = 12;
const CODE_BYTES: usize = 16;
const PERIOD: Duration = Duration::from_secs(1);

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
    /// Its sender chooses how many come.
    Question,
    /// No more come than were asked.
    Answer,
}

#[derive(Default)]
pub struct ProbeGate {
    pairs: RwLock<HashMap<Word, Pair>>,
    /// The numbers of the questions that this node sent last.
    asked: Mutex<Latest<ASKED_KEPT>>,
}

struct Pair {
    key: Wiped<hmac::Key>,
    came: Arc<Mutex<Came>>,
}

/// What came lately of one pair.
#[derive(Default)]
struct Came {
    questions: Latest<QUESTIONS_KEPT>,
    answers: Latest<ANSWERS_KEPT>,
    /// How many questions since then.
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
}

impl ProbeGate {
    /// From now on the probes of these pairs are expected, and no others.
    pub fn expect(&self, pairs: impl Iterator<Item = (Word, ProbeKey)>) {
        let mut known = self.pairs.write();
        let next = pairs.map(|(word, key)| {
            let came = known.get(&word).map(|pair| pair.came.clone()).unwrap_or_default();
            (word, Pair { key: Wiped::new(hmac::Key::new(hmac::HMAC_SHA256, &key)), came })
        });
        *known = next.collect();
    }

    /// A datagram leaves: where it is a question, answers to it are expected.
    pub fn sent(&self, datagram: &[u8]) {
        if let (Some(Kind::Question), Some(number)) = (Kind::of(datagram), number_of(datagram)) {
            self.asked.lock().add(number);
        }
    }

    pub fn judge(&self, datagram: &[u8], now: Instant) -> Verdict {
        let word = datagram.get(WORD_AT..).and_then(|rest| rest.first_chunk::<8>());
        let pairs = self.pairs.read();
        let Some(pair) = word.and_then(|word| pairs.get(word)) else { return Verdict::Other };
        let (Some(kind), Some(number)) = (Kind::of(datagram), number_of(datagram)) else {
            return Verdict::Refused;
        };
        if kind == Kind::Answer && self.asked.lock().count(number) == 0 {
            return Verdict::Refused;
        }
        // the code costs most, and is looked at last
        if !pair.came.lock().has_room(kind, number) || !pair.made(datagram, kind) {
            return Verdict::Refused;
        }
        pair.came.lock().take(kind, number, now)
    }
}

impl Pair {
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
    fn has_room(&self, kind: Kind, number: u32) -> bool {
        let came = match kind {
            Kind::Question => self.questions.count(number),
            Kind::Answer => self.answers.count(number),
        };
        came < PROBE_COPIES
    }

    fn take(&mut self, kind: Kind, number: u32, now: Instant) -> Verdict {
        if kind == Kind::Answer {
            self.answers.add(number);
            return Verdict::Answer;
        }
        if self.since.is_none_or(|since| now.saturating_duration_since(since) >= PERIOD) {
            (self.since, self.count) = (Some(now), 0);
        }
        if self.count >= QUESTIONS_PER_SECOND {
            return Verdict::Refused;
        }
        self.count += 1;
        self.questions.add(number);
        Verdict::Question
    }
}

/// The lower half of a probe's number.
fn number_of(datagram: &[u8]) -> Option<u32> {
    let number = datagram.get(NUMBER_AT..)?.first_chunk::<8>()?;
    Some(u64::from_be_bytes(*number) as u32)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    const WORD: Word = [7; 8];
    const OTHER_WORD: Word = [8; 8];

    /// A probe as the application makes it: of a kind (1 a question, 2 an answer), with a number.
    pub fn probe(kind: u8, word: Word, number: u64, key: ProbeKey) -> Vec<u8> {
        let rest = [0; 20];
        let rest = &rest[..if kind == 1 { 6 } else { 20 }];
        let content = [MAGIC, &[kind], &word, &number.to_be_bytes(), rest].concat();
        let code = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), &content);
        [&content, &code.as_ref()[..CODE_BYTES]].concat()
    }

    fn probes() -> ProbeGate {
        let probes = ProbeGate::default();
        probes.expect([(WORD, [1; 32]), (OTHER_WORD, [2; 32])].into_iter());
        probes
    }

    fn question(number: u64) -> Vec<u8> {
        probe(1, WORD, number, [1; 32])
    }

    fn answer(number: u64) -> Vec<u8> {
        probe(2, WORD, number, [1; 32])
    }

    #[test]
    fn what_names_a_pair_has_to_bear_its_code() {
        let (probes, now) = (probes(), Instant::now());
        assert_eq!(probes.judge(&question(5), now), Verdict::Question);
        assert_eq!(probes.judge(&probe(1, WORD, 6, [2; 32]), now), Verdict::Refused, "another pair's");
        assert_eq!(probes.judge(&probe(1, [9; 8], 6, [1; 32]), now), Verdict::Other, "of nobody");
        assert_eq!(probes.judge(b"mp\x01\x01", now), Verdict::Other);
        let whole = question(7);
        for at in 0..whole.len() {
            assert_ne!(probes.judge(&whole[..at], now), Verdict::Question, "cut short at {at}");
            let mut changed = whole.clone();
            changed[at] ^= 0x80;
            assert_ne!(probes.judge(&changed, now), Verdict::Question, "changed at {at}");
        }
        assert_eq!(probes.judge(&[&whole[..], &[0; 900]].concat(), now), Verdict::Question, "a long one");
    }

    #[test]
    fn one_that_is_sent_again_and_again_counts_a_few_times() {
        let (probes, now) = (probes(), Instant::now());
        let taken = (0..100_000).filter(|_| probes.judge(&question(5), now) == Verdict::Question).count();
        assert_eq!(taken, PROBE_COPIES);
        assert_eq!(probes.judge(&question(6), now), Verdict::Question, "the next one");
        probes.expect([(WORD, [1; 32])].into_iter());
        assert_eq!(probes.judge(&question(5), now), Verdict::Refused, "also when other pairs come and go");
    }

    #[test]
    fn only_what_was_asked_is_answered() {
        let (probes, now) = (probes(), Instant::now());
        assert_eq!(probes.judge(&answer(5), now), Verdict::Refused);
        probes.sent(&question(5));
        probes.sent(b"mp\x01\x01 too short");
        let taken = (0..1_000).filter(|_| probes.judge(&answer(5), now) == Verdict::Answer).count();
        assert_eq!(taken, PROBE_COPIES);
        let of_other = probe(2, OTHER_WORD, 5, [2; 32]);
        assert_eq!(probes.judge(&of_other, now), Verdict::Answer, "each pair for itself");
        (0..ASKED_KEPT as u64).for_each(|number| probes.sent(&question(1_000 + number)));
        assert_eq!(probes.judge(&probe(2, OTHER_WORD, 5, [2; 32]), now), Verdict::Refused, "long ago");
    }

    #[test]
    fn old_questions_of_one_pair_take_nothing_from_another_one() {
        let (probes, now) = (probes(), Instant::now());
        let flood = (0..2 * QUESTIONS_KEPT as u64).map(question);
        let taken = flood.filter(|each| probes.judge(each, now) == Verdict::Question).count();
        assert_eq!(taken, QUESTIONS_PER_SECOND as usize);
        let of_other = probe(1, OTHER_WORD, 5, [2; 32]);
        assert_eq!(probes.judge(&of_other, now), Verdict::Question);
        assert_eq!(probes.judge(&question(9_999_999), now + PERIOD), Verdict::Question, "a second later");
    }
}
