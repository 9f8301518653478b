//! Datagrams on the socket that are no WireGuard, for the application: the first bytes of each, bounded in number. Probes
//! of paths go by bounds of their own, so that no flood of others holds them up.
use crate::counters::Reason;
use crate::limits::*;
use crate::probe_gate::{ProbeGate, Verdict};
use crate::sockets::Source;
use crate::source_limits::SourceLimits;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::time::Instant;

pub struct Datagram {
    pub from: Source,
    /// How long it was on the wire.
    pub len: usize,
    /// Its beginning, at most `MAX_KEPT_BYTES`: what a probe of a long packet says stands there.
    pub bytes: Vec<u8>,
}

pub struct Datagrams {
    pub probes: ProbeGate,
    /// Bounds of the probes of paths that others begin.
    questions: SourceLimits,
    /// Of those that come from where their senders are known to be.
    known_questions: SourceLimits,
    /// Those of all that is no probe.
    others: SourceLimits,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    /// Those that no stranger can send as many of as he likes.
    known: VecDeque<Datagram>,
    questions: VecDeque<Datagram>,
    others: VecDeque<Datagram>,
}

impl Default for Datagrams {
    fn default() -> Datagrams {
        Datagrams {
            probes: ProbeGate::default(),
            questions: SourceLimits::new(QUESTIONS_PER_SOURCE, DATAGRAMS_PER_SECOND),
            known_questions: SourceLimits::new(QUESTIONS_PER_SOURCE, DATAGRAMS_PER_SECOND),
            others: SourceLimits::new(DATAGRAMS_PER_SOURCE, DATAGRAMS_PER_SECOND),
            waiting: Mutex::default(),
        }
    }
}

impl Datagrams {
    /// Takes one that came, or says why it is dropped.
    pub fn accept(&self, from: Source, datagram: &[u8]) -> Result<(), Reason> {
        let now = Instant::now();
        let verdict = self.probes.judge(from, datagram, now);
        let has_room = match verdict {
            Verdict::Refused => return Err(Reason::ProbeRefused),
            Verdict::Answer => true,
            Verdict::KnownQuestion => self.known_questions.take(from.address, now),
            Verdict::Question => self.questions.take(from.address, now),
            Verdict::Other => self.others.take(from.address, now),
        };
        let mut waiting = self.waiting.lock();
        let queue = match verdict {
            Verdict::Other => &mut waiting.others,
            Verdict::Question => &mut waiting.questions,
            _ => &mut waiting.known,
        };
        if !has_room || queue.len() >= MAX_DATAGRAMS {
            return Err(Reason::DatagramLimit);
        }
        let bytes = datagram[..datagram.len().min(MAX_KEPT_BYTES)].to_vec();
        queue.push_back(Datagram { from, len: datagram.len(), bytes });
        Ok(())
    }

    /// All that wait, probes first.
    pub fn take(&self) -> Vec<Datagram> {
        let mut waiting = self.waiting.lock();
        let Waiting { known, questions, others } = &mut *waiting;
        known.drain(..).chain(questions.drain(..)).chain(others.drain(..)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe_gate::ProbePair;
    use crate::probe_gate::tests::{pair, probe};
    use crate::sockets::OWN;
    use std::net::SocketAddr;

    fn from(at: u32) -> Source {
        let address = SocketAddr::new((0x0a00_0000 + at).to_be_bytes().into(), 7);
        Source { address, socket: OWN }
    }

    #[test]
    fn no_flood_of_overheard_questions_holds_up_those_from_where_their_senders_are_known_to_be() {
        let datagrams = Datagrams::default();
        let words = (0..20u8).map(|at| [at; 8]);
        for word in words.clone() {
            datagrams
                .probes
                .expect(ProbePair { told: vec![from(word[0].into()).address], ..pair(word, word_key(word)) });
        }
        let mut refused = 0;
        for (at, word) in words.clone().cycle().take(6_000).enumerate() {
            let overheard = probe(1, word, at as u64, word_key(word));
            refused += datagrams.accept(from(1_000 + at as u32), &overheard).is_err() as usize;
        }
        assert!(refused > 0, "no flood");
        for word in words.clone() {
            let own = probe(1, word, 1_000_000, word_key(word));
            assert!(datagrams.accept(from(word[0].into()), &own).is_ok());
        }
        let first: Vec<_> = datagrams.take().into_iter().take(20).map(|each| each.from).collect();
        assert_eq!(first, words.map(|word| from(word[0].into())).collect::<Vec<_>>());
    }

    fn word_key(word: [u8; 8]) -> [u8; 32] {
        [word[0]; 32]
    }
}
