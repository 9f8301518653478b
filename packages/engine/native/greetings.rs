//! A guest sends to where it heard this node last, and so to nobody once this node has another address. It is told by the
//! first word that comes from there, which nobody may have for it: so it gets a keepalive, some times as one may be lost.
use crate::limits::{GREETINGS, GUEST_LOOK};
use crate::shared::Shared;
use crate::table::{Entry, Table};
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Instant;

/// The thread of timers' own.
#[derive(Default)]
pub struct Greetings {
    seen: HashMap<u32, Seen>,
    looked: Option<Instant>,
}

struct Seen {
    /// This node's address towards the guest.
    own: IpAddr,
    /// How many keepalives are still to be sent.
    left: u8,
}

impl Greetings {
    /// Looks, now and then, whether this node's address towards a guest is another than before. `frames` is used and empty
    /// afterwards.
    pub fn look(&mut self, shared: &Shared, table: &Table, now: Instant, frames: &mut Vec<u8>) {
        let Some(sockets) = &shared.sockets else { return };
        if self.looked.is_some_and(|at| now.saturating_duration_since(at) < GUEST_LOOK) {
            return;
        }
        self.looked = Some(now);
        self.seen.retain(|id, _| table.entry(*id).is_some_and(Entry::is_guest));
        for entry in table.entries().iter().filter(|entry| entry.is_guest()) {
            let own = entry.peer.heard().and_then(|guest| sockets.address_towards(guest));
            if own.is_some_and(|own| self.is_due(entry.peer.id, own)) {
                greet(shared, entry, frames);
            }
        }
    }

    fn is_due(&mut self, guest: u32, own: IpAddr) -> bool {
        let seen = self.seen.entry(guest).or_insert(Seen { own, left: 0 });
        if seen.own != own {
            *seen = Seen { own, left: GREETINGS };
        }
        let due = seen.left > 0;
        seen.left = seen.left.saturating_sub(1);
        due
    }
}

/// Without a session there is nothing to say that the guest would believe.
fn greet(shared: &Shared, entry: &Entry, frames: &mut Vec<u8>) {
    let mut state = entry.peer.state();
    if let Some(sessions) = state.existing() {
        sessions.seal(&[], 0, frames);
    }
    drop(state);
    shared.deliver(entry, frames, true);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_address_is_told_some_times_and_the_same_one_never() {
        let [old, new] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse().unwrap());
        let mut greetings = Greetings::default();
        assert!((0..9).all(|_| !greetings.is_due(1, old)));
        let told = (0..9).filter(|_| greetings.is_due(1, new)).count();
        assert_eq!(told, GREETINGS as usize);
        assert!(!greetings.is_due(2, new), "another guest");
        assert!(greetings.is_due(1, old), "back");
    }
}
