//! Questions to the kernel by netlink, each with its answer. In a test a program at the other end of a unix socket answers instead. It
//! gets one byte that names the protocol, and then the same bytes as the kernel.
use netlink_packet_core::{
    NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader, NetlinkMessage, NetlinkPayload, NetlinkSerializable,
};
use netlink_sys::{Socket, SocketAddr};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;
use zeroize::Zeroizing;

/// How long a fake may take to answer; the kernel does at once.
const FAKE_PATIENCE: Duration = Duration::from_secs(20);
/// The length of netlink's own header; all lengths are rounded up to `ALIGN_BYTES`.
const HEADER_BYTES: usize = 16;
const ALIGN_BYTES: usize = 4;

/// Overwrites the keys in a message that is not needed any more.
pub trait Wipe {
    fn wipe(&mut self) {}
}

pub struct Wire {
    end: End,
    sequence: u32,
}

enum End {
    Kernel(Socket),
    Fake(UnixStream),
}

impl Wire {
    /// `protocol`: NETLINK_ROUTE, NETLINK_GENERIC. `fake`: the path of the socket of a program that stands in for the
    /// kernel.
    pub fn open(protocol: isize, fake: Option<&str>) -> io::Result<Wire> {
        let end = match fake {
            None => {
                let mut socket = Socket::new(protocol)?;
                socket.bind_auto()?;
                socket.connect(&SocketAddr::new(0, 0))?;
                End::Kernel(socket)
            }
            Some(path) => {
                let mut stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(FAKE_PATIENCE))?;
                stream.write_all(&[protocol as u8])?;
                End::Fake(stream)
            }
        };
        Ok(Wire { end, sequence: 0 })
    }

    /// Sends a message, and gives all that comes before the acknowledgement or the end of the list: `flags` must ask for
    /// one of the two (NLM_F_ACK, NLM_F_DUMP).
    pub fn ask<T>(&mut self, question: T, flags: u16) -> io::Result<Vec<T>>
    where
        T: NetlinkSerializable + NetlinkDeserializable + Wipe,
    {
        self.sequence = self.sequence.wrapping_add(1);
        let payload = NetlinkPayload::InnerMessage(question);
        let mut message = NetlinkMessage::new(NetlinkHeader::default(), payload);
        message.header.flags = NLM_F_REQUEST | flags;
        message.header.sequence_number = self.sequence;
        message.finalize();
        let mut bytes = Zeroizing::new(vec![0; message.buffer_len()]);
        message.serialize(&mut bytes);
        if let NetlinkPayload::InnerMessage(question) = &mut message.payload {
            question.wipe();
        }
        self.send(&bytes)?;
        self.answers()
    }

    fn answers<T: NetlinkDeserializable>(&mut self) -> io::Result<Vec<T>> {
        let mut answers = Vec::new();
        loop {
            let bytes = Zeroizing::new(self.receive()?);
            let mut rest = bytes.as_slice();
            while rest.len() >= HEADER_BYTES {
                let answer = NetlinkMessage::<T>::deserialize(rest)
                    .map_err(|error| io::Error::other(format!("the kernel's answer: {error}")))?;
                let length = (answer.header.length as usize).max(HEADER_BYTES);
                rest = rest.get(length.next_multiple_of(ALIGN_BYTES)..).unwrap_or_default();
                if answer.header.sequence_number != self.sequence {
                    continue;
                }
                match answer.payload {
                    NetlinkPayload::Error(error) if error.code.is_some() => return Err(error.to_io()),
                    NetlinkPayload::Error(_) | NetlinkPayload::Done(_) => return Ok(answers),
                    NetlinkPayload::InnerMessage(inner) => answers.push(inner),
                    _ => {}
                }
            }
        }
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.end {
            End::Kernel(socket) => socket.send(bytes, 0).map(|_| ()),
            End::Fake(stream) => stream.write_all(bytes),
        }
    }

    fn receive(&mut self) -> io::Result<Vec<u8>> {
        match &mut self.end {
            End::Kernel(socket) => socket.recv_from_full().map(|(bytes, _)| bytes),
            End::Fake(stream) => {
                let mut bytes = vec![0; ALIGN_BYTES];
                stream.read_exact(&mut bytes)?;
                let length = bytes.first_chunk().map_or(0, |length| u32::from_ne_bytes(*length) as usize);
                bytes.resize(length.max(HEADER_BYTES).next_multiple_of(ALIGN_BYTES), 0);
                stream.read_exact(&mut bytes[ALIGN_BYTES..])?;
                Ok(bytes)
            }
        }
    }
}
