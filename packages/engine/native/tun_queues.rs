//! The queues of a TUN interface (IFF_MULTI_QUEUE): each carries some of the flows, so that several cores can.
//!
//! Where an interface has several the kernel lets every process that may open one add its own, and take packets away from
//! those that are there. Therefore whoever opens several claims the name first, and looks whether somebody has some.
use crate::claim::claim;
use crate::device::Device;
use crate::kernel::netlink::Wire;
use crate::limits::MAX_DEFAULT_QUEUES;
use netlink_packet_core::{NLM_F_ACK, Nla};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{InfoData, LinkAttribute, LinkInfo, LinkMessage};
use std::io;
use std::os::unix::net::UnixListener;
use tun_rs::{DeviceBuilder, SyncDevice};

/// How many packets the kernel keeps for us in each; more would only be delay.
const QUEUE_PACKETS: u32 = 500;
/// The attribute that says how many are open (IFLA_TUN_NUM_QUEUES).
const NUMBER_OF_QUEUES: u16 = 8;

/// Default number of queues: one up to three cores, because each needs a thread each way. With more cores, half of the cores, so that
/// as much is left for other work.
pub fn default_count() -> usize {
    count_for(std::thread::available_parallelism().map_or(1, usize::from))
}

fn count_for(cores: usize) -> usize {
    (cores / 2).clamp(1, MAX_DEFAULT_QUEUES)
}

/// Opens or makes the interface with `count` queues. One that was there before, made for one queue or for several, stays
/// what it is.
pub fn open(name: &str, mtu: u16, count: usize) -> io::Result<Device> {
    let several = count > 1;
    let (first, claim) = match open_first(name, mtu, several) {
        // it is there, and of the other kind; or it is no TUN interface, and the error stays
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => open_first(name, mtu, !several)?,
        result => result?,
    };
    let mut queues = vec![first];
    while claim.is_some() && queues.len() < count {
        queues.push(queues[0].try_clone()?);
    }
    for queue in &queues {
        queue.set_nonblocking(true)?;
    }
    Ok(Device::tun(queues, claim))
}

/// Opens a queue of the interface, with a claim to all of them if it may have `several`.
fn open_first(name: &str, mtu: u16, several: bool) -> io::Result<(SyncDevice, Option<UnixListener>)> {
    let claim = several.then(|| claim_unused(name)).transpose()?;
    Ok((build(name, mtu, several)?, claim))
}

fn claim_unused(name: &str) -> io::Result<UnixListener> {
    let claim = claim("tun", name)?;
    if count_open(name)? > 0 { Err(io::Error::from_raw_os_error(libc::EBUSY)) } else { Ok(claim) }
}

/// How many queues of the interface are open, of those that may have several.
fn count_open(name: &str) -> io::Result<u32> {
    let mut question = LinkMessage::default();
    question.attributes.push(LinkAttribute::IfName(name.into()));
    let mut wire = Wire::open(netlink_sys::protocols::NETLINK_ROUTE, None)?;
    let answers = match wire.ask(RouteNetlinkMessage::GetLink(question), NLM_F_ACK) {
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => return Ok(0),
        result => result?,
    };
    Ok(answers.iter().map(count_in).sum())
}

fn count_in(answer: &RouteNetlinkMessage) -> u32 {
    let RouteNetlinkMessage::NewLink(link) = answer else { return 0 };
    let parts = link.attributes.iter().filter_map(|attribute| match attribute {
        LinkAttribute::LinkInfo(parts) => Some(parts),
        _ => None,
    });
    let attributes = parts.flatten().filter_map(|part| match part {
        LinkInfo::Data(InfoData::Tun(attributes)) => Some(attributes),
        _ => None,
    });
    let number = attributes.flatten().find(|attribute| attribute.kind() == NUMBER_OF_QUEUES);
    number.map_or(0, |number| {
        let mut value = [0; 4];
        if number.value_len() == value.len() {
            number.emit_value(&mut value);
        }
        u32::from_ne_bytes(value)
    })
}

