//! Bounds of the engine, with the unit in the name. `src/limits.ts` repeats those that TypeScript shows.
use std::time::Duration;

/// The longest packet that IP allows, and so the longest super-segment.
pub const MAX_PACKET_BYTES: usize = 65_535;
/// The bytes that WireGuard adds to a packet: type, receiver and counter (16 bytes), and the seal (16).
pub const SEAL_BYTES: usize = 32;
/// Length of the big-endian number before each frame that says how many bytes it has.
pub const FRAME_PREFIX_BYTES: usize = 2;
/// Length of a handshake's first message.
pub const INITIATION_BYTES: usize = 148;
/// How long after the last handshake a peer's keys are kept. WireGuard fixes it: three times as long as they may be used.
pub const KEYS_KEPT: Duration = Duration::from_secs(540);
/// The most bytes of frames that wait for one peer's stream: 40 ms at 50 Mbit/s. More would only be delay.
pub const MAX_OUTBOUND_BYTES: usize = 256 * 1024;
/// The bytes that handshakes and keepalives may use beyond `MAX_OUTBOUND_BYTES`: a full queue must not end a session.
pub const HANDSHAKE_RESERVE_BYTES: usize = 4 * 1024;
/// The most bytes that one `take` hands out, unless a single frame is longer: with yamux's header they fill one sealed
/// block of libp2p's Noise. A little more would make two blocks of it.
pub const MAX_BATCH_BYTES: usize = 65_507;
/// The most bytes of frames from one peer's stream that wait to be opened.
pub const MAX_INBOUND_BYTES: usize = 256 * 1024;
/// The most bytes of packets that wait for the first handshake with one peer, or until there is a tunnel to it.
pub const MAX_WAITING_BYTES: usize = 64 * 1024;
/// The most bytes that wait so for all peers together: somebody may knock at every address there is.
pub const MAX_ALL_WAITING_BYTES: usize = 16 * 1024 * 1024;
/// How long packets wait for a tunnel. WireGuard gives a handshake up after as long.
pub const MAX_WAIT: Duration = Duration::from_secs(90);
/// The least time between two events `pathNeeded` of a peer, while packets come for it.
pub const PATH_NEEDED_AGAIN: Duration = Duration::from_secs(5);
/// The least time between two handshakes that are sent because a stream was lost.
pub const HANDSHAKE_RETRY_APART: Duration = Duration::from_millis(100);
/// After what time a handshake over UDP is repeated that has no answer. Paths are used whose answers take no longer;
/// WireGuard itself would wait for 5 s, and the first packets with it.
pub const HANDSHAKE_REPEAT: Duration = Duration::from_secs(1);
/// The least time between two handshakes that are sent because the peer lost the session.
pub const REHANDSHAKE_APART: Duration = Duration::from_secs(5);
/// The most events that wait for JavaScript. Those that are marks (`Event::is_mark`) are not among them.
pub const MAX_EVENTS: usize = 1024;
/// How many bytes are gathered before the application is woken, as long as the device has more to read at once.
pub const GATHER_BYTES: usize = 16 * 1024;
/// How many datagrams are opened before a session's lock is given to the other direction.
pub const OPEN_RUN: usize = 64;
/// How many handshake messages of one peer are taken at once. An honest peer needs one each two minutes.
pub const HANDSHAKE_BURST: u32 = 20;
/// How many handshake messages of one peer are taken a second after that.
pub const HANDSHAKES_PER_SECOND: u32 = 5;
/// How often sessions are asked for what is due. WireGuard's shortest timer is 5 s.
pub const TICK: Duration = Duration::from_millis(250);
/// How often this node looks whether guests see it at another address.
pub const GUEST_LOOK: Duration = Duration::from_secs(2);
/// How many keepalives tell a guest so.
pub const GREETINGS: u8 = 3;
/// The least MTU of a path on which the engine works, as IPv4 fixes it.
pub const MIN_MTU: u16 = 576;
/// The least MTU of a path for IPv6.
pub const MIN_MTU_V6: u16 = 1280;
/// The longest UDP datagram over IPv4, and so what one call may send as a super-segment.
pub const MAX_DATAGRAM_BYTES: usize = 65_507;
/// The most datagrams that the kernel takes or gives in one super-segment.
pub const MAX_SEND_SEGMENTS: usize = 64;
/// How much is gathered for the socket before it is sent: a super-segment.
pub const OUTBOX_BYTES: usize = 60_000;
/// The most reads of the device before what was gathered for the socket is sent.
pub const READS_PER_SEND: usize = 64;
/// The socket's buffers in the kernel, each way: 10 ms at 6 Gbit/s.
pub const SOCKET_BUFFER_BYTES: u32 = 8 << 20;
/// The most sockets beside the engine's own: one in use, and one that takes its place.
pub const MAX_FURTHER_SOCKETS: usize = 2;
/// How long a thread waits for a full socket, in ms, before it drops.
pub const SOCKET_PATIENCE_MS: i32 = 10;
/// How many super-segments one call receives, or datagrams where the wire brings each by itself: as many as quinn-udp
/// takes.
pub const RECEIVE_BUFFERS: usize = 32;
/// How many where the last ones were longer than a datagram: what is received has to stay in the processor's cache until
/// it is opened.
pub const RECEIVED_SUPERS: usize = 4;
/// The most datagrams other than WireGuard's that wait for the application.
pub const MAX_DATAGRAMS: usize = 512;
/// How much of each the application gets, in bytes.
pub const MAX_KEPT_BYTES: usize = 256;
/// The most such datagrams a second that are taken from one address: each peer behind it sends a few probes.
pub const DATAGRAMS_PER_SOURCE: u32 = 100;
/// The most probes of paths that others begin: many peers may be behind one address.
pub const QUESTIONS_PER_SOURCE: u32 = 1_000;
/// How often the same probe is taken from addresses at which its sender is not known, together. It may come from a new address, and
/// copies may arrive first.
pub const PROBE_COPIES: usize = 4;
/// How many questions of a pair are remembered, so that none is taken more often: those of 10 minutes at least.
pub const QUESTIONS_KEPT: usize = 4_096;
/// How many addresses of a peer are remembered from which it answered: as many as it may tell.
pub const ANSWERED_KEPT: usize = 16;
/// To how many of this node's own questions answers are taken: those of three seconds, however many there are.
pub const ASKED_KEPT: usize = 4_096;
/// Most questions of a pair a second from addresses at which the other end is known, and as many from others. An observer that
/// recorded more than are remembered can replay those.
pub const QUESTIONS_PER_SECOND: u32 = 600;
/// The most such datagrams a second in all.
pub const DATAGRAMS_PER_SECOND: u32 = 4_000;
/// The most handshake messages a second that are taken from one address of the socket.
pub const HANDSHAKES_PER_SOURCE: u32 = 50;
/// The most handshake messages a second that are taken from the socket: each costs up to 0.2 ms.
pub const SOCKET_HANDSHAKES_PER_SECOND: u32 = 1_000;
/// More handshake messages than this from the socket in a second are load: senders have to prove their address first.
pub const HANDSHAKES_UNDER_LOAD: u32 = 100;
/// The most handshake messages a second, under load, whose proof of the sender's address is looked at: it costs 3 us.
pub const CLAIMS_PER_SECOND: u32 = 10_000;
/// The most cookies a second that are sent to those who have not proved their address: each costs 6 us.
pub const COOKIES_PER_SECOND: u32 = 20_000;
/// The most queues of the interface that are asked for where nobody says how many, as a half of the cores may be many.
pub const MAX_DEFAULT_QUEUES: usize = 4;
/// The most flows that the filter follows, 88 bytes each.
pub const MAX_FLOWS: usize = 262_144;
/// The most flows of one peer.
pub const MAX_PEER_FLOWS: usize = 65_536;
/// The filter counts time in these: often enough for what it forgets.
pub const TICKS_PER_SECOND: u32 = 4;
/// How old the note of a flow's last packet may be, so that not each packet moves the flow in the order.
pub const FLOW_TOUCH_TICKS: u32 = TICKS_PER_SECOND;
/// How long a connection of TCP may be silent. The RFC 5382 asks for two hours at least.
pub const TCP_FLOW_TICKS: u32 = 5 * 3_600 * TICKS_PER_SECOND;
/// How long TCP is remembered that was not answered yet, or that ended.
pub const FLEETING_TCP_TICKS: u32 = 120 * TICKS_PER_SECOND;
/// How long TCP is remembered after a reset.
pub const RESET_FLOW_TICKS: u32 = 10 * TICKS_PER_SECOND;
/// How long a flow of UDP or ICMP may be silent that was not answered.
pub const UDP_FLOW_TICKS: u32 = 30 * TICKS_PER_SECOND;
/// How long an answered flow of UDP may be silent.
pub const ANSWERED_UDP_TICKS: u32 = 180 * TICKS_PER_SECOND;
/// How long a flow of another protocol may be silent.
pub const OTHER_FLOW_TICKS: u32 = 600 * TICKS_PER_SECOND;
/// The most extension headers of an IPv6 packet that the filter reads.
pub const MAX_EXTENSION_HEADERS: usize = 8;
/// The most packets of one peer whose later fragments may still come. Peers whose hashes meet share them.
pub const FRAGMENTS_PER_ROW: usize = 64;
/// The rows of such packets; all together hold 16,384.
pub const FRAGMENT_ROWS: usize = 256;
/// How long later fragments are waited for, as systems do.
pub const FRAGMENT_TICKS: u32 = 30 * TICKS_PER_SECOND;
/// The most rules of a layer, and the most layers.
pub const MAX_RULES: usize = 4_096;
pub const MAX_RULE_LAYERS: usize = 4;
/// The most refusals that are counted each by itself, by source, destination, protocol and port, until they are taken.
pub const MAX_REFUSALS: usize = 1_024;
/// The most of one peer. Beyond it ports are counted together.
pub const REFUSALS_PER_PEER: usize = 64;
/// The most refusals a second that are told to one peer, by a reset or an ICMP error.
pub const TOLD_PER_PEER: u32 = 50;
/// The most that are told a second in all.
pub const TOLD_PER_SECOND: u32 = 500;
