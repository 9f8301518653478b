//! Puts back what others took away from the interface: that it is up, its MTU, addresses, and routes into it. What others
//! added stays.
use crate::interface::Routes;
use crate::kernel::netlink::{Wipe, Wire};
use crate::table::Prefix;
use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

impl Wipe for RouteNetlinkMessage {}

/// What the interface has to have.
pub struct Wanted<'a> {
    /// Its index.
    pub index: u32,
    pub mtu: u16,
    pub addresses: &'a [Prefix],
    pub routes: &'a Routes,
}

/// In words for people: `address 10.1.0.1/24`.
#[derive(Default)]
pub struct Restored {
    pub restored: Vec<String>,
    /// Each with its reason.
    pub failed: Vec<String>,
}

impl Restored {
    fn note(&mut self, what: String, result: io::Result<()>) {
        match result {
            Ok(()) => self.restored.push(what),
            Err(error) => self.failed.push(format!("{what}: {error}")),
        }
    }
}

/// Looks at the interface and puts back what is missing. Nothing is missing of one that is gone.
pub fn restore(wire: &mut Wire, wanted: &Wanted) -> io::Result<Restored> {
    let mut restored = Restored::default();
    match restore_link(wire, wanted, &mut restored) {
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => return Ok(restored),
        result => result?,
    }
    restore_addresses(wire, wanted, &mut restored)?;
    restore_routes(wanted, &mut restored)?;
    Ok(restored)
}

fn restore_link(wire: &mut Wire, wanted: &Wanted, restored: &mut Restored) -> io::Result<()> {
    let mut question = LinkMessage::default();
    question.header.index = wanted.index;
    let answers = wire.ask(RouteNetlinkMessage::GetLink(question), NLM_F_ACK)?;
    let Some(RouteNetlinkMessage::NewLink(link)) = answers.into_iter().next() else { return Ok(()) };
    let mtu = u32::from(wanted.mtu);
    let has_mtu = |attribute: &LinkAttribute| matches!(attribute, LinkAttribute::Mtu(own) if *own == mtu);
    if !link.attributes.iter().any(has_mtu) {
        let result =
            change_link(wire, wanted.index, |message| message.attributes.push(LinkAttribute::Mtu(mtu)));
        restored.note(format!("MTU {mtu}"), result);
    }
    if !link.header.flags.contains(LinkFlags::Up) {
        let result = change_link(wire, wanted.index, set_up);
        restored.note("link up".into(), result);
    }
    Ok(())
}

/// Changes the interface with this index.
pub fn change_link(wire: &mut Wire, index: u32, how: impl FnOnce(&mut LinkMessage)) -> io::Result<()> {
    let mut message = LinkMessage::default();
    message.header.index = index;
    how(&mut message);
    wire.ask(RouteNetlinkMessage::SetLink(message), NLM_F_ACK).map(|_| ())
}

/// Sets an interface up: of a kernel's WireGuard, this opens its sockets.
pub fn set_up(message: &mut LinkMessage) {
    message.header.flags = LinkFlags::Up;
    message.header.change_mask = LinkFlags::Up;
}

fn restore_addresses(wire: &mut Wire, wanted: &Wanted, restored: &mut Restored) -> io::Result<()> {
    let answers = wire.ask(RouteNetlinkMessage::GetAddress(AddressMessage::default()), NLM_F_DUMP)?;
    let present: Vec<IpAddr> = answers.iter().filter_map(|answer| address_in(answer, wanted.index)).collect();
    for missing in wanted.addresses.iter().filter(|prefix| !present.contains(&prefix.address)) {
        let message = RouteNetlinkMessage::NewAddress(address_message(wanted.index, missing));
        let result = wire.ask(message, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL).map(|_| ());
        restored.note(format!("address {}", missing.text()), result.map_err(|error| explain(error, missing)));
    }
    Ok(())
}

/// The kernel's word for a family that is switched off says nothing to people.
fn explain(error: io::Error, prefix: &Prefix) -> io::Error {
    let is_off = matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM | libc::EOPNOTSUPP));
    if is_off && prefix.address.is_ipv6() { io::Error::other("IPv6 is switched off") } else { error }
}

fn address_in(answer: &RouteNetlinkMessage, index: u32) -> Option<IpAddr> {
    let RouteNetlinkMessage::NewAddress(message) = answer else { return None };
    let local = message.attributes.iter().find_map(|attribute| match attribute {
        AddressAttribute::Local(address) => Some(*address),
        _ => None,
    });
    // IPv6 names none
    let any = || {
        message.attributes.iter().find_map(|attribute| match attribute {
            AddressAttribute::Address(address) => Some(*address),
            _ => None,
        })
    };
    (message.header.index == index).then(|| local.or_else(any)).flatten()
}

/// The message that gives an interface an address, without the delay that looks for another holder.
pub fn address_message(index: u32, prefix: &Prefix) -> AddressMessage {
    let mut message = AddressMessage::default();
    message.header.index = index;
    message.header.prefix_len = prefix.length;
    message.header.family = match prefix.address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    };
    if prefix.address.is_ipv6() {
        message.header.flags = AddressHeaderFlags::Nodad;
    }
    message.attributes =
        vec![AddressAttribute::Local(prefix.address), AddressAttribute::Address(prefix.address)];
    message
}

fn restore_routes(wanted: &Wanted, restored: &mut Restored) -> io::Result<()> {
    let networks = wanted.addresses.iter().filter_map(network_of);
    for (prefix, result) in wanted.routes.restore(wanted.index, networks)? {
        restored.note(format!("route {}", prefix.text()), result);
    }
    Ok(())
}

/// The network to which the kernel makes a route when the interface gets the address; none of a single address.
fn network_of(prefix: &Prefix) -> Option<Prefix> {
    let (address, most) = match prefix.address {
        IpAddr::V4(_) => (Ipv4Addr::from_bits(prefix.first() as u32).into(), 32),
        IpAddr::V6(_) => (Ipv6Addr::from_bits(prefix.first()).into(), 128),
    };
    (prefix.length < most).then_some(Prefix { address, length: prefix.length })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_has_no_bits_of_the_host_and_a_single_address_has_none() {
        let of = |text: &str| network_of(&Prefix::parse(text).unwrap()).map(|prefix| prefix.text());
        for (address, network) in [
            ("10.1.2.3/24", Some("10.1.2.0/24")),
            ("10.1.2.3/0", Some("0.0.0.0/0")),
            ("10.1.2.3/32", None),
            ("fd00:1::9/64", Some("fd00:1::/64")),
            ("fd00:1::9/0", Some("::/0")),
            ("fd00:1::9/128", None),
        ] {
            assert_eq!(of(address).as_deref(), network, "{address}");
        }
    }
}
