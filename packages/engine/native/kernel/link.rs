//! The interface of kind `wireguard`, by rtnetlink. Unlike a TUN device it outlives its process. A mark identifies it to the next
//! process, and a name of the host's network namespace says whether its process lives.
use super::netlink::Wire;
use crate::claim::claim;
use crate::interface::{OpenError, check_name, explain};
use crate::restore::{address_message, change_link, set_up};
use crate::table::Prefix;
use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{InfoKind, LinkAttribute, LinkInfo, LinkMessage};
use std::io;
use std::os::unix::net::UnixListener;

/// The mark of an interface that a node made (IFLA_IFALIAS, `ip link show`).
const ALIAS: &str = "mesh";

pub struct Link {
    pub wire: Wire,
    pub name: String,
    pub index: u32,
    mtu: u16,
    addresses: Vec<Prefix>,
    /// Held while this process lives.
    _claim: UnixListener,
}

impl Link {
    /// Makes the interface, not yet set up, in place of one that a killed node left.
    pub fn create(wire: Wire, name: &str, mtu: u16) -> Result<Link, OpenError> {
        check_name(name)?;
        let failed = |error| refusal(error, name);
        let claim = claim("wireguard", name).map_err(failed)?;
        let mut link = Link { wire, name: name.into(), index: 0, mtu, addresses: Vec::new(), _claim: claim };
        match link.add() {
            Err(error) if error.raw_os_error() == Some(libc::EEXIST) => {
                let Some(index) = link.leftover().map_err(failed)? else {
                    let message = format!("interface {name} exists, and no node made it");
                    return Err(OpenError { code: "engine.name_in_use", message });
                };
                link.index = index;
                link.delete().map_err(failed)?;
                link.add().map_err(failed)?;
            }
            result => result.map_err(failed)?,
        }
        link.index = index_of(name).map_err(failed)?;
        let alias = |message: &mut LinkMessage| message.attributes.push(LinkAttribute::IfAlias(ALIAS.into()));
        change_link(&mut link.wire, link.index, alias).map_err(failed)?;
        Ok(link)
    }

    pub fn mtu(&self) -> u16 {
        self.mtu
    }

    pub fn enable(&mut self) -> io::Result<()> {
        change_link(&mut self.wire, self.index, set_up)
    }

    /// Makes `wanted` the addresses; those that stay are not touched.
    pub fn set_addresses(&mut self, wanted: &[Prefix]) -> io::Result<()> {
        for gone in self.addresses.clone().iter().filter(|present| !wanted.contains(present)) {
            self.ask(RouteNetlinkMessage::DelAddress(address_message(self.index, gone)), 0)?;
            self.addresses.retain(|present| present != gone);
        }
        for new in wanted {
            if !self.addresses.contains(new) {
                self.ask(
                    RouteNetlinkMessage::NewAddress(address_message(self.index, new)),
                    NLM_F_CREATE | NLM_F_EXCL,
                )?;
                self.addresses.push(*new);
            }
        }
        Ok(())
    }

    /// Takes it away, with its keys, addresses and routes.
    pub fn delete(&mut self) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = self.index;
        self.ask(RouteNetlinkMessage::DelLink(message), 0).map(|_| ())
    }

    fn add(&mut self) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::IfName(self.name.clone()),
            LinkAttribute::Mtu(self.mtu.into()),
            LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Wireguard)]),
        ];
        self.ask(RouteNetlinkMessage::NewLink(message), NLM_F_CREATE | NLM_F_EXCL).map(|_| ())
    }

    /// The index of the interface that has the name, if a node made it.
    fn leftover(&mut self) -> io::Result<Option<u32>> {
        let mut message = LinkMessage::default();
        message.attributes.push(LinkAttribute::IfName(self.name.clone()));
        let found = self.ask(RouteNetlinkMessage::GetLink(message), 0)?;
        Ok(found.into_iter().find_map(|found| match found {
            RouteNetlinkMessage::NewLink(link) => {
                let is_ours = link
                    .attributes
                    .iter()
                    .any(|attribute| matches!(attribute, LinkAttribute::IfAlias(alias) if alias == ALIAS));
                is_ours.then_some(link.header.index)
            }
            _ => None,
        }))
    }

    fn ask(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<Vec<RouteNetlinkMessage>> {
        self.wire.ask(message, NLM_F_ACK | flags)
    }
}

fn index_of(name: &str) -> io::Result<u32> {
    let name = std::ffi::CString::new(name)?;
    // SAFETY: a text that ends with a zero byte.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}

/// What a refusal of the kernel means for this kind of interface.
pub fn refusal(error: io::Error, name: &str) -> OpenError {
    match error.raw_os_error() {
        // no such kind of interface, no such family of netlink
        Some(libc::EOPNOTSUPP | libc::ENOENT | libc::EAFNOSUPPORT) => OpenError {
            code: "engine.no_kernel_wireguard",
            message: format!("this machine's kernel has no WireGuard: {error}"),
        },
        _ => explain(error, "could not make", name),
    }
}
