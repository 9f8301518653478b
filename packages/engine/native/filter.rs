//! The packet filter: which flows may begin to this node, and to what it receives for. `@mesh/vpn` says by which rules.
//!
//! 1. Read the headers, over extension headers (`headers`); later fragments follow their first one (`fragments`).
//! 2. Find the packet's flow (`key`, `flow_table`, `tracker`): replies pass, and what belongs to a flow that was allowed.
//! 3. Ask the rules about a new flow, and about each flow anew when they changed (`rules`).
//! 4. Errors of ICMP pass with the flow that they are about (`related`).
//! 5. A refusal is counted (`refusals`), and told to the sender (`reply`).
//!
//! Flows are followed without rules too: the first rules then end what they do not allow, and nothing else.
mod flow;
mod flow_table;
mod fragments;
mod headers;
mod key;
mod lists;
mod refusals;
mod related;
mod reply;
mod rules;
mod run;
mod tracker;

pub use refusals::Refused;
pub use reply::MAX_REPLY;
pub use rules::{Matched, PacketMatch, PacketRule, PacketRules, Rules, RulesChange};
pub use run::Run;

use crate::limits::*;
use crate::packet::{Ip, TCP, UDP};
use flow::Ticks;
use flow_table::{Bounds, FlowTable};
use fragments::{FragmentKey, Fragments};
use headers::{DCCP, Headers, Kind, Part, SCTP, UDP_LITE, read};
use key::Key;
use parking_lot::Mutex;
use refusals::Refusals;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use tracker::{Look, Question, Seen, look, settle};

/// The state that all threads share. Its locks are held for one packet each, and for no longer with more flows.
pub struct Filter {
    /// Time since the engine began.
    now: AtomicU32,
    flows: Mutex<FlowTable>,
    fragments: Mutex<Fragments>,
    refusals: Mutex<Refusals>,
}

/// From where a packet is judged.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// None: all flows may begin.
    pub rules: Option<&'a Rules>,
    /// Each change of rules has another number.
    pub generation: u32,
    /// The number of the peer that an address belongs to.
    pub owner: &'a dyn Fn(IpAddr) -> Option<u32>,
    /// The peer at the other end: the sender, or of what leaves the receiver.
    pub peer: u32,
    /// True: this node receives it, for itself or for a guest or route of its own.
    pub inbound: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// `runs`: so do plain packets of the flow that follow at once.
    Pass {
        runs: bool,
    },
    /// It comes after the end of its connection. Nobody is told.
    Drop,
    Refuse,
}

const PASS: Verdict = Verdict::Pass { runs: false };

impl Default for Filter {
    fn default() -> Filter {
        Filter::new(MAX_FLOWS, MAX_PEER_FLOWS)
    }
}

impl Filter {
    /// With so many flows in all, and of a peer.
    fn new(all: usize, peer: usize) -> Filter {
        Filter {
            now: AtomicU32::new(0),
            flows: Mutex::new(FlowTable::new(Bounds { all, peer })),
            fragments: Mutex::default(),
            refusals: Mutex::default(),
        }
    }

    /// Sets the time.
    pub fn set_now(&self, now: Ticks) {
        self.now.store(now, Relaxed);
    }

    pub fn now(&self) -> Ticks {
        self.now.load(Relaxed)
    }

    /// The number of flows that are kept.
    pub fn flow_count(&self) -> usize {
        self.flows.lock().len()
    }

    /// May the packet pass? It is as long as its header says.
    #[inline]
    pub fn judge(&self, view: View, packet: &[u8], ip: &Ip) -> Verdict {
        let ruled = view.inbound && view.rules.is_some();
        let Ok(headers) = read(packet, ip) else {
            return if ruled { Verdict::Refuse } else { PASS };
        };
        match headers.part {
            Part::Whole => self.judge_flow(view, (packet, ip), &headers),
            _ if !ruled => match headers.part {
                Part::Later { .. } => PASS,
                _ => self.judge_flow(view, (packet, ip), &headers),
            },
            Part::First { id, end } => {
                let key = fragment_key(ip, &headers, id);
                if self.fragments.lock().has(view.peer, &key, self.now()) {
                    return Verdict::Refuse;
                }
                let verdict = self.judge_flow(view, (packet, ip), &headers);
                if matches!(verdict, Verdict::Pass { .. }) {
                    self.fragments.lock().add(view.peer, key, (end, self.now()));
                }
                verdict
            }
            Part::Later { id, start } => {
                let key = fragment_key(ip, &headers, id);
                let follows = self.fragments.lock().follows(view.peer, &key, (start, self.now()));
                if follows { PASS } else { Verdict::Refuse }
            }
        }
    }

