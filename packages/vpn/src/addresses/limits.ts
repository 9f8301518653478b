/** Times of address leases. What older nodes fix is said so (wire document, 6.1); the rest is our choice. */

/** Wire: nodes with a heartbeat younger than this take part in the election. */
export const AVAILABLE_MS = 900_000

/** A node that just came hears the heartbeats of those who came with it before it judges who waits. */
export const JOIN_MS = 1_000
/** Another's word on who leads, said at the same moment, has come by then; older nodes take 5 s. */
export const LEADER_SETTLE_MS = 500
/** Another's claim of the same address, made at the same moment, has come by then. */
export const CLAIM_SETTLE_MS = 1_000
/** Changes of the ledger that come within this time are judged together. */
export const GATHER_MS = 50
/** A write that shows no effect is tried again. */
export const REWRITE_MS = 1_000

/** A leader of ours acts within a second; an older one looks every 5 s, and every second time only when it waits. */
export const LEADER_PATIENCE_MS = 5_000
export const OLDER_LEADER_PATIENCE_MS = 20_000
/** Whoever is next and does not say so: it has no wish for an address, or is gone. */
export const NEXT_PATIENCE_MS = 3_000
export const OLDER_NEXT_PATIENCE_MS = 12_000
/** Those behind a silent one had all that time, too: half of the one before for each. */
export const FURTHER_PATIENCE_MS = 1_000
/** After this time, and up to half of it more, an address is taken without a turn: others must not stall a node. */
export const TURN_DEADLINE_MS = 60_000

/** So long after its first lease a node gives an address up to whoever claims it, too, without a person's decision. */
export const YOUNG_LEASE_MS = 600_000
/** A lease that was claimed not longer than this before a node came with that address as its own gives way to it, */
export const SAME_MOMENT_MS = 10_000
/** within this time. */
export const LEASE_MOVES_MS = 15_000
/** looked for this often. */
export const LOOK_AGAIN_MS = 500
/** Both have seen a conflict before one of the two gives the address up. */
export const CONFLICT_SETTLE_MS = 2_000
/** Of two that hold one address the smaller id waits so long for the other to give it up; an older node never does. */
export const CONFLICT_PATIENCE_MS = 30_000

/** A lease takes no address that another member had within this time. */
export const PAST_ADDRESS_MS = 30 * 24 * 3_600_000
/** Addresses of others that are remembered, and of one member: ids cost nothing, and a machine has few. */
export const MAX_PAST_ADDRESSES = 65_536
export const MAX_PAST_ADDRESSES_PER_PEER = 16
/** What is new is saved after this time; when those that are about were seen last, at this interval. */
export const SAVE_PAST_SOON_MS = 5_000
export const SAVE_PAST_INTERVAL_MS = 3_600_000

/** Who yields leadership names a node this long after it came: a fixed address is announced by then. */
export const YIELD_GRACE_MS = 3_000
/** Changes of the ledger that come within this time are judged together. */
export const YIELD_GATHER_MS = 500
/** A leader that has no address after this time does not want one. */
export const YIELD_PATIENCE_MS = 60_000
/** Where the elected node is not ours, one of ours speaks for it after this time, and up to twice as much more. */
export const YIELD_FALLBACK_MS = 10_000
