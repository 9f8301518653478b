//! Hostile datagrams by their kind, gathered into what one system call sends: up to 64 of one length.
use mesh_engine::limits::MAX_DATAGRAM_BYTES;
use mesh_engine::queues::frames;
use mesh_engine::sessions::{Identity, Sessions};

/// Datagrams of `segment` bytes each, one behind the other.
pub struct Batch {
    pub bytes: Vec<u8>,
    pub segment: usize,
}

impl Batch {
    fn of(datagrams: &[Vec<u8>], segment: usize) -> Batch {
        Batch {
            bytes: datagrams.concat(),
            segment,
        }
    }

    pub fn count(&self) -> u64 {
        self.bytes.len().div_ceil(self.segment) as u64
    }
}

/// The kinds, by their names on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes without a meaning.
    Random,
    /// Sealed messages of sessions that do not exist.
    Sealed,
    /// Messages of every kind that were cut short, or are longer than they should be.
    Truncated,
    /// What was overheard on the way to the engine.
    Replayed,
    /// Beginnings of handshakes with a wrong first code.
    BadHandshakes,
    /// Beginnings of handshakes as only those make them who know the engine's public key.
    Handshakes,
    /// What looks like a probe of a path.
    Probes,
    /// Probes that were overheard on the way to the engine.
    ReplayedProbes,
    /// What names the word that those name, and has no meaning behind it.
    NamedProbes,
}

pub const KINDS: &[(&str, Kind)] = &[
    ("random", Kind::Random),
    ("sealed", Kind::Sealed),
    ("truncated", Kind::Truncated),
    ("replayed", Kind::Replayed),
    ("bad-handshakes", Kind::BadHandshakes),
    ("handshakes", Kind::Handshakes),
    ("probes", Kind::Probes),
    ("replayed-probes", Kind::ReplayedProbes),
    ("named-probes", Kind::NamedProbes),
];
/// How a probe of a path begins.
const PROBE: [u8; 3] = *b"mp\x01";
/// How much of one stands before what nobody can guess: its kind, and the word that it names.
const PROBE_HEAD: usize = 12;

/// The datagrams in one batch: the most that the kernel takes at once.
const IN_BATCH: usize = 64;
const BATCHES: usize = 8;
/// The length of a beginning of a handshake.
const INITIATION_BYTES: usize = 148;
/// The lengths of WireGuard's messages by their type: 1 to 4.
const LENGTHS: [usize; 4] = [INITIATION_BYTES, 92, 64, 128];

/// Seeded randomness (xorshift64), fast enough to fill memory.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 11) as usize % limit.max(1)
    }
}

/// What can be known of the engine: its public key, and what others sent to it.
pub struct Known {
    pub key: Option<[u8; 32]>,
    pub overheard: Vec<Vec<u8>>,
}

impl Known {
    fn probes(&self) -> impl Iterator<Item = &[u8]> {
        self.overheard
            .iter()
            .map(Vec::as_slice)
            .filter(|one| is_probe(one))
    }
}

impl Kind {
    /// Whether it is made of what was overheard: `Some` of what of that.
    pub fn of_overheard(self) -> Option<fn(&[u8]) -> bool> {
        match self {
            Kind::Replayed => Some(|_| true),
            Kind::ReplayedProbes | Kind::NamedProbes => Some(is_probe),
            _ => None,
        }
    }
}

fn is_probe(datagram: &[u8]) -> bool {
    datagram.starts_with(&PROBE)
}

/// Batches of one kind; none where what it needs is not known.
pub fn batches(kind: Kind, known: &Known, random: &mut Random) -> Vec<Batch> {
    match kind {
        Kind::Handshakes => known
            .key
            .map(|key| handshakes(key, random))
            .unwrap_or_default(),
        Kind::Replayed => known.overheard.iter().map(|one| again(one)).collect(),
        Kind::ReplayedProbes => known.probes().map(again).collect(),
        Kind::NamedProbes => known.probes().map(|one| named(one, random)).collect(),
        _ => (0..BATCHES).map(|n| made(kind, n, random)).collect(),
    }
}

fn again(datagram: &[u8]) -> Batch {
    let count = IN_BATCH.min(MAX_DATAGRAM_BYTES / datagram.len());
    Batch::of(&vec![datagram.to_vec(); count], datagram.len())
}

fn named(probe: &[u8], random: &mut Random) -> Batch {
    let head = &probe[..PROBE_HEAD.min(probe.len())];
    let one = |_| [head, &random.bytes(probe.len() - head.len())].concat();
    let count = IN_BATCH.min(MAX_DATAGRAM_BYTES / probe.len());
    Batch::of(&(0..count).map(one).collect::<Vec<_>>(), probe.len())
}

fn made(kind: Kind, n: usize, random: &mut Random) -> Batch {
    let which = n % LENGTHS.len();
    let (first, len) = match kind {
        Kind::Random => (None, 1 + random.below(500)),
        Kind::Sealed => (Some([4, 0, 0, 0]), 32 + 16 * random.below(60)),
        Kind::Truncated => {
            let change = 1 + random.below(40);
            let len = if n < BATCHES / 2 {
                LENGTHS[which] - change
            } else {
                LENGTHS[which] + change
            };
            (Some([which as u8 + 1, 0, 0, 0]), len)
        }
        Kind::Probes => (Some([b'm', b'p', 1, 1 + (n % 2) as u8]), 38 + 20 * (n % 2)),
        _ => (Some([1, 0, 0, 0]), INITIATION_BYTES),
    };
    let datagrams: Vec<Vec<u8>> = (0..IN_BATCH)
        .map(|_| {
            let mut bytes = random.bytes(len);
            if let (Some(first), Some(place)) = (first, bytes.first_chunk_mut()) {
                *place = first;
            }
            bytes
        })
        .collect();
    Batch::of(&datagrams, len)
}

/// Each of another key, so that none of them is an answer to what the engine knows.
fn handshakes(key: [u8; 32], random: &mut Random) -> Vec<Batch> {
    let one = |random: &mut Random| {
        let mut private = [0; 32];
        private.copy_from_slice(&random.bytes(32));
        let mut frame = Vec::new();
        Sessions::new(&Identity::new(private), 0, key, None).initiate(true, &mut frame);
        frames(&frame).next().unwrap_or_default().to_vec()
    };
    (0..BATCHES)
        .map(|_| {
            let datagrams: Vec<Vec<u8>> = (0..IN_BATCH).map(|_| one(random)).collect();
            Batch::of(&datagrams, INITIATION_BYTES)
        })
        .collect()
}
