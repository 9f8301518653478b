//! Frames that travel over a stream which the application has: a big-endian length of two bytes, then a sealed
//! datagram (or, to a legacy member, a packet).
//!
//! Out: `Outgoing::push` -> `take` -> the stream. In: the stream -> `Incoming::feed` -> `Incoming::take`. Both are
//! bounded for each peer, drop the newest and say how many, so that no peer costs another one anything.
use crate::limits::*;
use parking_lot::Mutex;
use std::collections::VecDeque;

/// The frames of a batch, without their prefixes. Stops at the first that is not whole.
pub fn frames(batch: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = batch;
    std::iter::from_fn(move || {
        let (prefix, behind) = rest.split_first_chunk::<FRAME_PREFIX_BYTES>()?;
        let (frame, next) = behind.split_at_checked(u16::from_be_bytes(*prefix) as usize)?;
        rest = next;
        Some(frame)
    })
}

/// Appends a frame of `bytes`, which are at most 65,535.
pub fn push_frame(batch: &mut Vec<u8>, bytes: &[u8]) {
    batch.extend_from_slice(&(bytes.len() as u16).to_be_bytes());
    batch.extend_from_slice(bytes);
}

/// The outcome of `push`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// Frames for which there was no room.
    pub dropped: usize,
    /// The queue was empty and its taker has to be told.
    pub announce: bool,
}

/// Frames that wait for a peer's stream.
#[derive(Default)]
pub struct Outgoing(Mutex<OutgoingState>);

#[derive(Default)]
struct OutgoingState {
    batches: VecDeque<Vec<u8>>,
    bytes: usize,
    announced: bool,
    closed: bool,
}

impl Outgoing {
    /// Queues whole frames. `urgent`: handshakes and keepalives, which have a reserve.
    ///
    /// A long batch is moved and `frames` left empty with fresh memory; a short one is copied to the last batch.
    pub fn push(&self, frames: &mut Vec<u8>, urgent: bool) -> Pushed {
        let limit = MAX_OUTBOUND_BYTES + if urgent { HANDSHAKE_RESERVE_BYTES } else { 0 };
        let mut state = self.0.lock();
        let room = if state.closed { 0 } else { limit.saturating_sub(state.bytes) };
        let (fits, dropped) = fitting(frames, room);
        if fits == 0 {
            frames.clear();
            return Pushed { dropped, announce: false };
        }
        state.bytes += fits;
        frames.truncate(fits);
        while let Some(head) = excess(frames) {
            let tail = frames[head..].to_vec();
            frames.truncate(head);
            state.append(frames);
            frames.extend_from_slice(&tail);
        }
        state.append(frames);
        let announce = !std::mem::replace(&mut state.announced, true);
        Pushed { dropped, announce }
    }

    /// The oldest batch of whole frames; none: the queue is empty, and the next push announces again.
    pub fn take(&self) -> Option<Vec<u8>> {
        let mut state = self.0.lock();
        match state.batches.pop_front() {
            Some(batch) => {
                state.bytes -= batch.len();
                Some(batch)
            }
            None => {
                state.announced = false;
                None
            }
        }
    }

    pub fn is_waiting(&self) -> bool {
        self.0.lock().bytes > 0
    }

    /// Forgets what waits; gives the number of frames.
    pub fn clear(&self) -> usize {
        let mut state = self.0.lock();
        let dropped = state.batches.drain(..).map(|batch| frames(&batch).count()).sum();
        (state.bytes, state.announced) = (0, false);
        dropped
    }

    /// Forgets what waits, and takes nothing any more.
    pub fn close(&self) -> usize {
        self.0.lock().closed = true;
        self.clear()
    }
}

impl OutgoingState {
    /// Leaves `frames` empty.
    fn append(&mut self, frames: &mut Vec<u8>) {
        match self.batches.back_mut() {
            Some(last) if last.len() + frames.len() <= MAX_BATCH_BYTES => last.extend_from_slice(frames),
            _ if frames.len() > MAX_BATCH_BYTES / 4 => {
                self.batches.push_back(std::mem::replace(frames, Vec::with_capacity(MAX_BATCH_BYTES)));
            }
            _ => self.batches.push_back(frames.clone()),
        }
        frames.clear();
    }
}

/// Where to cut what is too long for one batch; one frame alone is never cut.
fn excess(batch: &[u8]) -> Option<usize> {
    if batch.len() <= MAX_BATCH_BYTES {
        return None;
    }
    let head = match fitting(batch, MAX_BATCH_BYTES).0 {
        0 => FRAME_PREFIX_BYTES + frames(batch).next()?.len(),
        fits => fits,
    };
    (head < batch.len()).then_some(head)
}

/// How many bytes of whole frames fit into `room`, and how many frames do not.
fn fitting(batch: &[u8], room: usize) -> (usize, usize) {
    if batch.len() <= room {
        return (batch.len(), 0);
    }
    let (mut bytes, mut dropped) = (0, 0);
    for frame in frames(batch) {
        let len = FRAME_PREFIX_BYTES + frame.len();
        // once one is dropped, all behind it are: they would arrive out of order
        if dropped == 0 && bytes + len <= room {
            bytes += len;
        } else {
            dropped += 1;
        }
    }
    (bytes, dropped)
}

