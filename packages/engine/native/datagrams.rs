//! Datagrams on the socket that are no WireGuard, for the application: the first bytes of each, bounded in number.
use crate::limits::{MAX_DATAGRAMS, MAX_KEPT_BYTES};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::net::SocketAddr;

pub struct Datagram {
    pub from: SocketAddr,
    /// How long it was on the wire.
    pub len: usize,
    /// Its beginning, at most `MAX_KEPT_BYTES`: what a probe of a long packet says stands there.
    pub bytes: Vec<u8>,
}

#[derive(Default)]
pub struct Datagrams(Mutex<VecDeque<Datagram>>);

impl Datagrams {
    /// False: too many wait.
    pub fn push(&self, from: SocketAddr, datagram: &[u8]) -> bool {
        let mut waiting = self.0.lock();
        if waiting.len() >= MAX_DATAGRAMS {
            return false;
        }
        let bytes = datagram[..datagram.len().min(MAX_KEPT_BYTES)].to_vec();
        waiting.push_back(Datagram { from, len: datagram.len(), bytes });
        true
    }

    pub fn take(&self) -> Vec<Datagram> {
        self.0.lock().drain(..).collect()
    }
}
