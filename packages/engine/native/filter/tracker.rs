//! What a packet means for its flow:
//!
//! 1. `look` finds its flow. It passes, is refused, or a question comes up that the rules have to answer.
//! 2. The rules are asked, while nobody waits for that.
//! 3. `settle` takes the answer: a flow begins, goes on, or ends.
use super::flow::{Flow, Ticks};
use super::flow_table::FlowTable;
use super::headers::{Kind, RST, Tcp};
use super::key::{Key, Side};

/// A packet as the tracker sees it.
#[derive(Clone, Copy)]
pub struct Seen {
    pub key: Key,
    /// The side of its source.
    pub from: Side,
    /// True: this node receives it, for itself or others, and the rules say whether it may begin a flow.
    pub inbound: bool,
    /// The number of the peer at the other end.
    pub peer: u32,
    pub kind: Kind,
    /// False: there are no rules, and all flows may begin.
    pub ruled: bool,
    /// The generation of the rules in force.
    pub generation: u32,
    pub now: Ticks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// `runs`: so do plain packets of the flow that follow at once.
    Pass {
        runs: bool,
    },
    /// It comes after the end of its connection. No rule is to blame, and nobody is told.
    Drop,
    Refuse,
    Ask(Question),
}

/// May the flow begin, or go on?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// This packet begins one.
    New,
    /// The rules were others when it began. `reversed`: it began with the packet's destination.
    Again { reversed: bool },
    /// A packet of TCP leaves for a connection that is not known, from before a restart perhaps. Did the other end begin it?
    Left,
}

impl Question {
    /// True: the packet's destination is who began it.
    pub fn is_reversed(self) -> bool {
        matches!(self, Question::Left | Question::Again { reversed: true })
    }
}

impl Seen {
    fn tcp(&self) -> Option<Tcp> {
        if let Kind::Tcp(tcp) = self.kind { Some(tcp) } else { None }
    }

    /// A packet of TCP for a connection that is not known, from before a restart perhaps.
    fn is_left_over(&self) -> bool {
        self.tcp().is_some() && !self.is_opening() && !self.makes_none()
    }

    /// The side that this node receives for, or sends for.
    fn own_side(&self) -> Side {
        if self.inbound { self.from ^ 1 } else { self.from }
    }

    /// True when this end probably connected: who does has the greater port, nearly always.
    fn probably_connected(&self) -> bool {
        self.key.port(self.own_side()) > self.key.port(self.own_side() ^ 1)
    }

    /// It asks for a new connection, or something anew.
    fn is_opening(&self) -> bool {
        self.kind == Kind::Ask || self.tcp().is_some_and(|tcp| tcp.is_opening())
    }

    /// It belongs to a flow or to none, but makes none.
    fn makes_none(&self) -> bool {
        self.kind == Kind::Answer || self.tcp().is_some_and(|tcp| tcp.has(RST))
    }

    fn is_new_connection(&self, flow: &Flow) -> bool {
        self.inbound
            && self.tcp().is_some_and(|tcp| tcp.is_opening())
            && (flow.is_over() || self.from != flow.origin)
    }
}

/// The first step.
pub fn look(flows: &mut FlowTable, seen: &Seen) -> Look {
    let Some(at) = flows.find(&seen.key, seen.now) else {
        return match (seen.inbound, seen.makes_none()) {
            (_, false) if seen.is_left_over() && !seen.ruled => {
                let origin = if seen.probably_connected() { seen.own_side() } else { seen.own_side() ^ 1 };
                begin(flows, seen, (origin, seen.probably_connected()))
            }
            (true, _) => Look::Ask(Question::New),
            (false, true) => Look::Pass { runs: false },
            (false, false) if seen.is_left_over() => Look::Ask(Question::Left),
            (false, false) => begin(flows, seen, (seen.from, true)),
        };
    };
    let flow = flows.get(at);
    if !seen.inbound && seen.is_opening() && (!flow.ours || flow.refused || flow.is_over()) {
        flows.remove(at);
        return begin(flows, seen, (seen.from, true));
    }
    if seen.is_new_connection(flow) {
        return Look::Ask(Question::New);
    }
    if flow.generation != seen.generation && !flow.ours {
        return Look::Ask(Question::Again { reversed: flow.origin != seen.from });
    }
    if flow.refused {
        flows.touch(at, seen.now);
        return Look::Refuse;
    }
    step(flows, at, seen)
}

/// The last step, with what the rules say.
pub fn settle(flows: &mut FlowTable, seen: &Seen, (question, allowed): (Question, bool)) -> Look {
    let at = flows.find(&seen.key, seen.now);
    match (question, at) {
        (Question::New, at) => {
            if !allowed {
                return Look::Refuse;
            }
            if seen.makes_none() {
                return Look::Pass { runs: false };
            }
            // another thread may have begun it meanwhile
            match at.filter(|at| !seen.is_new_connection(flows.get(*at))) {
                Some(at) => step(flows, at, seen),
                None => {
                    at.into_iter().for_each(|at| flows.remove(at));
                    begin(flows, seen, (seen.from, false))
                }
            }
        }
        (Question::Again { .. }, Some(at)) => {
            let flow = flows.get(at);
            (flow.generation, flow.refused) = (seen.generation, !allowed);
            if allowed {
                return step(flows, at, seen);
            }
            flows.touch(at, seen.now);
            Look::Refuse
        }
        // it made way for another one meanwhile
        (Question::Again { .. }, None) if allowed => Look::Pass { runs: false },
        (Question::Again { .. }, None) => Look::Refuse,
        (Question::Left, Some(at)) => step(flows, at, seen),
        (Question::Left, None) if allowed => begin(flows, seen, (seen.from ^ 1, false)),
        (Question::Left, None) if seen.probably_connected() => begin(flows, seen, (seen.from, true)),
        (Question::Left, None) => Look::Refuse,
    }
}

/// Begins a flow, with the side that began it, and whether it is this node's own.
fn begin(flows: &mut FlowTable, seen: &Seen, (origin, ours): (Side, bool)) -> Look {
    let mut flow = Flow::new(seen.key, origin, seen.peer, seen.now);
    (flow.generation, flow.ours) = (seen.generation, ours);
    let at = flows.insert(flow);
    step(flows, at, seen)
}

fn step(flows: &mut FlowTable, at: u32, seen: &Seen) -> Look {
    let flow = flows.get(at);
    let passes = flow.step(seen.from, seen.tcp(), seen.inbound);
    let runs = flow.runs();
    flows.touch(at, seen.now);
    if passes || !seen.ruled { Look::Pass { runs } } else { Look::Drop }
}
