//! Who may begin flows, compiled: ranges lead to sets, each set has a bit for each rule that names it, and the rules that
//! are about a flow are the AND of its source's and its destination's bits.
use crate::limits::MAX_RULES;
use crate::packet::{ICMP, ICMP_V6, TCP, UDP};
use crate::ranges::{Families, NOBODY, Prefix};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Rules as the application says them; `src/rules.ts` has the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketRules {
    /// Ranges and the sets that they are in. The longest range that holds an address counts.
    pub ranges: Vec<(Prefix, Vec<u32>)>,
    /// Every layer must allow a flow.
    pub layers: Vec<Vec<PacketRule>>,
    /// True: refusals are not told to their senders.
    pub silent: bool,
}

/// What a new table does to the rules.
pub enum RulesChange {
    /// They stay as they are.
    Keep,
    /// None: everything passes.
    Set(Option<PacketRules>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketRule {
    /// The set of the source; none: any source.
    pub from: Option<u32>,
    /// The set of the destination; none: any destination.
    pub to: Option<u32>,
    /// Empty: everything.
    pub on: Vec<PacketMatch>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketMatch {
    pub protocol: Matched,
    pub first_port: u16,
    pub last_port: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matched {
    Tcp,
    Udp,
    /// ICMP and ICMPv6.
    Icmp,
}

/// Who wants to begin what with whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub protocol: u8,
    /// The destination's.
    pub port: u16,
}

/// Immutable but for the counts. Made from the whole, off the packet path.
pub struct Rules {
    ranges: Families,
    sets: Vec<Box<[u32]>>,
    layers: Vec<Layer>,
    pub silent: bool,
}

struct Layer {
    rules: Arc<Counted>,
    from: Bits,
    to: Bits,
}

/// A layer's rules, and how many flows each allowed.
struct Counted {
    rules: Vec<PacketRule>,
    hits: Vec<AtomicU64>,
}

/// For each set the rules that name it, a bit each; and those that name none.
#[derive(Default)]
struct Bits {
    any: Vec<u64>,
    of: HashMap<u32, Vec<u64>>,
}

const WORDS: usize = MAX_RULES.div_ceil(64);

impl Rules {
    /// Compiles them. A layer that `before` has too goes on with its counts.
    pub fn new(packet_rules: PacketRules, before: Option<&Rules>) -> Rules {
        let PacketRules { ranges, layers, silent } = packet_rules;
        let prefixes = ranges.iter().enumerate().map(|(at, (prefix, _))| (*prefix, at as u32));
        let prefixes = Families::new(prefixes);
        let known = |at: usize| before.and_then(|before| before.layers.get(at)).map(|layer| &layer.rules);
        let layers = layers.into_iter().enumerate();
        Rules {
            ranges: prefixes,
            sets: ranges.into_iter().map(|(_, sets)| sets.into()).collect(),
            layers: layers.map(|(at, rules)| Layer::new(rules, known(at))).collect(),
            silent,
        }
    }

    /// May this flow begin? Every layer must have a rule that says so, whose count then grows.
    pub fn allow(&self, question: &Question, counts: bool) -> bool {
        let (from, to) = (self.sets_of(question.source), self.sets_of(question.destination));
        let mut found = [(0, 0); 4];
        for (at, layer) in self.layers.iter().enumerate() {
            let Some(rule) = layer.find(from, to, question) else { return false };
            if let Some(place) = found.get_mut(at) {
                *place = (at, rule);
            }
        }
        if counts {
            for (at, rule) in &found[..self.layers.len().min(found.len())] {
                self.layers[*at].rules.hits[*rule].fetch_add(1, Relaxed);
            }
        }
        true
    }

    /// How many flows each rule allowed, layer by layer.
    pub fn hits(&self) -> Vec<u64> {
        let all = self.layers.iter().flat_map(|layer| &layer.rules.hits);
        all.map(|hits| hits.load(Relaxed)).collect()
    }

    fn sets_of(&self, address: IpAddr) -> &[u32] {
        match self.ranges.owner(address) {
            NOBODY => &[],
            range => self.sets.get(range as usize).map_or(&[], |sets| sets),
        }
    }
}

impl Layer {
    fn new(rules: Vec<PacketRule>, before: Option<&Arc<Counted>>) -> Layer {
        let from = Bits::new(rules.iter().map(|rule| rule.from));
        let to = Bits::new(rules.iter().map(|rule| rule.to));
        let same = before.filter(|before| before.rules == rules).cloned();
        let rules = same.unwrap_or_else(|| {
            let hits = rules.iter().map(|_| AtomicU64::default()).collect();
            Arc::new(Counted { rules, hits })
        });
        Layer { rules, from, to }
    }

    /// The first rule that allows it.
    fn find(&self, from: &[u32], to: &[u32], question: &Question) -> Option<usize> {
        let (sources, destinations) = (self.from.of_sets(from), self.to.of_sets(to));
        for word in 0..self.from.any.len().min(WORDS) {
            let mut bits = sources[word] & destinations[word];
            while bits != 0 {
                let at = word * 64 + bits.trailing_zeros() as usize;
                if self.rules.rules.get(at).is_some_and(|rule| rule.is_about(question)) {
                    return Some(at);
                }
                bits &= bits - 1;
            }
        }
        None
    }
}

impl Bits {
    fn new(named: impl ExactSizeIterator<Item = Option<u32>>) -> Bits {
        let words = named.len().div_ceil(64);
        let mut bits = Bits { any: vec![0; words], of: HashMap::new() };
        for (at, set) in named.enumerate() {
            let place = match set {
                None => &mut bits.any,
                Some(set) => bits.of.entry(set).or_insert_with(|| vec![0; words]),
            };
            place[at / 64] |= 1 << (at % 64);
        }
        bits
    }

    fn of_sets(&self, sets: &[u32]) -> [u64; WORDS] {
        let mut sum = [0; WORDS];
        let named = sets.iter().filter_map(|set| self.of.get(set));
        for bits in named.chain([&self.any]) {
            sum.iter_mut().zip(bits).for_each(|(word, more)| *word |= more);
        }
        sum
    }
}

impl PacketRule {
    fn is_about(&self, question: &Question) -> bool {
        self.on.is_empty() || self.on.iter().any(|each| each.is_about(question))
    }
}

impl PacketMatch {
    fn is_about(&self, question: &Question) -> bool {
        let ports = || (self.first_port..=self.last_port).contains(&question.port);
        match self.protocol {
            Matched::Tcp => question.protocol == TCP && ports(),
            Matched::Udp => question.protocol == UDP && ports(),
            Matched::Icmp if question.source.is_ipv6() => question.protocol == ICMP_V6,
            Matched::Icmp => question.protocol == ICMP,
        }
    }
}
