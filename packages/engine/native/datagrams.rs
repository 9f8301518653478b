//! Datagrams on the socket that are no WireGuard, for the application: the first bytes of each, bounded in number. Those
//! that name a word which the application expects go by a bound of their own, so that no flood of others holds them up.
use crate::limits::{MAX_DATAGRAMS, MAX_KEPT_BYTES};
use crate::sockets::Source;
use parking_lot::{Mutex, RwLock};
use std::collections::{HashSet, VecDeque};

/// A word that an expected datagram has behind its first four bytes.
pub type Word = [u8; 8];
const WORD_AT: usize = 4;

pub struct Datagram {
    pub from: Source,
    /// How long it was on the wire.
    pub len: usize,
    /// Its beginning, at most `MAX_KEPT_BYTES`: what a probe of a long packet says stands there.
    pub bytes: Vec<u8>,
}

#[derive(Default)]
pub struct Datagrams {
    expected: RwLock<HashSet<Word>>,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    expected: VecDeque<Datagram>,
    others: VecDeque<Datagram>,
}

impl Datagrams {
    pub fn expect(&self, words: HashSet<Word>) {
        *self.expected.write() = words;
    }

    pub fn is_expected(&self, datagram: &[u8]) -> bool {
        let word = datagram.get(WORD_AT..).and_then(|rest| rest.first_chunk::<8>());
        word.is_some_and(|word| self.expected.read().contains(word))
    }

    /// False: too many wait.
    pub fn push(&self, from: Source, datagram: &[u8], expected: bool) -> bool {
        let mut waiting = self.waiting.lock();
        let queue = if expected { &mut waiting.expected } else { &mut waiting.others };
        if queue.len() >= MAX_DATAGRAMS {
            return false;
        }
        let bytes = datagram[..datagram.len().min(MAX_KEPT_BYTES)].to_vec();
        queue.push_back(Datagram { from, len: datagram.len(), bytes });
        true
    }

    /// All that wait, the expected ones first.
    pub fn take(&self) -> Vec<Datagram> {
        let mut waiting = self.waiting.lock();
        let Waiting { expected, others } = &mut *waiting;
        expected.drain(..).chain(others.drain(..)).collect()
    }
}
