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

#[derive(Default)]
pub struct Datagrams {
    pub probes: ProbeGate,
    /// Probes of paths that come from where their senders are known to be, and answers, which are no more than were asked.
    known: Kind<QUESTIONS_PER_SOURCE>,
    /// Probes of paths that others begin.
    questions: Kind<QUESTIONS_PER_SOURCE>,
    others: Kind<DATAGRAMS_PER_SOURCE>,
}

/// Those of one kind that wait, with a bound for each address.
struct Kind<const PER_SOURCE: u32> {
    limits: SourceLimits,
    waiting: Mutex<VecDeque<Datagram>>,
}

impl<const PER_SOURCE: u32> Default for Kind<PER_SOURCE> {
    fn default() -> Self {
        Kind { limits: SourceLimits::new(PER_SOURCE, DATAGRAMS_PER_SECOND), waiting: Mutex::default() }
    }
}

impl<const PER_SOURCE: u32> Kind<PER_SOURCE> {
    fn accept(&self, from: Source, datagram: &[u8], has_room: bool) -> Result<(), Reason> {
        let mut waiting = self.waiting.lock();
        if !has_room || waiting.len() >= MAX_DATAGRAMS {
            return Err(Reason::DatagramLimit);
        }
        let bytes = datagram[..datagram.len().min(MAX_KEPT_BYTES)].to_vec();
        waiting.push_back(Datagram { from, len: datagram.len(), bytes });
        Ok(())
    }
}

impl Datagrams {
    /// Takes one that came, or says why it is dropped.
    pub fn accept(&self, from: Source, datagram: &[u8]) -> Result<(), Reason> {
        let now = Instant::now();
        let Datagrams { probes, known, questions, others } = self;
        match probes.judge(from, datagram, now) {
            Verdict::Refused => Err(Reason::ProbeRefused),
            Verdict::Answer => known.accept(from, datagram, true),
            Verdict::KnownQuestion => known.accept(from, datagram, known.limits.take(from.address, now)),
            Verdict::Question => questions.accept(from, datagram, questions.limits.take(from.address, now)),
            Verdict::Other => others.accept(from, datagram, others.limits.take(from.address, now)),
        }
    }

    /// All that wait, probes first.
    pub fn take(&self) -> Vec<Datagram> {
        let mut taken = Vec::from(std::mem::take(&mut *self.known.waiting.lock()));
        taken.extend(self.questions.waiting.lock().drain(..));
        taken.extend(self.others.waiting.lock().drain(..));
        taken
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
