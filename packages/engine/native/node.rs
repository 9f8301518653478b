//! The addon's face to JavaScript: it converts and calls, nothing else. Nothing here runs for a packet.
use crate::carrier::Carrier;
use crate::counters::{Counters, REASON_NAMES};
use crate::datagrams::Datagram;
use crate::device::{Device, MemoryEnd};
use crate::engine::Engine;
use crate::events::EVENT_NAMES;
use crate::filter::Refused;
use crate::interface::{self, Interface, OpenError};
use crate::kernel::{KernelEngine, KernelInit};
use crate::node_table::{
    NativeProbePair, NativeTable, failed, key, peer_configs, prefixes, probe_pair, ranges, rules_change,
    socket_address, system, word,
};
use crate::restore::Restored;
use crate::socket::{self, SocketConfig};
use napi::bindgen_prelude::{Buffer, Float64Array, Uint8Array};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Error, Result, Status};
use napi_derive::napi;
use std::sync::atomic::Ordering::Relaxed;

/// The length in bytes below which a batch is copied: memory of its own would cost more.
const COPY_BELOW_BYTES: usize = 4096;

#[napi(object)]
pub struct NativeInit {
    /// The interface's name; none: a memory device.
    pub name: Option<String>,
    pub addresses: Vec<String>,
    pub mtu: u16,
    pub private_key: Uint8Array,
    /// The UDP port, 0 for any; none: no socket.
    pub udp_port: Option<u16>,
    pub udp_mark: Option<u32>,
    /// How many queues the interface has; none: by the number of cores. A memory device has one.
    pub queues: Option<u32>,
    /// The kernel's WireGuard carries, and no engine of this crate.
    pub kernel: Option<bool>,
    /// Of the kernel's alone: the socket of a program that stands in for the kernel's netlink.
    pub netlink: Option<String>,
}

/// A datagram that is no WireGuard.
#[napi(object)]
pub struct NativeDatagram {
    pub address: String,
    pub port: u16,
    /// The port of the further socket that received it; 0: the engine's own.
    pub socket: u16,
    /// How long it was; `bytes` has its beginning.
    pub len: u32,
    pub bytes: Buffer,
}

/// Packets that the rules refused, alike in all but their source's port.
#[napi(object)]
pub struct NativeRefusal {
    pub source: String,
    pub destination: String,
    pub protocol: u8,
    pub port: Option<u16>,
    pub count: f64,
}

/// All sums since the engine was opened.
#[napi(object)]
pub struct NativeStats {
    /// Each row as `src/native.ts` says.
    pub rows: Float64Array,
    pub events_dropped: f64,
    /// Of each guest that was heard: its number, and the address with the port.
    pub heard: Vec<NativeHeard>,
}

/// What was put back, and what could not be, in words for people.
#[napi(object)]
pub struct NativeRestored {
    pub restored: Vec<String>,
    pub failed: Vec<String>,
}

#[napi(object)]
pub struct NativeHeard {
    pub peer: u32,
    pub endpoint: String,
}

#[napi(object)]
pub struct NativeInterface {
    pub name: String,
    pub mtu: u16,
    /// True when the kernel takes super-segments of TCP.
    pub offload: bool,
    pub offload_udp: bool,
}

type Wake = ThreadsafeFunction<(), (), (), Status, false, false, 2>;

#[napi]
pub struct NativeEngine {
    engine: Option<Box<dyn Carrier>>,
    memory: Option<MemoryEnd>,
}

#[napi]
impl NativeEngine {
    #[napi(constructor)]
    pub fn new(init: NativeInit, wake: Wake) -> Result<NativeEngine> {
        let private_key = key(&init.private_key)?;
        let addresses = prefixes(&init.addresses)?;
        let socket = init.udp_port.map(|port| SocketConfig { port, mark: init.udp_mark });
        let wake = Box::new(move || {
            // its queue has room for one call at least, and one is enough
            wake.call((), ThreadsafeFunctionCallMode::NonBlocking);
        });
        let NativeInit { mtu, netlink, .. } = init;
        if init.kernel == Some(true) {
            let name = init.name.unwrap_or_default();
            let init = KernelInit { name, addresses, mtu, private_key, socket, netlink };
            let engine = KernelEngine::open(init, wake).map_err(failed)?;
            return Ok(NativeEngine { engine: Some(Box::new(engine)), memory: None });
        }
        let (device, memory) = match init.name {
            Some(name) => {
                let queues = init.queues.map(|queues| queues as usize);
                (interface::open(&name, &addresses, mtu, queues).map_err(failed)?, None)
            }
            None => Device::memory(false, 1).map(|(device, end)| (device, Some(end))).map_err(system)?,
        };
        let engine = Engine::start(device, private_key, socket, wake).map_err(not_started)?;
        Ok(NativeEngine { engine: Some(Box::new(engine)), memory })
    }

