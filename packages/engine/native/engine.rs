//! One device, one identity, one table, and the threads that carry packets between them and the peers' streams.
use crate::counters::{Counters, Reason};
use crate::device::{Bell, Device};
use crate::events::{Event, Events};
use crate::inbound::{Inbound, Work};
use crate::outbound::Outbound;
use crate::packet::parse;
use crate::peer::{Keys, Peer};
use crate::sessions::{Identity, Key};
use crate::table::{Current, Entry, Prefix, Table, Way};
use crate::timers::{self, Nap};
use crate::{carry, limits};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread::JoinHandle;

/// What the threads share.
pub struct Shared {
    pub device: Device,
    pub identity: Identity,
    pub table: Current,
    pub events: Events,
    pub work: Work,
    pub nap: Nap,
    pub bell: Bell,
    /// What belongs to no peer.
    pub counters: Counters,
    stop: AtomicBool,
}

impl Shared {
    pub fn stopping(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Queues frames for a peer's stream and tells the application once; `frames` is empty afterwards.
    pub fn queue(&self, entry: &Entry, frames: &mut Vec<u8>, urgent: bool) {
        if frames.is_empty() {
            return;
        }
        let pushed = entry.peer.outgoing.push(frames, urgent);
        entry.peer.counters.drop_many(Reason::CarryFull, pushed.dropped);
        if pushed.announce {
            self.events.carry(entry.peer.id);
        }
    }

    /// Runs a thread's work; its end, however it comes, is told and takes nothing else down.
    fn guard(&self, work: impl FnOnce(&Shared) -> Result<(), String>) {
        let result = catch_unwind(AssertUnwindSafe(|| work(self)));
        let message = match result {
            Ok(Ok(())) => return,
            Ok(Err(_)) if self.stopping() => return,
            Ok(Err(message)) => message,
            Err(_) => "a thread of the engine ended by a defect".into(),
        };
        self.events.push(Event::Failed { message });
    }
}

/// One peer as the application names it.
pub struct PeerConfig {
    /// Stays with the peer over all tables.
    pub id: u32,
    /// None: a plain peer.
    pub keys: Option<Keys>,
    pub allowed: Vec<Prefix>,
    pub mtu: u16,
}

pub struct Engine {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Engine {
    /// `wake` is called from any thread when `poll` has something; it must not block.
    pub fn start(device: Device, private_key: Key, wake: Box<dyn Fn() + Send + Sync>) -> io::Result<Engine> {
        let shared = Arc::new(Shared {
            device,
            identity: Identity::new(private_key),
            table: Current::default(),
            events: Events::new(wake),
            work: Work::default(),
            nap: Nap::default(),
            bell: Bell::new()?,
            counters: Counters::default(),
            stop: AtomicBool::new(false),
        });
        let mut engine = Engine { shared, threads: Vec::with_capacity(3) };
        engine.thread("mesh-out", |shared| Outbound::new(shared).run())?;
        engine.thread("mesh-in", |shared| Inbound::new(shared).run())?;
        engine.thread("mesh-timers", timers::run)?;
        Ok(engine)
    }

    fn thread(&mut self, name: &str, work: fn(&Shared) -> Result<(), String>) -> io::Result<()> {
        let shared = self.shared.clone();
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || shared.guard(work))?;
        self.threads.push(thread);
        Ok(())
    }

    pub fn public_key(&self) -> Key {
        self.shared.identity.public_key()
    }

    pub fn device(&self) -> &Device {
        &self.shared.device
    }

    pub fn events(&self) -> &Events {
        &self.shared.events
    }

    pub fn counters(&self) -> &Counters {
        &self.shared.counters
    }

    pub fn table(&self) -> Arc<Table> {
        self.shared.table.get()
    }

