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
    /// Those of all that is no probe.
    others: SourceLimits,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    probes: VecDeque<Datagram>,
    others: VecDeque<Datagram>,
}

impl Default for Datagrams {
    fn default() -> Datagrams {
        Datagrams {
            probes: ProbeGate::default(),
            questions: SourceLimits::new(QUESTIONS_PER_SOURCE, DATAGRAMS_PER_SECOND),
            others: SourceLimits::new(DATAGRAMS_PER_SOURCE, DATAGRAMS_PER_SECOND),
            waiting: Mutex::default(),
        }
    }
}

impl Datagrams {
    /// Takes one that came, or says why it is dropped.
    pub fn accept(&self, from: Source, datagram: &[u8]) -> Result<(), Reason> {
        let now = Instant::now();
        let verdict = self.probes.judge(datagram, now);
        let has_room = match verdict {
            Verdict::Refused => return Err(Reason::ProbeRefused),
            Verdict::Answer => true,
            Verdict::Question => self.questions.take(from.address, now),
            Verdict::Other => self.others.take(from.address, now),
        };
        let mut waiting = self.waiting.lock();
        let queue = if verdict == Verdict::Other { &mut waiting.others } else { &mut waiting.probes };
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
        let Waiting { probes, others } = &mut *waiting;
        probes.drain(..).chain(others.drain(..)).collect()
    }
}