    #[napi(getter)]
    pub fn public_key(&self) -> Result<Buffer> {
        Ok(self.engine()?.public_key().to_vec().into())
    }

    #[napi]
    pub fn interface(&self) -> Result<NativeInterface> {
        let Interface { name, mtu, offload, offload_udp } = self.engine()?.interface().map_err(system)?;
        Ok(NativeInterface { name, mtu, offload, offload_udp })
    }

    #[napi]
    pub fn set_table(&self, table: NativeTable) -> Result<()> {
        let peers = peer_configs(&table)?;
        let local = ranges(&table.local).collect::<Result<Vec<_>>>()?;
        let rules = rules_change(table.rules.as_ref())?;
        self.engine()?.set_table(peers, &local, rules).map_err(system)
    }

    /// What the rules refused since the last call.
    #[napi]
    pub fn take_refusals(&self) -> Result<Vec<NativeRefusal>> {
        let native = |(refused, count): (Refused, u64)| NativeRefusal {
            source: refused.source.to_string(),
            destination: refused.destination.to_string(),
            protocol: refused.protocol,
            port: refused.port,
            count: count as f64,
        };
        Ok(self.engine()?.take_refusals().into_iter().map(native).collect())
    }

    /// How many flows each rule allowed, layer by layer.
    #[napi]
    pub fn rule_hits(&self) -> Result<Float64Array> {
        let hits = self.engine()?.rule_hits();
        Ok(hits.into_iter().map(|hits| hits as f64).collect::<Vec<_>>().into())
    }

    /// The number of flows that the filter follows.
    #[napi]
    pub fn flow_count(&self) -> Result<u32> {
        Ok(self.engine()?.flow_count() as u32)
    }

    #[napi]
    pub fn set_addresses(&self, addresses: Vec<String>) -> Result<()> {
        self.engine()?.set_addresses(&prefixes(&addresses)?).map_err(system)
    }

    #[napi]
    pub fn set_routes(&self, routes: Vec<String>) -> Result<()> {
        self.engine()?.set_routes(&prefixes(&routes)?).map_err(failed)
    }

    /// Puts back what others took away from the interface.
    #[napi]
    pub fn restore(&self, addresses: Vec<String>, mtu: u16) -> Result<NativeRestored> {
        let Restored { restored, failed } =
            self.engine()?.restore(&prefixes(&addresses)?, mtu).map_err(system)?;
        Ok(NativeRestored { restored, failed })
    }

    /// The next batch for the peer's stream. The buffer belongs to JavaScript from here on.
    #[napi]
    pub fn take(&self, env: napi::Env, peer: u32) -> Result<Option<napi::bindgen_prelude::BufferSlice<'_>>> {
        use napi::bindgen_prelude::BufferSlice;
        let Some(batch) = self.engine()?.take(peer) else { return Ok(None) };
        if batch.len() < COPY_BELOW_BYTES {
            return BufferSlice::copy_from(&env, batch).map(Some);
        }
        BufferSlice::from_data(&env, batch).map(Some)
    }

    /// Takes bytes of the peer's stream, which are copied before this returns. False: wait for the event `writable`.
    #[napi]
    pub fn inject(&self, peer: u32, bytes: &[u8]) -> Result<bool> {
        Ok(self.engine()?.inject(peer, bytes))
    }

    /// Takes packets of a legacy member, which are copied before this returns.
    #[napi]
    pub fn inject_packets(&self, peer: u32, packets: &[u8]) -> Result<()> {
        self.engine()?.inject_packets(peer, packets);
        Ok(())
    }

    #[napi(getter)]
    pub fn udp_port(&self) -> Result<Option<u16>> {
        Ok(self.engine()?.port())
    }

    /// Sends a datagram that is no WireGuard. False: it cannot be sent, or not at this length.
    #[napi]
    pub fn send_datagram(&self, endpoint: String, bytes: &[u8], socket: u16) -> Result<bool> {
        Ok(self.engine()?.send_datagram(socket_address(&endpoint)?, bytes, socket))
    }

    /// Opens a socket beside the engine's own; its port, or null where that cannot be.
    #[napi]
    pub fn open_socket(&self) -> Result<Option<u16>> {
        Ok(self.engine()?.open_socket())
    }

    #[napi]
    pub fn close_socket(&self, port: u16) -> Result<()> {
        self.engine()?.close_socket(port);
        Ok(())
    }

    #[napi]
    pub fn expect_probes(&self, pair: NativeProbePair) -> Result<()> {
        self.engine()?.datagrams().probes.expect(probe_pair(&pair)?);
        Ok(())
    }

    #[napi]
    pub fn forget_probes(&self, token: &[u8]) -> Result<()> {
        self.engine()?.datagrams().probes.forget(word(token)?);
        Ok(())
    }

    #[napi]
    pub fn take_datagrams(&self) -> Result<Vec<NativeDatagram>> {
        Ok(self.engine()?.datagrams().take().into_iter().map(native_datagram).collect())
    }

    /// The numbers of the peers to or from whom packets passed since the last call.
    #[napi]
    pub fn active(&self) -> Result<Vec<u32>> {
        Ok(self.engine()?.active())
    }

    #[napi]
    pub fn restart(&self, peer: u32) -> Result<()> {
        self.engine()?.restart(peer);
        Ok(())
    }

    #[napi]
    pub fn retry_handshake(&self, peer: u32) -> Result<()> {
        self.engine()?.retry_handshake(peer);
        Ok(())
    }

    /// All events since the last call: for each the index of its name in `eventNames`, and the peer's number.
    #[napi]
    pub fn poll(&self) -> Result<Vec<u32>> {
        let events = self.engine()?.events().poll();
        Ok(events.into_iter().flat_map(|(event, peer)| [event as u32, peer]).collect())
    }

    /// Why no packets pass any more, after the event `failed`.
    #[napi]
    pub fn failure(&self) -> Result<Option<String>> {
        Ok(self.engine()?.events().failure())
    }

    #[napi]
    pub fn stats(&self) -> Result<NativeStats> {
        let engine = self.engine()?;
        let mut rows = Vec::new();
        engine.each_counters(&mut |id, counters| push_row(&mut rows, id, counters));
        let heard = engine.heard().into_iter();
        let heard = heard.map(|(peer, from)| NativeHeard { peer, endpoint: from.to_string() }).collect();
        Ok(NativeStats { rows: rows.into(), events_dropped: engine.events().dropped() as f64, heard })
    }

    /// Sends a packet from the memory device's other end. False: the engine has too much to read already.
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

    fn engine(&self) -> Result<&dyn Carrier> {
        let closed = || OpenError { code: "engine.closed", message: "the engine is closed".into() };
        self.engine.as_deref().ok_or_else(|| failed(closed()))
    }
}

