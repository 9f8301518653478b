//! Many WireGuard peers, each with its own key, address and socket: each makes a session with one engine, and pings
//! through it once a second.
use crate::{key_of, parsed};
use mesh_engine::limits::MAX_PACKET_BYTES;
use mesh_engine::queues::frames;
use mesh_engine::sessions::{Handshake, Identity, Message, Sessions, message_of};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

const INITIATE_AGAIN: Duration = Duration::from_secs(1);
const ECHO_EVERY: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(2);
const MTU: usize = 1420;
const ECHO_BYTES: usize = 84;

struct Member {
    socket: UdpSocket,
    sessions: Sessions,
    address: Ipv4Addr,
    has_session: bool,
    initiated: Option<Instant>,
    echoed: Option<Instant>,
    sent: u64,
    answered: u64,
}

struct Run {
    to: SocketAddr,
    target: Ipv4Addr,
    members: Vec<Member>,
}

pub fn run(words: &[String]) -> Result<String, String> {
    let to: SocketAddr = parsed(words, 0, "the endpoint")?;
    let key = key_of(&parsed::<String>(words, 1, "the engine's key")?)?;
    let target: Ipv4Addr = parsed(words, 2, "the address to ping")?;
    let seconds: u64 = parsed(words, 3, "the seconds")?;
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| error.to_string())?;
    let members = text
        .lines()
        .map(|line| Member::read(line, key, to))
        .collect::<Result<_, _>>()?;
    let mut run = Run {
        to,
        target,
        members,
    };
    run.until(Instant::now() + Duration::from_secs(seconds));
    Ok(run.report())
}

impl Run {
    fn until(&mut self, end: Instant) {
        let mut memory = vec![0; MAX_PACKET_BYTES];
        let mut told = false;
        while Instant::now() < end {
            for member in &mut self.members {
                member.receive(&mut memory);
                member.send(self.to, self.target);
            }
            if !told && self.members.iter().all(|member| member.has_session) {
                told = true;
                println!("{{\"ready\":true}}");
                let _ = std::io::stdout().flush();
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn report(&self) -> String {
        let sum = |field: fn(&Member) -> u64| self.members.iter().map(field).sum::<u64>();
        format!(
            "{{\"peers\":{},\"sessions\":{},\"sent\":{},\"answered\":{},\"silent\":{}}}",
            self.members.len(),
            sum(|member| member.has_session as u64),
            sum(|member| member.sent),
            sum(|member| member.answered),
            sum(|member| (member.answered == 0) as u64),
        )
    }
}

impl Member {
    fn read(line: &str, engine: [u8; 32], to: SocketAddr) -> Result<Member, String> {
        let [private, preshared, address] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err(format!("no peer: {line}"));
        };
        let preshared = if preshared == "-" {
            None
        } else {
            Some(key_of(preshared)?)
        };
        let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket =
            UdpSocket::bind(any).and_then(|socket| socket.set_nonblocking(true).map(|()| socket));
        Ok(Member {
            socket: socket.map_err(|error| error.to_string())?,
            sessions: Sessions::new(&Identity::new(key_of(private)?), 0, engine, preshared),
            address: address
                .parse()
                .map_err(|_| format!("no address: {address}"))?,
            has_session: false,
            initiated: None,
            echoed: None,
            sent: 0,
            answered: 0,
        })
    }

    fn receive(&mut self, memory: &mut [u8]) {
        let mut answers = Vec::new();
        while let Ok((len, from)) = self.socket.recv_from(memory) {
            let datagram = &memory[..len];
            match message_of(datagram) {
                Some(Message::Handshake) => match self.sessions.handshake(datagram, &mut answers) {
                    Ok(Handshake::Established) => self.has_session = true,
                    // a cookie: the next initiation proves this address
                    Ok(Handshake::Taken) => self.initiated = None,
                    Err(_) => {}
                },
                Some(Message::Sealed) => {
                    let mut packet = vec![0; len];
                    if let Ok(len) = self.sessions.open(datagram, &mut packet) {
                        self.answered += is_echo_reply(&packet[..len]) as u64;
                    }
                }
                None => {}
            }
            self.put(from, &mut answers);
        }
    }

    fn send(&mut self, to: SocketAddr, target: Ipv4Addr) {
        let mut batch = Vec::new();
        let is_due =
            |at: Option<Instant>, every| at.is_none_or(|at: Instant| at.elapsed() >= every);
        if !self.has_session && is_due(self.initiated, INITIATE_AGAIN) {
            self.sessions.initiate(true, &mut batch);
            self.initiated = Some(Instant::now());
        }
        if self.has_session && is_due(self.echoed, ECHO_EVERY) {
            self.echoed = Some(Instant::now());
            self.sessions.tick(Instant::now(), &mut batch);
            let echo = echo_request(self.address, target, self.sent as u16);
            self.sent += self.sessions.seal(&echo, MTU, &mut batch) as u64;
        }
        self.put(to, &mut batch);
    }

    fn put(&self, to: SocketAddr, batch: &mut Vec<u8>) {
        for frame in frames(batch) {
            // what is lost is sent again
            let _ = self.socket.send_to(frame, to);
        }
        batch.clear();
    }
}

fn is_echo_reply(packet: &[u8]) -> bool {
    packet.len() >= ECHO_BYTES && packet[9] == 1 && packet[20] == 0
}

/// An ICMP echo request of 84 bytes, as ping sends it.
fn echo_request(source: Ipv4Addr, destination: Ipv4Addr, sequence: u16) -> Vec<u8> {
    let mut packet = vec![0; ECHO_BYTES];
    (packet[0], packet[3], packet[8], packet[9]) = (0x45, ECHO_BYTES as u8, 64, 1);
    packet[12..16].copy_from_slice(&source.octets());
    packet[16..20].copy_from_slice(&destination.octets());
    let sum = checksum(&packet[..20]);
    packet[10..12].copy_from_slice(&sum);
    packet[20] = 8;
    packet[26..28].copy_from_slice(&sequence.to_be_bytes());
    let sum = checksum(&packet[20..]);
    packet[22..24].copy_from_slice(&sum);
    packet
}

fn checksum(bytes: &[u8]) -> [u8; 2] {
    let words = bytes.as_chunks::<2>().0.iter();
    let mut sum: u32 = words.map(|word| u16::from_be_bytes(*word) as u32).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}