/// The outcome of `feed`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fed {
    /// Whole frames for which there was no room.
    pub dropped: usize,
    /// Bytes that are no frames: 1 for each call, however many frames they could have been.
    pub bad: usize,
    /// With this call the bytes stopped to be frames; nothing is taken until `restart`.
    pub broken: bool,
    /// There is work, and nobody was told yet.
    pub announce: bool,
    /// More than half of the bound is used: the stream should not be read until there is room again.
    pub crowded: bool,
}

/// Bytes from a peer's stream, and the whole frames among them that wait to be opened.
#[derive(Default)]
pub struct Incoming(Mutex<IncomingState>);

#[derive(Default)]
struct IncomingState {
    frames: Vec<u8>,
    /// The beginning of a frame whose end has not come yet.
    partial: Vec<u8>,
    broken: bool,
    announced: bool,
    crowded: bool,
}

impl Incoming {
    /// Takes the next bytes of the stream, cut anywhere.
    pub fn feed(&self, mut bytes: &[u8]) -> Fed {
        let mut state = self.0.lock();
        if state.broken {
            return Fed { bad: 1, ..Fed::default() };
        }
        let mut fed = Fed::default();
        while !state.partial.is_empty() && !bytes.is_empty() {
            let Some(wanted) = missing(&state.partial) else { return state.give_up(fed) };
            let (now, rest) = bytes.split_at(wanted.min(bytes.len()));
            state.partial.extend_from_slice(now);
            bytes = rest;
            match missing(&state.partial) {
                None => return state.give_up(fed),
                Some(0) => {
                    let whole = std::mem::take(&mut state.partial);
                    fed.dropped += state.accept(&whole);
                    // the memory is used again
                    state.partial = whole;
                    state.partial.clear();
                }
                Some(_) => {}
            }
        }
        let mut whole = 0;
        loop {
            match missing(&bytes[whole..]) {
                None => {
                    fed.dropped += state.accept(&bytes[..whole]);
                    return state.give_up(fed);
                }
                Some(0) => whole += FRAME_PREFIX_BYTES + length(&bytes[whole..]),
                Some(_) => break,
            }
        }
        fed.dropped += state.accept(&bytes[..whole]);
        state.partial.extend_from_slice(&bytes[whole..]);
        state.announce(fed)
    }

    /// Takes frames that are already whole: the packets of a legacy member.
    pub fn feed_whole(&self, frames: &[u8]) -> Fed {
        let mut state = self.0.lock();
        let dropped = state.accept(frames);
        state.announce(Fed { dropped, ..Fed::default() })
    }

    /// Swaps all whole frames into `batch`, whose memory is used for the next ones. True: it was crowded.
    pub fn take(&self, batch: &mut Vec<u8>) -> bool {
        batch.clear();
        let mut state = self.0.lock();
        state.announced = false;
        std::mem::swap(&mut state.frames, batch);
        std::mem::take(&mut state.crowded)
    }

    /// A new stream begins with a whole frame.
    pub fn restart(&self) {
        let mut state = self.0.lock();
        state.partial.clear();
        state.broken = false;
    }
}

impl IncomingState {
    fn accept(&mut self, batch: &[u8]) -> usize {
        let (fits, dropped) = fitting(batch, MAX_INBOUND_BYTES.saturating_sub(self.frames.len()));
        self.frames.extend_from_slice(&batch[..fits]);
        dropped
    }

    fn give_up(&mut self, fed: Fed) -> Fed {
        self.broken = true;
        self.partial.clear();
        self.announce(Fed { broken: true, bad: 1, ..fed })
    }

    fn announce(&mut self, fed: Fed) -> Fed {
        let announce = !self.frames.is_empty() && !std::mem::replace(&mut self.announced, true);
        self.crowded = self.frames.len() > MAX_INBOUND_BYTES / 2;
        Fed { announce, crowded: self.crowded, ..fed }
    }
}

fn length(frame: &[u8]) -> usize {
    frame.first_chunk().map_or(0, |prefix| u16::from_be_bytes(*prefix) as usize)
}

/// Bytes until the frame that begins `bytes` is whole, or at least its length is known. None: it is no frame;
/// the shortest message has 32 bytes.
fn missing(bytes: &[u8]) -> Option<usize> {
    let Some(prefix) = bytes.first_chunk::<FRAME_PREFIX_BYTES>() else {
        return Some(FRAME_PREFIX_BYTES - bytes.len());
    };
    let len = u16::from_be_bytes(*prefix) as usize;
    (len >= SEAL_BYTES).then(|| (FRAME_PREFIX_BYTES + len).saturating_sub(bytes.len()))
}

#[cfg(test)]
#[path = "queues_tests.rs"]
mod tests;