/// Marks what a socket of this process sends, by its file descriptor.
#[napi]
pub fn mark_socket(fd: i32, mark: u32) -> Result<()> {
    socket::mark_socket(fd, mark).map_err(system)
}

/// Bounds the segments of a TCP socket of this process, by its file descriptor.
#[napi]
pub fn cap_segments(fd: i32, bytes: u32) -> Result<()> {
    socket::cap_segments(fd, bytes).map_err(system)
}

/// Lets routers cut the IPv4 packets of a TCP socket of this process, by its file descriptor.
#[napi]
pub fn allow_fragments(fd: i32) -> Result<()> {
    socket::allow_fragments(fd).map_err(system)
}

/// Gives the system back what the C library keeps of memory that was freed, in whole pages; true when there was some.
/// Without it the library keeps what lies below anything that lives, for as long as the process runs.
#[napi]
pub fn trim_memory() -> bool {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes the allocator's own locks, touches no memory that is in use, and any thread may call it.
    return unsafe { libc::malloc_trim(0) != 0 };
    #[cfg(not(target_env = "gnu"))]
    false
}

/// Every reason's name, so that a test can hold TypeScript's against them.
#[napi]
pub fn reason_names() -> Vec<String> {
    REASON_NAMES.iter().map(|name| name.to_string()).collect()
}

#[napi]
pub fn event_names() -> Vec<String> {
    EVENT_NAMES.iter().map(|name| name.to_string()).collect()
}

fn native_datagram(datagram: Datagram) -> NativeDatagram {
    NativeDatagram {
        address: datagram.from.address.ip().to_string(),
        port: datagram.from.address.port(),
        socket: datagram.from.socket,
        len: datagram.len as u32,
        bytes: datagram.bytes.into(),
    }
}

/// Nothing but the port can be in use when the interface is there.
fn not_started(error: std::io::Error) -> Error {
    if error.kind() != std::io::ErrorKind::AddrInUse {
        return system(error);
    }
    failed(OpenError { code: "engine.port_in_use", message: error.to_string() })
}

fn push_row(rows: &mut Vec<f64>, id: u32, counters: &Counters) {
    let Counters { packets_in, bytes_in, packets_out, bytes_out, drops } = counters;
    rows.push(id as f64);
    rows.extend([packets_in, bytes_in, packets_out, bytes_out].map(|count| count.load(Relaxed) as f64));
    let at = rows.len();
    rows.push(0.0);
    for (index, count) in drops.iter().enumerate() {
        let count = count.load(Relaxed);
        if count > 0 {
            rows[at] += 1.0;
            rows.extend([index as f64, count as f64]);
        }
    }
}
