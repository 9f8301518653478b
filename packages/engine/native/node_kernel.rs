//! The addon's face to JavaScript for the kernel's WireGuard: the same calls as `NativeEngine` has.
use crate::kernel::{KernelEngine, KernelInit};
use crate::node::*;
use crate::node_table::*;
use crate::socket::SocketConfig;
use napi::Result;
use napi::bindgen_prelude::{Buffer, BufferSlice};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi_derive::napi;

#[napi]
pub struct NativeKernel {
    engine: Option<KernelEngine>,
}

#[napi]
impl NativeKernel {
    #[napi(constructor)]
    pub fn new(init: NativeInit, wake: Wake) -> Result<NativeKernel> {
        let init = KernelInit {
            name: init.name.unwrap_or_default(),
            addresses: prefixes(&init.addresses)?,
            mtu: init.mtu,
            private_key: key(&init.private_key)?,
            socket: init.udp_port.map(|port| SocketConfig { port, mark: init.udp_mark }),
            netlink: init.netlink,
        };
        let wake = move || {
            // its queue has room for one call at least, and one is enough
            wake.call((), ThreadsafeFunctionCallMode::NonBlocking);
        };
        let engine = KernelEngine::open(init, Box::new(wake)).map_err(failed)?;
        Ok(NativeKernel { engine: Some(engine) })
    }

    #[napi(getter)]
    pub fn public_key(&self) -> Result<Buffer> {
        Ok(self.engine()?.public_key().to_vec().into())
    }

    #[napi]
    pub fn interface(&self) -> Result<NativeInterface> {
        let (name, mtu) = self.engine()?.interface();
        Ok(NativeInterface { name, mtu, offload: true, offload_udp: true })
    }

    #[napi]
    pub fn set_table(&self, table: NativeTable) -> Result<()> {
        self.engine()?.set_table(peer_configs(&table)?).map_err(system)
    }

    #[napi]
    pub fn set_addresses(&self, addresses: Vec<String>) -> Result<()> {
        self.engine()?.set_addresses(&prefixes(&addresses)?).map_err(system)
    }

    #[napi]
    pub fn set_routes(&self, routes: Vec<String>) -> Result<()> {
        self.engine()?.set_routes(&prefixes(&routes)?).map_err(failed)
    }

    #[napi]
    pub fn restore(&self, addresses: Vec<String>, mtu: u16) -> Result<NativeRestored> {
        self.engine()?.restore(&prefixes(&addresses)?, mtu).map(restored).map_err(system)
    }

    #[napi]
    pub fn set_mtu(&self, mtu: u16) -> Result<()> {
        self.engine()?.set_mtu(mtu).map_err(system)
    }

    /// The next batch for the peer's stream. The buffer belongs to JavaScript from here on.
    #[napi]
    pub fn take(&self, env: napi::Env, peer: u32) -> Result<Option<BufferSlice<'_>>> {
        self.engine()?.take(peer).map(|batch| BufferSlice::from_data(&env, batch)).transpose()
    }

    #[napi]
    pub fn inject(&self, peer: u32, bytes: &[u8]) -> Result<bool> {
        Ok(self.engine()?.inject(peer, bytes))
    }

    /// Legacy members send no sealed packets, and the kernel takes no others.
    #[napi]
    pub fn inject_packets(&self, _peer: u32, _packets: &[u8]) {}

    #[napi(getter)]
    pub fn udp_port(&self) -> Result<Option<u16>> {
        Ok(self.engine()?.port())
    }

    #[napi]
    pub fn send_datagram(&self, endpoint: String, bytes: &[u8]) -> Result<bool> {
        Ok(self.engine()?.send_datagram(socket_address(&endpoint)?, bytes))
    }

    /// The kernel's WireGuard has one socket.
    #[napi]
    pub fn open_socket(&self) -> Option<u16> {
        None
    }

    #[napi]
    pub fn close_socket(&self, _port: u16) {}

    #[napi]
    pub fn expect_probes(&self, pair: NativeProbePair) -> Result<()> {
        self.engine()?.expect_probes(probe_pair(&pair)?);
        Ok(())
    }

    #[napi]
    pub fn forget_probes(&self, token: &[u8]) -> Result<()> {
        self.engine()?.forget_probes(word(token)?);
        Ok(())
    }

    #[napi]
    pub fn take_datagrams(&self) -> Result<Vec<NativeDatagram>> {
        Ok(self.engine()?.take_datagrams().into_iter().map(native_datagram).collect())
    }

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
        self.engine()?.announce(peer);
        Ok(())
    }

    #[napi]
    pub fn poll(&self) -> Result<Vec<u32>> {
        let events = self.engine()?.events().poll();
        Ok(events.into_iter().flat_map(|(event, peer)| [event as u32, peer]).collect())
    }

    #[napi]
    pub fn failure(&self) -> Result<Option<String>> {
        Ok(self.engine()?.events().failure())
    }

    #[napi]
    pub fn stats(&self) -> Result<NativeStats> {
        let engine = self.engine()?;
        let mut rows = Vec::new();
        engine.each_counters(|id, counters| push_row(&mut rows, id, counters));
        Ok(NativeStats {
            rows: rows.into(),
            events_dropped: engine.events().dropped() as f64,
            heard: Vec::new(),
        })
    }

    /// Takes the interface away.
    #[napi]
    pub fn close(&mut self) {
        self.engine = None;
    }

    fn engine(&self) -> Result<&KernelEngine> {
        self.engine.as_ref().ok_or_else(closed)
    }
}
