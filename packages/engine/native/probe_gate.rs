//! Probes of paths, as the application makes them (docs/PROTOCOLS.md, 'Paths over UDP'). They go before all other datagrams
//! that are no WireGuard, and whoever is on the way can read which pair of peers they name, and send them again from
//! anywhere, before they arrive themselves. So only what bears the pair's code is one:
//!
//! - an answer counts once, from the address that was asked;
//! - a question counts once from each address at which the other end is known to be: where it says so itself, or answered;
//! - from all other addresses together it counts a few times, until it came from a known one, by bounds that leave those
//!   theirs.
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
pub mod tests {
    use super::*;
    use crate::sockets::OWN;

    const WORD: Word = [7; 8];
    const OTHER_WORD: Word = [8; 8];
    const THEIRS: Word = [17; 8];
    const OTHERS: Word = [18; 8];

    /// A probe as the application makes it: of a kind (1 a question, 2 an answer), with a number.
    pub fn probe(kind: u8, word: Word, number: u64, key: ProbeKey) -> Vec<u8> {
        let rest = [0; 20];
        let rest = &rest[..if kind == 1 { 6 } else { 20 }];
        let content = [MAGIC, &[kind], &word, &number.to_be_bytes(), rest].concat();
        let code = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), &content);
        [&content, &code.as_ref()[..CODE_BYTES]].concat()
    }

    pub fn pair(word: Word, key: ProbeKey) -> ProbePair {
        ProbePair { word, their_word: word.map(|byte| byte.wrapping_add(10)), key, told: Vec::new() }
    }

    fn at(last: u8) -> Source {
        Source { address: SocketAddr::new([192, 0, 2, last].into(), 4_711), socket: OWN }
    }

    /// The other end of the first pair says that it is at the address with 1.
    fn probes() -> ProbeGate {
        let probes = ProbeGate::default();
        probes.expect(ProbePair { told: vec![at(1).address], ..pair(WORD, [1; 32]) });
        probes.expect(pair(OTHER_WORD, [2; 32]));
        probes
    }

    fn question(number: u64) -> Vec<u8> {
        probe(1, WORD, number, [1; 32])
    }

    fn answer(number: u64) -> Vec<u8> {
        probe(2, WORD, number, [1; 32])
    }

    /// How many of so many copies are taken for this.
    fn taken(
        probes: &ProbeGate,
        copies: usize,
        (from, datagram): (Source, &[u8]),
        verdict: Verdict,
    ) -> usize {
        let now = Instant::now();
        (0..copies).filter(|_| probes.judge(from, datagram, now) == verdict).count()
    }

    #[test]
    fn what_names_a_pair_has_to_bear_its_code() {
        let (probes, now) = (probes(), Instant::now());
        let judge = |datagram: &[u8]| probes.judge(at(9), datagram, now);
        assert_eq!(judge(&question(5)), Verdict::Question);
        assert_eq!(judge(&probe(1, WORD, 6, [2; 32])), Verdict::Refused, "another pair's");
        assert_eq!(judge(&probe(1, [9; 8], 6, [1; 32])), Verdict::Other, "of nobody");
        assert_eq!(judge(b"mp\x01\x01"), Verdict::Other);
        let whole = question(7);
        for at in 0..whole.len() {
            assert_ne!(judge(&whole[..at]), Verdict::Question, "cut short at {at}");
            let mut changed = whole.clone();
            changed[at] ^= 0x80;
            assert_ne!(judge(&changed), Verdict::Question, "changed at {at}");
        }
    }

    #[test]
    fn one_that_is_sent_again_and_again_counts_a_few_times() {
        let probes = probes();
        assert_eq!(taken(&probes, 100_000, (at(9), &question(5)), Verdict::Question), PROBE_COPIES);
        assert_eq!(taken(&probes, 1, (at(9), &question(6)), Verdict::Question), 1, "the next one");
        probes.expect(pair(WORD, [1; 32]));
        let again = taken(&probes, 1, (at(9), &question(5)), Verdict::Refused);
        assert_eq!(again, 1, "also when it is told anew of the pair");
        probes.forget(WORD);
        assert_eq!(taken(&probes, 1, (at(9), &question(8)), Verdict::Other), 1, "it is expected no more");
    }

    #[test]
    fn one_that_was_overheard_and_sent_before_it_keeps_none_from_where_the_other_end_is_known_to_be() {
        let probes = probes();
        for from in 20..250 {
            taken(&probes, 8, (at(from), &question(5)), Verdict::Question);
        }
        assert_eq!(taken(&probes, 8, (at(1), &question(5)), Verdict::KnownQuestion), 1, "where it says");
        // it answers from an address that it never told
        probes.sent(at(2), &probe(1, THEIRS, 77, [3; 32]));
        assert_eq!(taken(&probes, 8, (at(2), &answer(77)), Verdict::Answer), 1);
        for from in 20..250 {
            taken(&probes, 8, (at(from), &question(6)), Verdict::Question);
        }
        assert_eq!(taken(&probes, 8, (at(2), &question(6)), Verdict::KnownQuestion), 1, "where it answered");
        assert_eq!(taken(&probes, 8, (at(9), &question(7)), Verdict::Question), PROBE_COPIES);
        assert_eq!(taken(&probes, 1, (at(1), &question(8)), Verdict::KnownQuestion), 1);
        assert_eq!(taken(&probes, 8, (at(9), &question(8)), Verdict::Refused), 8, "after it came");
        let by_other = Source { socket: 4_000, ..at(2) };
        assert_eq!(taken(&probes, 8, (by_other, &question(6)), Verdict::KnownQuestion), 1, "by each socket");
        assert_eq!(taken(&probes, 8, (at(2), &probe(1, OTHER_WORD, 6, [2; 32])), Verdict::KnownQuestion), 0);
    }

    #[test]
    fn a_part_of_a_question_does_not_stand_for_it_nor_does_a_longer_one() {
        let probes = probes();
        let content = [MAGIC, &[1], &WORD, &5u64.to_be_bytes(), &1_452u16.to_be_bytes(), &[0; 4]].concat();
        let code = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &[1; 32]), &content);
        let mut whole = [&content, &code.as_ref()[..CODE_BYTES]].concat();
        whole.resize(1_452, 0);
        for from in [at(1), at(9)] {
            for len in [42, 64, 1_451] {
                assert_eq!(taken(&probes, 9, (from, &whole[..len]), Verdict::Refused), 9, "{len}");
            }
            let longer = [&whole[..], &[0]].concat();
            assert_eq!(taken(&probes, 9, (from, &longer), Verdict::Refused), 9);
        }
        assert_eq!(taken(&probes, 1, (at(1), &whole), Verdict::KnownQuestion), 1);
    }

    #[test]
    fn only_what_was_asked_is_answered_and_only_from_there() {
        let probes = probes();
        let answers =
            |copies, from, datagram: &[u8]| taken(&probes, copies, (from, datagram), Verdict::Answer);
        assert_eq!(answers(1, at(1), &answer(5)), 0);
        let mapped = SocketAddr::new("::ffff:192.0.2.1".parse().unwrap(), 4_711);
        probes.sent(Source { address: mapped, ..at(1) }, &probe(1, THEIRS, 5, [3; 32]));
        probes.sent(at(1), b"mp\x01\x01 too short");
        assert_eq!(answers(1_000, at(9), &answer(5)), 0, "from elsewhere");
        assert_eq!(answers(1_000, Source { socket: 4_000, ..at(1) }, &answer(5)), 0, "to another socket");
        assert_eq!(answers(1_000, at(1), &probe(2, WORD, 5, [2; 32])), 0, "without the code");
        assert_eq!(answers(1_000, at(1), &probe(2, OTHER_WORD, 5, [2; 32])), 0, "of another peer");
        assert_eq!(answers(1_000, at(1), &answer(5)), 1);
        probes.sent(at(1), &probe(1, OTHERS, 6, [3; 32]));
        (0..ASKED_KEPT as u64)
            .for_each(|number| probes.sent(at(1), &probe(1, THEIRS, 100 + number, [3; 32])));
        assert_eq!(answers(1, at(1), &probe(2, OTHER_WORD, 6, [2; 32])), 0, "long ago");
    }

    #[test]
    fn old_questions_of_one_pair_take_nothing_from_another_one_nor_from_where_it_is_known_to_be() {
        let (probes, now) = (probes(), Instant::now());
        let flood = (0..2 * QUESTIONS_KEPT as u64).map(question);
        let taken = flood.filter(|each| probes.judge(at(9), each, now) == Verdict::Question).count();
        assert_eq!(taken, QUESTIONS_PER_SECOND as usize);
        let of_other = probe(1, OTHER_WORD, 5, [2; 32]);
        assert_eq!(probes.judge(at(9), &of_other, now), Verdict::Question);
        assert_eq!(probes.judge(at(1), &question(9_999_998), now), Verdict::KnownQuestion);
        assert_eq!(probes.judge(at(9), &question(9_999_999), now + PERIOD), Verdict::Question, "later");
    }

    #[test]
    fn addresses_that_answered_are_bounded_and_the_latest_ones_stay() {
        let probes = probes();
        let ask = |from: Source, number| {
            probes.sent(from, &probe(1, THEIRS, number, [3; 32]));
            assert_eq!(taken(&probes, 1, (from, &answer(number)), Verdict::Answer), 1);
        };
        for other in 0..4 * ANSWERED_KEPT as u64 {
            ask(at(30 + other as u8), 1_000 + other);
            ask(at(2), 2_000 + other);
        }
        assert_eq!(taken(&probes, 1, (at(2), &question(1)), Verdict::KnownQuestion), 1);
        assert_eq!(taken(&probes, 1, (at(30), &question(2)), Verdict::Question), 1, "long ago");
        assert_eq!(probes.pairs.read()[&WORD].came.lock().answered.len(), ANSWERED_KEPT);
    }
}
