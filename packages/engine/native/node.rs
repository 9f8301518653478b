//! The addon's face to JavaScript: it converts and calls, nothing else. Nothing here runs for a packet.
use crate::counters::Counters;
use crate::device::{Device, MemoryEnd};
use crate::engine::{Engine, PeerConfig, WayConfig};
use crate::events::Event;
use crate::interface::{self, OpenError, Routes};
use crate::sessions::Key;
use crate::table::Prefix;
use napi::bindgen_prelude::{Buffer, Uint8Array};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Error, Result, Status};
use napi_derive::napi;
use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;

/// Batches below this are copied: memory of its own would cost more.
const COPY_BELOW_BYTES: usize = 4096;

#[napi(object)]
pub struct NativeInit {
    /// None: a memory device.
    pub name: Option<String>,
    pub addresses: Vec<String>,
    pub mtu: u16,
    pub private_key: Uint8Array,
}

#[napi(object)]
pub struct NativePeer {
    pub id: u32,
    pub plain: bool,
    /// Given: its way is a stream; not given and not plain: it is not known.
    pub public_key: Option<Uint8Array>,
    pub preshared_key: Option<Uint8Array>,
    pub allowed: Vec<String>,
    pub mtu: u16,
}

#[napi(object)]
pub struct NativeEvent {
    pub kind: String,
    pub peer: u32,
    pub message: Option<String>,
}

#[napi(object)]
pub struct NativeCounters {
    pub packets_in: f64,
    pub bytes_in: f64,
    pub packets_out: f64,
    pub bytes_out: f64,
    pub drops: HashMap<String, f64>,
}

#[napi(object)]
pub struct NativePeerCounters {
    pub id: u32,
    pub counters: NativeCounters,
}

#[napi(object)]
pub struct NativeStats {
    pub device: NativeCounters,
    pub peers: Vec<NativePeerCounters>,
    pub events_dropped: f64,
}

#[napi(object)]
pub struct NativeInterface {
    pub name: String,
    pub mtu: u16,
    /// Super-segments of TCP, and of UDP.
    pub offload: bool,
    pub offload_udp: bool,
}

type Wake = ThreadsafeFunction<(), (), (), Status, false, false, 2>;

#[napi]
pub struct NativeEngine {
    engine: Option<Engine>,
    memory: Option<MemoryEnd>,
    routes: Routes,
}

#[napi]
impl NativeEngine {
    #[napi(constructor)]
    pub fn new(init: NativeInit, wake: Wake) -> Result<NativeEngine> {
        let private_key = key(&init.private_key)?;
        let (device, memory) = match init.name {
            Some(name) => {
                (interface::open(&name, &prefixes(&init.addresses)?, init.mtu).map_err(failed)?, None)
            }
            None => Device::memory(false).map(|(device, end)| (device, Some(end))).map_err(system)?,
        };
        let wake = move || {
            // its queue has room for one call at least, and one is enough
            wake.call((), ThreadsafeFunctionCallMode::NonBlocking);
        };
        let engine = Engine::start(device, private_key, Box::new(wake)).map_err(system)?;
        Ok(NativeEngine { engine: Some(engine), memory, routes: Routes::default() })
    }

    #[napi(getter)]
    pub fn public_key(&self) -> Result<Buffer> {
        Ok(self.engine()?.public_key().to_vec().into())
    }

    #[napi]
    pub fn interface(&self) -> Result<NativeInterface> {
        let device = self.engine()?.device();
        let (name, mtu) = interface::describe(device).map_err(system)?;
        Ok(NativeInterface { name, mtu, offload: device.offload(), offload_udp: device.offload_udp() })
    }

    #[napi]
    pub fn set_table(&self, peers: Vec<NativePeer>, local: Vec<String>) -> Result<()> {
        let peers = peers.into_iter().map(peer_config).collect::<Result<Vec<_>>>()?;
        self.engine()?.set_table(peers, &prefixes(&local)?);
        Ok(())
    }

    #[napi]
    pub fn set_addresses(&self, addresses: Vec<String>) -> Result<()> {
        interface::set_addresses(self.engine()?.device(), &prefixes(&addresses)?).map_err(system)
    }

    #[napi]
    pub fn set_routes(&mut self, routes: Vec<String>) -> Result<()> {
        let Some(engine) = &self.engine else { return Err(closed()) };
        self.routes.set(engine.device(), &prefixes(&routes)?).map_err(system)
    }

    #[napi]
    pub fn set_mtu(&self, mtu: u16) -> Result<()> {
        interface::set_mtu(self.engine()?.device(), mtu).map_err(system)
    }

