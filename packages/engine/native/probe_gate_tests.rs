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
fn taken(probes: &ProbeGate, copies: usize, (from, datagram): (Source, &[u8]), verdict: Verdict) -> usize {
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
    let answers = |copies, from, datagram: &[u8]| taken(&probes, copies, (from, datagram), Verdict::Answer);
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
    (0..ASKED_KEPT as u64).for_each(|number| probes.sent(at(1), &probe(1, THEIRS, 100 + number, [3; 32])));
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
