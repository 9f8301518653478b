//! The kernel's own WireGuard in the engine's place: the same table, events and streams. The kernel has the sessions and carries
//! the packets. This module tells it of peers and where they are (`wireguard`, `link`), passes sealed datagrams between it
//! and streams (`relay`), and carries probes (`probes`).
mod link;
pub(crate) mod netlink;
mod probes;
mod relay;
mod shared;
mod wireguard;
mod worker;

use crate::carrier::Carrier;
use crate::counters::{Counters, Reason};
use crate::datagrams::Datagrams;
use crate::events::{Event, Events};
use crate::filter::RulesChange;
use crate::interface::{Interface, OpenError, Routes, explain};
use crate::link_watch::LinkWatch;
use crate::peer_config::PeerConfig;
use crate::poll::Poll;
use crate::restore::{Restored, Wanted, restore};
use crate::sessions::{Identity, Key};
use crate::socket::{SocketConfig, describe};
use crate::sockets::{OWN, Source};
use crate::table::Prefix;
use link::{Link, refusal};
use netlink::Wire;
use netlink_sys::protocols::{NETLINK_GENERIC, NETLINK_ROUTE};
use parking_lot::Mutex;
use probes::Probes;
use shared::{Known, Shared, Tables};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread::JoinHandle;
use std::time::Instant;
use wireguard::WireguardDevice;
use worker::Worker;
use zeroize::Zeroize;

/// What the thread waits for beside its bell: the sockets of probes, changes of links, and from `FIRST_PEER` on peers.
const PROBES: u64 = 1;
const LINKS: u64 = 2;
const FIRST_PEER: u64 = 3;

pub struct KernelInit {
    pub name: String,
    pub addresses: Vec<Prefix>,
    pub mtu: u16,
    pub private_key: Key,
    /// None: peers are told no port, and everything goes over streams.
    pub socket: Option<SocketConfig>,
    /// The socket of a program that stands in for the kernel's netlink.
    pub netlink: Option<String>,
}

pub struct KernelEngine {
    shared: Arc<Shared>,
    public_key: Key,
    thread: Option<JoinHandle<()>>,
    /// There are rules, which the kernel cannot keep.
    is_ruled: AtomicBool,
}

impl KernelEngine {
    /// `wake` is called from any thread when `events` has something; it must not block.
    pub fn open(mut init: KernelInit, wake: Box<dyn Fn() + Send + Sync>) -> Result<KernelEngine, OpenError> {
        let public_key = Identity::new(init.private_key).public_key();
        let opened = open_tables(&init);
        init.private_key.zeroize();
        let (mut tables, port) = opened?;
        let failed = |error: io::Error| OpenError { code: "engine.system", message: error.to_string() };
        let started = start(&init, port, tables.link.index);
        let (probes, links, poll) = match started {
            Ok(started) => started,
            Err(error) => {
                let _ = tables.link.delete();
                return Err(failed(error));
            }
        };
        let shared = Arc::new(Shared {
            name: init.name,
            port,
            probes,
            events: Events::new(wake),
            datagrams: Datagrams::default(),
            counters: Counters::default(),
            tables: Mutex::new(tables),
            relays: Mutex::default(),
            work: Mutex::default(),
            poll,
            links,
            stop: AtomicBool::new(false),
        });
        let mut engine = KernelEngine {
            shared: shared.clone(),
            public_key,
            thread: None,
            is_ruled: AtomicBool::new(false),
        };
        let thread = std::thread::Builder::new().name("mesh-relay".into());
        engine.thread = Some(thread.spawn(move || Worker::new(&shared).run()).map_err(failed)?);
        Ok(engine)
    }
}

impl Carrier for KernelEngine {
    fn public_key(&self) -> Key {
        self.public_key
    }

    fn interface(&self) -> io::Result<Interface> {
        let mtu = self.shared.tables.lock().link.mtu();
        Ok(Interface { name: self.shared.name.clone(), mtu, offload: true, offload_udp: true })
    }

    fn events(&self) -> &Events {
        &self.shared.events
    }

    fn datagrams(&self) -> &Datagrams {
        &self.shared.datagrams
    }

    fn set_addresses(&self, addresses: &[Prefix]) -> io::Result<()> {
        self.shared.tables.lock().link.set_addresses(addresses)
    }

    fn set_routes(&self, routes: &[Prefix]) -> Result<(), OpenError> {
        let mut tables = self.shared.tables.lock();
        let index = tables.link.index;
        tables.routes.set_by(index, routes)
    }

    fn restore(&self, addresses: &[Prefix], mtu: u16) -> io::Result<Restored> {
        let Tables { link, routes, .. } = &mut *self.shared.tables.lock();
        let index = link.index;
        restore(&mut link.wire, &Wanted { index, mtu, addresses, routes })
    }

    /// Peers that left are silent when this returns. What is for this node, a filter of the host says. Rules cannot be
    /// kept here: as long as there are some, there are no peers.
    fn set_table(&self, peers: Vec<PeerConfig>, _local: &[Prefix], rules: RulesChange) -> io::Result<()> {
        if let RulesChange::Set(rules) = rules {
            self.is_ruled.store(rules.is_some(), Relaxed);
        }
        self.shared.set_table(if self.is_ruled.load(Relaxed) { Vec::new() } else { peers })
    }