    /// The buffer belongs to JavaScript from here on.
    #[napi]
    pub fn take(&self, env: napi::Env, peer: u32) -> Result<Option<napi::bindgen_prelude::BufferSlice<'_>>> {
        use napi::bindgen_prelude::BufferSlice;
        let Some(batch) = self.engine()?.take(peer) else { return Ok(None) };
        if batch.len() < COPY_BELOW_BYTES {
            return BufferSlice::copy_from(&env, batch).map(Some);
        }
        BufferSlice::from_data(&env, batch).map(Some)
    }

    /// The bytes are copied before this returns. False: wait for the event `room`.
    #[napi]
    pub fn inject(&self, peer: u32, bytes: &[u8]) -> Result<bool> {
        Ok(self.engine()?.inject(peer, bytes))
    }

    /// The bytes are copied before this returns.
    #[napi]
    pub fn inject_plain(&self, peer: u32, packets: &[u8]) -> Result<()> {
        self.engine()?.inject_plain(peer, packets);
        Ok(())
    }

    #[napi]
    pub fn restart(&self, peer: u32) -> Result<()> {
        self.engine()?.restart(peer);
        Ok(())
    }

    #[napi]
    pub fn hurry(&self, peer: u32) -> Result<()> {
        self.engine()?.hurry(peer);
        Ok(())
    }

    /// All events since the last call.
    #[napi]
    pub fn poll(&self) -> Result<Vec<NativeEvent>> {
        let (marks, events) = self.engine()?.events().poll();
        let mark = |kind: &'static str| move |peer| NativeEvent { kind: kind.into(), peer, message: None };
        let rooms = marks.room.into_iter().map(mark("room"));
        let carries = marks.carry.into_iter().map(mark("carry"));
        let wanted = marks.wanted.into_iter().map(mark("wanted"));
        Ok(events.into_iter().map(native_event).chain(rooms).chain(carries).chain(wanted).collect())
    }

    #[napi]
    pub fn stats(&self) -> Result<NativeStats> {
        let engine = self.engine()?;
        let table = engine.table();
        let peers = table.entries().iter().map(|entry| NativePeerCounters {
            id: entry.peer.id,
            counters: native_counters(&entry.peer.counters),
        });
        Ok(NativeStats {
            device: native_counters(engine.counters()),
            peers: peers.collect(),
            events_dropped: engine.events().dropped() as f64,
        })
    }

    /// A packet from the memory device's other end. False: the engine has too much to read already.
    #[napi]
    pub fn memory_send(&self, packet: &[u8]) -> bool {
        self.memory.as_ref().is_some_and(|end| end.send(packet))
    }

    #[napi]
    pub fn memory_receive(&self) -> Option<Buffer> {
        self.memory.as_ref()?.receive().map(Buffer::from)
    }

    /// Ends the threads and gives the interface back.
    #[napi]
    pub fn close(&mut self) {
        self.engine = None;
        self.memory = None;
    }

    fn engine(&self) -> Result<&Engine> {
        self.engine.as_ref().ok_or_else(closed)
    }
}

/// Every reason's name, so that a test can hold TypeScript's against them.
#[napi]
pub fn reason_names() -> Vec<String> {
    crate::counters::REASON_NAMES.iter().map(|name| name.to_string()).collect()
}

/// Errors carry their code before a line end; `src/engine.ts` takes them apart.
fn failed(error: OpenError) -> Error {
    Error::from_reason(format!("{}\n{}", error.code, error.message))
}

fn system(error: std::io::Error) -> Error {
    failed(OpenError { code: "engine.system", message: error.to_string() })
}

fn closed() -> Error {
    failed(OpenError { code: "engine.closed", message: "the engine is closed".into() })
}

fn bad_input(message: String) -> Error {
    failed(OpenError { code: "engine.bad_table", message })
}

fn key(bytes: &[u8]) -> Result<Key> {
    bytes.try_into().map_err(|_| bad_input("a key has 32 bytes".into()))
}

fn prefixes(texts: &[String]) -> Result<Vec<Prefix>> {
    let parse =
        |text: &String| Prefix::parse(text).ok_or_else(|| bad_input(format!("not a range: {text:?}")));
    texts.iter().map(parse).collect()
}

fn peer_config(peer: NativePeer) -> Result<PeerConfig> {
    let way = match &peer.public_key {
        Some(public) => WayConfig::Stream {
            public: key(public)?,
            preshared: peer.preshared_key.as_ref().map(|bytes| key(bytes)).transpose()?,
        },
        None if peer.plain => WayConfig::Plain,
        None => WayConfig::Unknown,
    };
    Ok(PeerConfig { id: peer.id, way, allowed: prefixes(&peer.allowed)?, mtu: peer.mtu })
}

fn native_event(event: Event) -> NativeEvent {
    let (kind, peer, message) = match event {
        Event::Session { peer } => ("session", peer, None),
        Event::Silent { peer } => ("silent", peer, None),
        Event::Broken { peer } => ("broken", peer, None),
        Event::Failed { message } => ("failed", 0, Some(message)),
    };
    NativeEvent { kind: kind.into(), peer, message }
}

fn native_counters(counters: &Counters) -> NativeCounters {
    let read = |count: &std::sync::atomic::AtomicU64| count.load(Relaxed) as f64;
    NativeCounters {
        packets_in: read(&counters.packets_in),
        bytes_in: read(&counters.bytes_in),
        packets_out: read(&counters.packets_out),
        bytes_out: read(&counters.bytes_out),
        drops: counters.drops().map(|(name, count)| (name.to_string(), count as f64)).collect(),
    }
}
