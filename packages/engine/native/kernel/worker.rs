//! The thread of the kernel's engine: streams, probes, and twice a second a look at what the kernel does.
use super::relay::RelayMemory;
use super::shared::Shared;
use super::{FIRST_PEER, LINKS, PROBES};
use crate::events::Event;
use crate::limits::*;
use crate::poll::BELL;
use crate::sockets::{OWN, Source};
use std::sync::atomic::Ordering::*;
use std::time::{Duration, Instant};

/// How often the kernel is asked what its peers do: it tells nothing by itself.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The work of the thread.
pub struct Worker<'a> {
    shared: &'a Shared,
    memory: RelayMemory,
    batch: Vec<u8>,
    looked_at: Instant,
}

impl<'a> Worker<'a> {
    pub fn new(shared: &'a Shared) -> Worker<'a> {
        Worker { shared, memory: RelayMemory::default(), batch: Vec::new(), looked_at: Instant::now() }
    }

    pub fn run(mut self) {
        while !self.shared.stop.load(Relaxed) {
            let left = LOOK_EVERY.saturating_sub(self.looked_at.elapsed());
            for what in self.shared.poll.wait(left) {
                match what {
                    BELL => self.streams(),
                    PROBES => self.probes(),
                    LINKS => self.links(),
                    peer => self.kernel((peer - FIRST_PEER) as u32),
                }
            }
            if self.looked_at.elapsed() >= LOOK_EVERY && !self.shared.stop.load(Relaxed) {
                self.shared.look();
                self.looked_at = Instant::now();
            }
        }
    }

    fn streams(&mut self) {
        let work = std::mem::take(&mut *self.shared.work.lock());
        for relay in work {
            relay.write_kernel(&mut self.batch, &self.shared.events);
        }
    }

    fn kernel(&mut self, peer: u32) {
        if let Some(relay) = self.shared.relay(peer) {
            // what is left is told again by the next wait
            relay.read_kernel(&mut self.memory, &self.shared.events);
        }
    }

    fn links(&mut self) {
        if let Some(links) = &self.shared.links {
            self.shared.events.links(links.read());
        }
    }

    fn probes(&mut self) {
        let Some(probes) = &self.shared.probes else { return };
        let shared = self.shared;
        let mut buffer = std::mem::take(&mut self.batch);
        buffer.resize(MAX_PACKET_BYTES, 0);
        for _ in 0..MAX_DATAGRAMS {
            let Some((from, datagram)) = probes.receive(&mut buffer) else { break };
            match shared.datagrams.accept(Source { address: from, socket: OWN }, datagram) {
                Ok(()) => shared.events.tell(Event::Datagrams, 0),
                Err(reason) => shared.counters.drop_one(reason),
            }
        }
        self.batch = buffer;
    }
}