    fn take(&self, peer: u32) -> Option<Vec<u8>> {
        self.shared.relay(peer)?.outgoing.take()
    }

    fn inject(&self, peer: u32, bytes: &[u8]) -> bool {
        let Some(relay) = self.shared.relay(peer) else {
            self.shared.counters.drop_one(Reason::UnknownPeer);
            return true;
        };
        let fed = relay.feed(bytes);
        if fed.announce {
            self.shared.work.lock().push_back(relay);
            self.shared.poll.ring();
        }
        if fed.broken {
            self.shared.events.tell(Event::Broken, peer);
        }
        !fed.crowded
    }

    fn restart(&self, peer: u32) {
        if let Some(relay) = self.shared.relay(peer) {
            relay.restart();
        }
        self.retry_handshake(peer);
    }

    /// The kernel repeats a lost handshake by itself, after 5 seconds.
    fn retry_handshake(&self, peer: u32) {
        if self.shared.relay(peer).is_some_and(|relay| relay.outgoing.is_waiting()) {
            self.shared.events.tell(Event::Readable, peer);
        }
    }

    /// The kernel's port; none where nothing is to go over UDP.
    fn port(&self) -> Option<u16> {
        self.shared.probes.as_ref().map(|_| self.shared.port)
    }

    /// The kernel's WireGuard has one socket.
    fn send_datagram(&self, to: SocketAddr, datagram: &[u8], _socket: u16) -> bool {
        self.shared.datagrams.probes.sent(Source { address: to, socket: OWN }, datagram);
        self.shared.probes.as_ref().is_some_and(|probes| probes.send(to, datagram))
    }

    fn active(&self) -> Vec<u32> {
        let mut tables = self.shared.tables.lock();
        let is_active = |known: &mut Known| {
            let sum = known.state.bytes_in + known.state.bytes_out;
            std::mem::replace(&mut known.seen, sum) != sum
        };
        tables.known.iter_mut().filter_map(|(id, known)| is_active(known).then_some(*id)).collect()
    }

    /// Bytes are as the kernel counts them, sealed, and it counts no packets.
    fn each_counters(&self, each: &mut dyn FnMut(u32, &Counters)) {
        self.shared.look();
        each(0, &self.shared.counters);
        let (tables, relays) = (self.shared.tables.lock(), self.shared.relays.lock());
        for (id, relay) in relays.iter() {
            if let Some(Known { state, .. }) = tables.known.get(id) {
                relay.counters.bytes_in.store(state.bytes_in, Relaxed);
                relay.counters.bytes_out.store(state.bytes_out, Relaxed);
            }
            each(*id, &relay.counters);
        }
    }
}

impl Drop for KernelEngine {
    fn drop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        self.shared.poll.ring();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        // one that somebody else took away is gone already
        let _ = self.shared.tables.lock().link.delete();
    }
}

/// Makes the interface and sets it up; the kernel's port.
fn open_tables(init: &KernelInit) -> Result<(Tables, u16), OpenError> {
    let failed = |error| refusal(error, &init.name);
    let fake = init.netlink.as_deref();
    let wire = Wire::open(NETLINK_ROUTE, fake).map_err(failed)?;
    let mut link = Link::create(wire, &init.name, init.mtu)?;
    let result = set_up(&mut link, init);
    match result {
        Ok((device, port)) => {
            let tables = Tables {
                link,
                device,
                routes: Routes::default(),
                known: HashMap::new(),
                wanted: Vec::new(),
                wanted_at: Instant::now(),
                is_unsure: false,
            };
            Ok((tables, port))
        }
        Err(error) => {
            let _ = link.delete();
            Err(error)
        }
    }
}

fn set_up(link: &mut Link, init: &KernelInit) -> Result<(WireguardDevice, u16), OpenError> {
    let failed = |error| refusal(error, &init.name);
    let SocketConfig { port, mark } = init.socket.unwrap_or_default();
    let wire = Wire::open(NETLINK_GENERIC, init.netlink.as_deref()).map_err(failed)?;
    let mut device = WireguardDevice::open(wire, &init.name).map_err(failed)?;
    device.configure(&init.private_key, port, mark.unwrap_or(0)).map_err(failed)?;
    link.set_addresses(&init.addresses)
        .map_err(|error| explain(error, "could not give its addresses to", &init.name))?;
    link.enable().map_err(|error| match error.raw_os_error() {
        Some(libc::EADDRINUSE) => OpenError { code: "engine.port_in_use", message: describe(&error, port) },
        _ => explain(error, "could not set up", &init.name),
    })?;
    let state = device.read().map_err(failed)?;
    Ok((device, state.port))
}

fn start(init: &KernelInit, port: u16, index: u32) -> io::Result<(Option<Probes>, Option<LinkWatch>, Poll)> {
    let probes = init.socket.map(|SocketConfig { mark, .. }| Probes::open(port, mark)).transpose()?;
    let poll = Poll::new()?;
    for fd in probes.iter().flat_map(Probes::fds).flatten() {
        poll.add(fd, PROBES)?;
    }
    // who stands in for the kernel's netlink has no interface
    let links = init.netlink.is_none().then(|| LinkWatch::open(index)).transpose()?;
    if let Some(links) = &links {
        poll.add(links.fd(), LINKS)?;
    }
    Ok((probes, links, poll))
}