    /// Swaps in a new table. A peer with the same id and key keeps its sessions, queues and counters.
    pub fn set_table(&self, peers: Vec<PeerConfig>, local: &[Prefix]) {
        let before = self.shared.table.get();
        let entries = peers.into_iter().map(|config| {
            let peer = keep_or_make(before.entry(config.id), &config);
            let way = if config.keys.is_some() { Way::Stream } else { Way::Plain };
            let mtu = config.mtu.max(limits::MIN_MTU) as usize;
            (Entry { peer, way, mtu }, config.allowed)
        });
        self.shared.table.set(Table::new(entries.collect(), local));
    }

    /// The next batch of whole frames for the peer's stream.
    pub fn take(&self, peer: u32) -> Option<Vec<u8>> {
        self.table().entry(peer)?.peer.outgoing.take()
    }

    /// Takes the next bytes of the peer's stream, cut anywhere. They are copied. False: crowded.
    pub fn inject(&self, peer: u32, bytes: &[u8]) -> bool {
        let table = self.table();
        let Some(entry) = table.entry(peer) else {
            self.shared.counters.drop(Reason::UnknownPeer);
            return true;
        };
        if entry.way != Way::Stream {
            entry.peer.counters.drop(Reason::NotSealed);
            return true;
        }
        let fed = entry.peer.incoming.feed(bytes);
        self.fed(&entry.peer, fed)
    }

    /// Takes whole packets, one behind the other, that came unsealed from a plain peer. They are copied.
    pub fn inject_plain(&self, peer: u32, mut bytes: &[u8]) {
        let table = self.table();
        let Some(entry) = table.entry(peer) else { return self.shared.counters.drop(Reason::UnknownPeer) };
        if entry.way != Way::Plain {
            return entry.peer.counters.drop(Reason::NotSealed);
        }
        let mut batch = Vec::with_capacity(bytes.len() + 64);
        while !bytes.is_empty() {
            let Ok(ip) = parse(bytes) else {
                entry.peer.counters.drop(Reason::Malformed);
                break;
            };
            let (packet, rest) = bytes.split_at(ip.len);
            carry::push_frame(&mut batch, packet);
            bytes = rest;
        }
        let fed = entry.peer.incoming.feed_whole(&batch);
        self.fed(&entry.peer, fed);
    }

    fn fed(&self, peer: &Arc<Peer>, fed: carry::Fed) -> bool {
        peer.counters.drop_many(Reason::InjectFull, fed.dropped);
        peer.counters.drop_many(Reason::BadFrame, fed.bad);
        if fed.announce {
            self.shared.work.announce(peer.clone());
        }
        if fed.broken {
            self.shared.events.push(Event::Broken { peer: peer.id });
        }
        !fed.crowded
    }

    /// The peer's stream was replaced: both directions begin with a whole frame, and a handshake that was under
    /// way on the old one begins anew.
    pub fn restart(&self, peer: u32) {
        let table = self.table();
        let Some(entry) = table.entry(peer) else { return };
        entry.peer.incoming.restart();
        let stale = entry.peer.outgoing.clear();
        entry.peer.counters.drop_many(Reason::Stale, stale);
        let mut frames = Vec::new();
        let mut link = entry.peer.link();
        if link.is_waiting()
            && let Some(tunnel) = link.existing()
        {
            tunnel.initiate(true, &mut frames);
        }
        drop(link);
        self.shared.queue(entry, &mut frames, true);
    }
}

fn keep_or_make(before: Option<&Entry>, config: &PeerConfig) -> Arc<Peer> {
    let Some(known) = before.map(|entry| &entry.peer) else {
        return Arc::new(Peer::new(config.id, config.keys));
    };
    if known.keys == config.keys {
        return known.clone();
    }
    let peer = Peer::new(config.id, config.keys);
    if let (Some(old), Some(new)) = (known.keys, config.keys)
        && old.public == new.public
    {
        peer.live.store(known.live.load(Relaxed), Relaxed);
        peer.link().inherit(&mut known.link(), new.preshared);
    }
    Arc::new(peer)
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        self.shared.bell.ring();
        self.shared.work.interrupt();
        self.shared.nap.interrupt();
        for thread in self.threads.drain(..) {
            // a thread that ended by a defect has told so
            let _ = thread.join();
        }
    }
}
