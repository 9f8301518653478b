//! A flood: batches of datagrams, each batch in one system call (GSO) and from the next address, as fast as the kernel
//! takes them or at a rate. The host needs a local route to the addresses that it pretends to have.
use crate::capture;
use crate::datagrams::{Batch, KINDS, Kind, Known, Random, batches};
use crate::{key_of, parsed};
use mesh_engine::table::Prefix;
use quinn_udp::{Transmit, UdpSockRef, UdpSocketState};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

struct Flood {
    to: SocketAddr,
    time: Duration,
    kinds: Vec<Kind>,
    sources: Option<Prefix>,
    /// The most datagrams a second; none: as many as the kernel takes.
    rate: Option<u64>,
    key: Option<[u8; 32]>,
}

pub fn run(words: &[String]) -> Result<String, String> {
    let flood = Flood::read(words)?;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let wanted: Vec<_> = flood
        .kinds
        .iter()
        .filter_map(|kind| kind.of_overheard())
        .collect();
    let overheard = if wanted.is_empty() {
        Vec::new()
    } else {
        let is_wanted = |datagram: &[u8]| wanted.iter().any(|of| of(datagram));
        capture::overhear(flood.to, is_wanted).map_err(|error| error.to_string())?
    };
    let heard = overheard.len();
    let known = Known {
        key: flood.key,
        overheard,
    };
    let all: Vec<Batch> = flood
        .kinds
        .iter()
        .flat_map(|kind| batches(*kind, &known, &mut random))
        .collect();
    if all.is_empty() {
        return Err("nothing to send: handshakes need --key, and nothing was overheard".into());
    }
    let (sent, took) = flood.send(&all).map_err(|error| error.to_string())?;
    let per_second = sent as f64 / took.as_secs_f64();
    Ok(format!(
        "{{\"sent\":{sent},\"perSecond\":{per_second:.0},\"overheard\":{heard}}}"
    ))
}

impl Flood {
    fn read(words: &[String]) -> Result<Flood, String> {
        let names: String = parsed(words, 2, "the kinds")?;
        let kind_of = |name: &str| {
            let found = KINDS.iter().find(|(known, _)| *known == name);
            found
                .map(|(_, kind)| *kind)
                .ok_or_else(|| format!("no kind {name}"))
        };
        let mut flood = Flood {
            to: parsed(words, 0, "the endpoint")?,
            time: Duration::from_millis((1000.0 * parsed::<f64>(words, 1, "the seconds")?) as u64),
            kinds: names.split(',').map(kind_of).collect::<Result<_, _>>()?,
            sources: None,
            rate: None,
            key: None,
        };
        for at in (3..words.len()).step_by(2) {
            let value: String = parsed(words, at + 1, &words[at])?;
            match words[at].as_str() {
                "--sources" => {
                    flood.sources = Some(Prefix::parse(&value).ok_or("--sources is no range")?)
                }
                "--rate" => flood.rate = Some(parsed(words, at + 1, "--rate")?),
                "--key" => flood.key = Some(key_of(&value)?),
                other => return Err(format!("no option {other}")),
            }
        }
        Ok(flood)
    }

    /// How many were sent, and in which time.
    fn send(&self, all: &[Batch]) -> std::io::Result<(u64, Duration)> {
        let socket = UdpSocket::bind("0.0.0.0:0")?;
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        // blocks: the kernel takes as many as it can
        socket.set_nonblocking(false)?;
        let (began, mut sent) = (Instant::now(), 0);
        for (n, batch) in all.iter().cycle().enumerate() {
            let passed = began.elapsed();
            if passed >= self.time {
                return Ok((sent, passed));
            }
            let transmit = Transmit {
                destination: self.to,
                ecn: None,
                contents: &batch.bytes,
                segment_size: Some(batch.segment),
                src_ip: self.source(n),
            };
            if state.try_send(UdpSockRef::from(&socket), &transmit).is_ok() {
                sent += batch.count();
            }
            if let Some(rate) = self.rate {
                let due = Duration::from_secs_f64(sent as f64 / rate as f64);
                std::thread::sleep(due.saturating_sub(began.elapsed()));
            }
        }
        Ok((sent, began.elapsed()))
    }

    /// The next address of the range, scattered over it.
    fn source(&self, n: usize) -> Option<IpAddr> {
        let Prefix {
            address: IpAddr::V4(first),
            length,
        } = self.sources?
        else {
            return None;
        };
        let hosts = 1u32 << (32 - length as u32).min(24);
        let host = (n as u32).wrapping_mul(2_654_435_761) % hosts;
        Some(Ipv4Addr::from_bits(first.to_bits() | host).into())
    }
}
