//! One device, one identity, one table, and the threads that carry packets between them and the peers' streams.
use crate::carrier::Carrier;
use crate::counters::{Counters, Reason};
use crate::datagrams::Datagrams;
use crate::device::{Device, Waker};
use crate::events::{Event, Events};
use crate::filter::{Filter, Refused, Rules, RulesChange};
use crate::from_socket::FromSocket;
use crate::inbound::Inbound;
use crate::interface::{self, Interface, OpenError, Routes};
use crate::kernel::netlink::Wire;
use crate::link_watch::LinkWatch;
use crate::outbound::Outbound;
use crate::packet::parse;
use crate::peer::{Peer, Tunnel};
use crate::peer_config::PeerConfig;
use crate::restore::{Restored, Wanted, restore};
use crate::sessions::{Identity, Key};
use crate::shared::Shared;
use crate::socket::SocketConfig;
use crate::sockets::{Sockets, Source};
use crate::source_limits::SocketLimits;
use crate::table::{Current, Entry, Prefix, Table};
use crate::waiting::Waiting;
use crate::work::Work;
use crate::{change, limits, queues, socket, timers};
use netlink_sys::protocols::NETLINK_ROUTE;
use parking_lot::Mutex;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread::JoinHandle;
use zeroize::Zeroize;

pub struct Engine {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    routes: Mutex<Routes>,
}

impl Engine {
    /// `wake` is called from any thread when `poll` has something; it must not block. Without `socket` all goes over
    /// streams; with it there are as many sockets on its port as the device has queues, each with a thread each way.
    pub fn start(
        device: Device,
        mut private_key: Key,
        socket: Option<SocketConfig>,
        wake: Box<dyn Fn() + Send + Sync>,
    ) -> io::Result<Engine> {
        let identity = Identity::new(private_key);
        private_key.zeroize();
        let queues = device.queue_count();
        let shared = Arc::new(Shared {
            device,
            identity,
            table: Current::default(),
            filter: Filter::default(),
            events: Events::new(wake),
            work: Work::default(),
            sockets: socket.map(|config| open_sockets(config, queues)).transpose()?,
            source_limits: SocketLimits::default(),
            datagrams: Datagrams::default(),
            waker: Waker::new()?,
            waiting: Waiting::default(),
            counters: Counters::default(),
            stop: AtomicBool::new(false),
        });
        let mut engine = Engine { shared, threads: Vec::new(), routes: Mutex::default() };
        for queue in 0..queues {
            engine.thread("mesh-out", move |shared| Outbound::new(shared, queue).run())?;
        }
        engine.thread("mesh-in", |shared| Inbound::new(shared).run())?;
        for queue in 0..engine.shared.sockets.as_ref().map_or(0, Sockets::own_count) {
            engine.thread("mesh-udp", move |shared| match &shared.sockets {
                Some(sockets) => FromSocket::new(shared, sockets, queue).run(),
                None => Ok(()),
            })?;
        }
        engine.thread("mesh-timers", timers::run)?;
        if let Some(index) = engine.index().transpose()? {
            let watch = LinkWatch::open(index)?;
            engine.thread("mesh-links", move |shared| {
                watch_links(shared, &watch);
                Ok(())
            })?;
        }
        Ok(engine)
    }

    fn thread<Work>(&mut self, name: &str, work: Work) -> io::Result<()>
    where
        Work: FnOnce(&Shared) -> Result<(), String> + Send + 'static,
    {
        let shared = self.shared.clone();
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || shared.guard(work))?;
        self.threads.push(thread);
        Ok(())
    }

    /// The interface's index; none of a memory device.
    fn index(&self) -> Option<io::Result<u32>> {
        self.shared.device.interface().map(|interface| interface.if_index())
    }

    pub fn counters(&self) -> &Counters {
        &self.shared.counters
    }

    pub fn table(&self) -> Arc<Table> {
        self.shared.table.get()
    }

    fn fed(&self, peer: &Arc<Peer>, fed: queues::Fed) -> bool {
        peer.counters.drop_many(Reason::InboundFull, fed.dropped);
        peer.counters.drop_many(Reason::BadFrame, fed.bad);
        if fed.announce {
            self.shared.work.announce(peer.clone());
        }
        if fed.broken {
            self.shared.events.tell(Event::Broken, peer.id);
        }
        !fed.crowded
    }
}