    #[inline]
    fn judge_flow(&self, view: View, (packet, ip): (&[u8], &Ip), headers: &Headers) -> Verdict {
        let passes = match headers.kind {
            Kind::Error => !view.inbound || self.is_related(view, packet, (ip, headers)),
            Kind::Message => !view.inbound,
            _ => {
                let (key, from) = Key::of(ip.source, ip.destination, headers);
                let View { generation, peer, inbound, .. } = view;
                let (kind, now, ruled) = (headers.kind, self.now(), view.rules.is_some());
                let seen = Seen { key, from, inbound, peer, kind, ruled, generation, now };
                return self.judge_seen(view, ip, &seen);
            }
        };
        if passes || self.allows(view, ip, (headers, Question::New)) { PASS } else { Verdict::Refuse }
    }

    #[inline]
    fn judge_seen(&self, view: View, ip: &Ip, seen: &Seen) -> Verdict {
        let mut found = look(&mut self.flows.lock(), seen);
        if let Look::Ask(question) = found {
            let protocol = seen.key.protocol();
            let ports = (seen.key.port(seen.from), seen.key.port(seen.from ^ 1));
            let headers = Headers { protocol, at: 0, ports, kind: seen.kind, part: Part::Whole };
            let allowed = self.allows(view, ip, (&headers, question));
            found = settle(&mut self.flows.lock(), seen, (question, allowed));
        }
        match found {
            Look::Pass { runs } => Verdict::Pass { runs },
            Look::Drop => Verdict::Drop,
            Look::Refuse | Look::Ask(_) => Verdict::Refuse,
        }
    }

    /// Do the rules allow that the packet's flow begins?
    fn allows(&self, view: View, ip: &Ip, (headers, question): (&Headers, Question)) -> bool {
        let Some(rules) = view.rules else { return true };
        let asked = rules::Question {
            source: ip.source,
            destination: ip.destination,
            protocol: headers.protocol,
            port: headers.ports.1,
        };
        let (source, destination, port) = (ip.destination, ip.source, headers.ports.0);
        let reversed = rules::Question { source, destination, port, ..asked };
        rules.allow(if question.is_reversed() { &reversed } else { &asked }, question == Question::New)
    }

    /// Is this error about a packet of a flow that is known, which the error's receiver sent to its sender, or over it?
    fn is_related(&self, view: View, packet: &[u8], (ip, headers): (&Ip, &Headers)) -> bool {
        let Some(quoted) = related::quoted(packet, headers.at) else { return false };
        if quoted.source != ip.destination || (view.owner)(quoted.destination) != Some(view.peer) {
            return false;
        }
        let mut flows = self.flows.lock();
        let Some(at) = flows.find(&quoted.key, self.now()) else { return false };
        let flow = flows.get(at);
        !flow.refused && (flow.ours || flow.generation == view.generation)
    }

    /// Counts a refusal. The length of what its sender is told, in `out`; none: nothing.
    pub fn refuse(&self, view: View, packet: &[u8], ip: &Ip, out: &mut [u8; MAX_REPLY]) -> Option<usize> {
        let headers = read(packet, ip);
        let has_port = |headers: &&Headers| matches!(headers.protocol, TCP | UDP | UDP_LITE | SCTP | DCCP);
        let known = headers.as_ref().ok();
        let refused = Refused {
            source: ip.source,
            destination: ip.destination,
            protocol: known.map_or(ip.protocol, |headers| headers.protocol),
            port: known.filter(has_port).map(|headers| headers.ports.1).filter(|port| *port != 0),
        };
        let mut refusals = self.refusals.lock();
        refusals.count(view.peer, refused);
        let is_silent = view.rules.is_none_or(|rules| rules.silent);
        let headers = headers.ok().filter(|_| !is_silent)?;
        let len = reply::build_reply(packet, ip, &headers, out)?;
        refusals.may_tell(view.peer, self.now()).then_some(len)
    }

    /// What was refused since the last call, and how often.
    pub fn take_refusals(&self) -> Vec<(Refused, u64)> {
        self.refusals.lock().take()
    }
}

fn fragment_key(ip: &Ip, headers: &Headers, id: u32) -> FragmentKey {
    let protocol = if ip.is_v6() { 0 } else { headers.protocol };
    FragmentKey { source: ip.source, destination: ip.destination, id, protocol }
}

#[cfg(test)]
#[path = "filter_tests/mod.rs"]
mod tests;