/// Opens one queue, with super-segments where the kernel grants them.
fn build(name: &str, mtu: u16, several: bool) -> io::Result<SyncDevice> {
    let builder = |offload: bool| {
        let builder = DeviceBuilder::new().name(name).mtu(mtu).enable(false);
        builder.with(|options| {
            options.offload(offload).multi_queue(several).tx_queue_len(QUEUE_PACKETS);
        })
    };
    match builder(true).build_sync() {
        // busy or forbidden will be so without offloads too
        Err(error) if !matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EPERM | libc::ENOENT)) => {
            builder(false).build_sync().map_err(|_| error)
        }
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlink_packet_core::DefaultNla;
    use netlink_packet_route::link::InfoTun;

    #[test]
    fn a_half_of_the_cores_and_one_at_least_have_queues() {
        let counts = [1, 2, 3, 4, 6, 7, 8, 64].map(count_for);
        assert_eq!(counts, [1, 1, 1, 2, 3, 3, 4, 4]);
    }

    #[test]
    fn of_an_answer_of_the_kernel_the_number_of_open_queues_counts() {
        let attribute = |kind: u16, value: Vec<u8>| InfoTun::Other(DefaultNla::new(kind, value));
        let three = vec![attribute(7, vec![1]), attribute(NUMBER_OF_QUEUES, 3u32.to_ne_bytes().to_vec())];
        let told = |attributes: Vec<InfoTun>| {
            let mut link = LinkMessage::default();
            link.attributes = vec![
                LinkAttribute::IfName("mesh0".into()),
                LinkAttribute::LinkInfo(vec![LinkInfo::Data(InfoData::Tun(attributes))]),
            ];
            count_in(&RouteNetlinkMessage::NewLink(link))
        };
        assert_eq!(told(three), 3);
        assert_eq!(told(vec![attribute(7, vec![0])]), 0);
        assert_eq!(told(vec![attribute(NUMBER_OF_QUEUES, vec![1])]), 0);
    }

    #[test]
    fn of_an_interface_that_does_not_exist_none_are_open() {
        assert_eq!(count_open("mesh-none").unwrap(), 0);
    }

    /// Runs it in a network namespace of its own; not at all without the privilege or the device.
    fn in_own_namespace(test: fn()) {
        let run = move || {
            // SAFETY: a plain system call, that moves this thread alone.
            let moved = unsafe { libc::unshare(libc::CLONE_NEWNET) } == 0;
            if moved && open("probe", 1280, 1).is_ok() {
                test();
            }
        };
        std::thread::spawn(run).join().unwrap();
    }

    fn refused(result: io::Result<Device>) -> Option<i32> {
        result.err().and_then(|error| error.raw_os_error())
    }

    #[test]
    fn nobody_adds_queues_to_an_interface_that_a_node_has() {
        in_own_namespace(|| {
            let device = open("mesh0", 1280, 3).unwrap();
            assert_eq!((device.queue_count(), count_open("mesh0").unwrap()), (3, 3));
            for count in [1, 2, 4] {
                assert_eq!(refused(open("mesh0", 1280, count)), Some(libc::EBUSY), "{count}");
            }
            assert_eq!(count_open("mesh0").unwrap(), 3);
            drop(device);
            assert_eq!(open("mesh0", 1280, 2).unwrap().queue_count(), 2);
        });
    }

    #[test]
    fn an_interface_that_another_program_has_is_refused() {
        in_own_namespace(|| {
            for several in [false, true] {
                let _theirs = build("theirs", 1280, several).unwrap();
                for count in [1, 2] {
                    let error = refused(open("theirs", 1280, count));
                    assert_eq!(error, Some(libc::EBUSY), "{count} where it may have several: {several}");
                }
            }
        });
    }

    #[test]
    fn an_interface_that_stays_is_opened_with_as_many_queues_as_it_takes() {
        in_own_namespace(|| {
            for (several, count, expected) in
                [(false, 1, 1), (false, 3, 1), (true, 1, 1), (true, 3, 3), (true, 2, 2)]
            {
                let name = format!("stays{several}");
                if !exists(&name) {
                    build(&name, 1280, several).unwrap().persist().unwrap();
                }
                assert_eq!(open(&name, 1280, count).unwrap().queue_count(), expected, "{several} {count}");
                assert!(exists(&name));
            }
        });
    }

    #[test]
    fn what_is_no_tun_interface_is_refused() {
        in_own_namespace(|| {
            for count in [1, 2] {
                assert_eq!(refused(open("lo", 1280, count)), Some(libc::EINVAL), "{count}");
            }
        });
    }

    fn exists(name: &str) -> bool {
        let name = std::ffi::CString::new(name).unwrap();
        // SAFETY: a text that ends with a zero byte.
        unsafe { libc::if_nametoindex(name.as_ptr()) != 0 }
    }
}