impl Carrier for Engine {
    fn public_key(&self) -> Key {
        self.shared.identity.public_key()
    }

    fn interface(&self) -> io::Result<Interface> {
        interface::describe(&self.shared.device)
    }

    fn events(&self) -> &Events {
        &self.shared.events
    }

    fn datagrams(&self) -> &Datagrams {
        &self.shared.datagrams
    }

    fn set_addresses(&self, addresses: &[Prefix]) -> io::Result<()> {
        interface::set_addresses(&self.shared.device, addresses)
    }

    fn set_routes(&self, routes: &[Prefix]) -> Result<(), OpenError> {
        self.routes.lock().set(&self.shared.device, routes)
    }

    fn restore(&self, addresses: &[Prefix], mtu: u16) -> io::Result<Restored> {
        let Some(index) = self.index().transpose()? else { return Ok(Restored::default()) };
        let routes = &self.routes.lock();
        restore(&mut Wire::open(NETLINK_ROUTE, None)?, &Wanted { index, mtu, addresses, routes })
    }

    fn port(&self) -> Option<u16> {
        self.shared.sockets.as_ref().map(|sockets| sockets.own(0).port())
    }

    fn open_socket(&self) -> Option<u16> {
        self.shared.sockets.as_ref()?.open_further().ok()
    }

    fn close_socket(&self, port: u16) {
        if let Some(sockets) = &self.shared.sockets {
            sockets.close_further(port);
        }
    }

    fn send_datagram(&self, to: SocketAddr, datagram: &[u8], socket: u16) -> bool {
        let sockets = self.shared.sockets.as_ref();
        self.shared.datagrams.probes.sent(Source { address: to, socket }, datagram);
        sockets.is_some_and(|sockets| sockets.with(socket, 0, |socket| socket.send(to, datagram)).is_ok())
    }

    /// A path that died while nothing passed keeps a handshake from packets that wait.
    fn active(&self) -> Vec<u32> {
        let is_active = |entry: &&Entry| {
            let peer = &entry.peer;
            let Counters { packets_in, packets_out, .. } = &*peer.counters;
            let passed = packets_in.load(Relaxed) + packets_out.load(Relaxed);
            peer.seen.swap(passed, Relaxed) != passed
                || (peer.live.load(Relaxed) && peer.state().is_waiting())
        };
        self.table().entries().iter().filter(is_active).map(|entry| entry.peer.id).collect()
    }

    fn each_counters(&self, each: &mut dyn FnMut(u32, &Counters)) {
        each(0, self.counters());
        self.table().entries().iter().for_each(|entry| each(entry.peer.id, &entry.peer.counters));
    }

    fn heard(&self) -> Vec<(u32, SocketAddr)> {
        let table = self.table();
        let guests = table.entries().iter().filter(|entry| entry.is_guest());
        guests.filter_map(|entry| Some((entry.peer.id, entry.endpoint()?))).collect()
    }

    fn set_table(&self, peers: Vec<PeerConfig>, local: &[Prefix], rules: RulesChange) -> io::Result<()> {
        let before = self.shared.table.get();
        let (rules, generation) = changed_rules(&before, rules);
        let (mut changed, mut moved) = (Vec::new(), Vec::new());
        let entries = peers.into_iter().map(|config| {
            let entry = before.entry(config.id);
            if entry.is_some_and(|entry| entry.path != config.path) {
                moved.push(config.id);
            }
            let known = entry.map(|entry| &entry.peer);
            let peer = keep_or_make(known, &config, &self.shared.waiting);
            if let Some(known) = known.filter(|known| !Arc::ptr_eq(known, &peer)) {
                changed.push(known.clone());
            }
            let mtu = config.mtu.max(limits::MIN_MTU) as usize;
            let socket_mtu = mtu.min(config.socket_mtu.max(limits::MIN_MTU) as usize);
            (Entry { peer, mtu, socket_mtu, path: config.path }, config.allowed)
        });
        let table = Table::new(entries.collect(), local).with_rules(rules, generation);
        self.shared.table.set(table);
        // the threads use the new ones from now on; what they leave behind is moved
        let table = self.shared.table.get();
        for old in &changed {
            if let Some(entry) = table.entry(old.id) {
                change::take_over(&self.shared, old, entry);
            }
        }
        // a handshake may have been lost on the path before
        moved.into_iter().for_each(|peer| self.retry_handshake(peer));
        Ok(())
    }

