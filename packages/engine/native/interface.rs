//! The kernel's TUN interface: its name, addresses, MTU and routes. It lives as long as the descriptor, so the kernel removes it
//! when the process ends. Only an interface that existed before (a persistent one) can keep something, which is cleared when
//! it is opened.
use crate::device::Device;
use crate::table::Prefix;
use crate::tun_queues;
use route_manager::{Route, RouteManager};
use std::io;
use std::net::IpAddr;

/// The interface as the kernel has it.
pub struct Interface {
    pub name: String,
    pub mtu: u16,
    /// The kernel takes super-segments of TCP, and of UDP.
    pub offload: bool,
    pub offload_udp: bool,
}

/// An error with a code that `@mesh/engine` knows.
#[derive(Debug)]
pub struct OpenError {
    pub code: &'static str,
    pub message: String,
}

impl OpenError {
    pub fn new(code: &'static str, message: impl Into<String>) -> OpenError {
        OpenError { code, message: message.into() }
    }
}

/// An interface name has at most 15 bytes (IFNAMSIZ).
const MAX_NAME_BYTES: usize = 15;
/// The kernel's routing table for all that has no other one (RT_TABLE_MAIN).
const MAIN_TABLE: u8 = 254;
/// Opens (or makes) the interface, gives it its addresses and MTU, and sets it up. `queues`: how many it has; none: by the
/// number of cores.
pub fn open(name: &str, addresses: &[Prefix], mtu: u16, queues: Option<usize>) -> Result<Device, OpenError> {
    check_name(name)?;
    let queues = queues.unwrap_or_else(tun_queues::default_count);
    let device = tun_queues::open(name, mtu, queues).map_err(|error| match error.raw_os_error() {
        // the name is good, so the kernel means that another kind of interface has it
        Some(libc::EINVAL) => {
            OpenError::new("engine.name_in_use", format!("interface {name} exists and is no TUN interface"))
        }
        _ => explain(error, "could not open", name),
    })?;
    set_addresses(&device, addresses)
        .map_err(|error| explain(error, "could not give its addresses to", name))?;
    if let Some(interface) = device.interface() {
        interface.enabled(true).map_err(|error| explain(error, "could not set up", name))?;
    }
    Ok(device)
}

pub fn check_name(name: &str) -> Result<(), OpenError> {
    let fits = !name.is_empty() && name.len() <= MAX_NAME_BYTES;
    if fits && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/' && byte != b'%') {
        return Ok(());
    }
    Err(OpenError::new("engine.bad_name", format!("{name:?} cannot be an interface's name")))
}

pub fn explain(error: io::Error, what: &str, name: &str) -> OpenError {
    let code = match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => "engine.no_permission",
        Some(libc::ENOENT | libc::ENODEV | libc::ENXIO) => "engine.no_tun",
        Some(libc::EBUSY) => "engine.name_in_use",
        Some(libc::EADDRINUSE | libc::EEXIST) => "engine.address_in_use",
        _ => "engine.system",
    };
    OpenError { code, message: format!("{what} interface {name}: {error}") }
}

/// Makes `wanted` the addresses of the interface, each with its network's prefix length. Those that stay are not
/// touched; IPv6's own link-local address stays too.
pub fn set_addresses(device: &Device, wanted: &[Prefix]) -> io::Result<()> {
    let Some(interface) = device.interface() else { return Ok(()) };
    let present = interface.addresses()?;
    for address in &present {
        let own = matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local());
        if !own && !wanted.iter().any(|prefix| prefix.address == *address) {
            interface.remove_address(*address)?;
        }
    }
    for prefix in wanted.iter().filter(|prefix| !present.contains(&prefix.address)) {
        match prefix.address {
            IpAddr::V4(v4) => interface.add_address_v4(v4, prefix.length)?,
            IpAddr::V6(v6) => interface.add_address_v6(v6, prefix.length)?,
        }
    }
    Ok(())
}