    fn take_refusals(&self) -> Vec<(Refused, u64)> {
        self.shared.filter.take_refusals()
    }

    fn rule_hits(&self) -> Vec<u64> {
        self.table().rules().map(|rules| rules.hits()).unwrap_or_default()
    }

    fn flow_count(&self) -> usize {
        self.shared.filter.flow_count()
    }

    fn take(&self, peer: u32) -> Option<Vec<u8>> {
        self.table().entry(peer)?.peer.outgoing.take()
    }

    fn inject(&self, peer: u32, bytes: &[u8]) -> bool {
        let table = self.table();
        let Some(entry) = table.entry(peer) else {
            self.shared.counters.drop_one(Reason::UnknownPeer);
            return true;
        };
        if !matches!(entry.peer.tunnel, Tunnel::WireGuard(_)) {
            entry.peer.counters.drop_one(wrong_tunnel(&entry.peer));
            return true;
        }
        let fed = entry.peer.incoming.feed(bytes);
        self.fed(&entry.peer, fed)
    }

    fn inject_packets(&self, peer: u32, mut bytes: &[u8]) {
        let table = self.table();
        let Some(entry) = table.entry(peer) else {
            return self.shared.counters.drop_one(Reason::UnknownPeer);
        };
        if entry.peer.tunnel != Tunnel::Legacy {
            return entry.peer.counters.drop_one(wrong_tunnel(&entry.peer));
        }
        let mut batch = Vec::with_capacity(bytes.len() + 64);
        while !bytes.is_empty() {
            let Ok(ip) = parse(bytes) else {
                entry.peer.counters.drop_one(Reason::Malformed);
                break;
            };
            let (packet, rest) = bytes.split_at(ip.len);
            queues::push_frame(&mut batch, packet);
            bytes = rest;
        }
        let fed = entry.peer.incoming.feed_whole(&batch);
        self.fed(&entry.peer, fed);
    }

    fn restart(&self, peer: u32) {
        if let Some(entry) = self.table().entry(peer) {
            entry.peer.incoming.restart();
        }
        self.retry_handshake(peer);
    }

    fn retry_handshake(&self, peer: u32) {
        let table = self.table();
        let Some(entry) = table.entry(peer) else { return };
        let mut frames = Vec::new();
        if let Some(sessions) = entry.peer.state().existing() {
            sessions.retry_handshake(&mut frames);
        }
        self.shared.deliver(entry, &mut frames, true);
        if entry.peer.outgoing.is_waiting() {
            self.shared.events.tell(Event::Readable, entry.peer.id);
        }
    }
}

fn watch_links(shared: &Shared, watch: &LinkWatch) {
    while !shared.stopping() {
        shared.events.links(watch.read());
        shared.waker.wait_for(watch.fd(), None);
    }
}

fn open_sockets(config: SocketConfig, count: usize) -> io::Result<Sockets> {
    Sockets::open(config, count)
        .map_err(|error| io::Error::new(error.kind(), socket::describe(&error, config.port)))
}

/// The rules of the next table, compiled, and their generation.
fn changed_rules(before: &Table, change: RulesChange) -> (Option<Arc<Rules>>, u32) {
    let known = before.rules();
    match change {
        RulesChange::Keep => (known.cloned(), before.generation()),
        RulesChange::Set(rules) => {
            let compile = |rules| Arc::new(Rules::new(rules, known.map(|known| &**known)));
            (rules.map(compile), before.generation().wrapping_add(1))
        }
    }
}

fn wrong_tunnel(peer: &Peer) -> Reason {
    if peer.tunnel == Tunnel::None { Reason::NoTunnel } else { Reason::NotSealed }
}

fn keep_or_make(known: Option<&Arc<Peer>>, config: &PeerConfig, waiting: &Waiting) -> Arc<Peer> {
    let peer = match known {
        Some(known) if known.tunnel == config.tunnel => known.clone(),
        Some(known) => Arc::new(known.successor(config.tunnel)),
        None => Arc::new(Peer::new(config.id, config.tunnel, waiting.sibling())),
    };
    if matches!(config.tunnel, Tunnel::WireGuard(_)) {
        peer.state().set_preshared_key(config.preshared.as_deref().copied());
    }
    peer
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        self.shared.waker.wake();
        self.shared.work.interrupt();
        for thread in self.threads.drain(..) {
            // a thread that ended by a defect has told so
            let _ = thread.join();
        }
    }
}