/// Routes into the interface beside those that its addresses bring along.
#[derive(Default)]
pub struct Routes(Vec<Prefix>);

impl Routes {
    /// Makes `wanted` the routes; those that stay are not touched. A network that the host reaches by another
    /// interface stays as it is, whatever the metric. What cannot be set is named after all else was done, and tried
    /// again by the next call.
    pub fn set(&mut self, device: &Device, wanted: &[Prefix]) -> Result<(), OpenError> {
        let Some(interface) = device.interface() else { return Ok(()) };
        self.set_by(interface.if_index().map_err(routes_failed)?, wanted)
    }

    /// Sets them as `set` does, into the interface with this index.
    pub fn set_by(&mut self, index: u32, wanted: &[Prefix]) -> Result<(), OpenError> {
        let failed = routes_failed;
        let mut manager = RouteManager::new().map_err(failed)?;
        let route = |prefix: &Prefix| Route::new(prefix.address, prefix.length).with_if_index(index);
        for gone in self.0.extract_if(.., |prefix| !wanted.contains(prefix)) {
            match manager.delete(&route(&gone)) {
                // somebody else has taken it away
                Err(error) if error.raw_os_error() != Some(libc::ESRCH) => return Err(failed(error)),
                _ => {}
            }
        }
        let missing: Vec<&Prefix> = wanted.iter().filter(|prefix| !self.0.contains(prefix)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let present = manager.list().map_err(failed)?;
        let mut refused = Vec::new();
        for prefix in missing {
            if let Some(other) =
                present.iter().find(|other| is_for(other, prefix) && other.if_index() != Some(index))
            {
                refused.push(format!("{} goes by {}", prefix.text(), way_of(other)));
            } else if let Err(error) = manager.add(&route(prefix)) {
                refused.push(format!("{}: {error}", prefix.text()));
            } else {
                self.0.push(*prefix);
            }
        }
        if refused.is_empty() {
            return Ok(());
        }
        let message = format!("some networks are not routed: {}", refused.join(", "));
        Err(OpenError { code: "engine.route_in_use", message })
    }
}

impl Routes {
    /// Sets those of them, and of the `networks` of the interface's addresses, again that others took away. Each that was
    /// missing comes with the outcome.
    pub fn restore(
        &self,
        index: u32,
        networks: impl Iterator<Item = Prefix>,
    ) -> io::Result<Vec<(Prefix, io::Result<()>)>> {
        let mut manager = RouteManager::new()?;
        let present = manager.list()?;
        let is_there = |prefix: &Prefix| {
            present.iter().any(|route| is_for(route, prefix) && route.if_index() == Some(index))
        };
        let mut outcomes = Vec::new();
        for missing in networks.chain(self.0.iter().copied()).filter(|prefix| !is_there(prefix)) {
            let result = match present.iter().find(|other| is_for(other, &missing)) {
                Some(other) => Err(io::Error::other(format!("it goes by {}", way_of(other)))),
                None => manager.add(&Route::new(missing.address, missing.length).with_if_index(index)),
            };
            outcomes.push((missing, result));
        }
        Ok(outcomes)
    }
}

fn way_of(route: &Route) -> &str {
    route.if_name().map_or("another way", |name| name.as_str())
}

fn routes_failed(error: io::Error) -> OpenError {
    OpenError { code: "engine.system", message: format!("could not set routes: {error}") }
}

/// A route of the main table for just this network.
fn is_for(route: &Route, prefix: &Prefix) -> bool {
    route.table() == MAIN_TABLE && route.destination() == prefix.address && route.prefix() == prefix.length
}

/// The interface as the kernel has it; a memory device has no name.
pub fn describe(device: &Device) -> io::Result<Interface> {
    let (name, mtu) = match device.interface() {
        Some(interface) => (interface.name()?, interface.mtu()?),
        None => (String::new(), 0),
    };
    Ok(Interface { name, mtu, offload: device.offload(), offload_udp: device.offload_udp() })
}
