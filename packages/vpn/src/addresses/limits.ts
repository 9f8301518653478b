/** Times and bounds of this node's addresses, and of the election for the next one. */

// Taking a lease

/** How long a node that just joined waits, in ms: it hears the heartbeats of those who joined with it. */
export const JOIN_MS = 1_000
/** How long a claim waits, in ms, for another node's claim of the same address, made at the same moment. */
export const CLAIM_RACE_MS = 1_000

// Keeping it

/**
 * How long after its first lease, in ms, a node gives its address up to whoever else claims it, without a person's
 * decision.
 */
export const YOUNG_LEASE_MS = 600_000
/**
 * Number of leases that a node loses after a start before it gives none up any more. Keys cost nothing, and each may ask for an
 * address.
 */
export const MAX_LOST_LEASES = 16
/**
 * How long before a node's start, in ms, a lease of that node's fixed address may have been claimed and still gives way
 * to it.
 */
export const SAME_MOMENT_MS = 10_000
/** How long a node with a fixed address waits, in ms, for such a lease to move. */
export const LEASE_MOVES_MS = 15_000
/** How often, in ms, it looks whether the lease has moved. */
export const LOOK_AGAIN_MS = 500
/** How long the greater of two peer ids holds on to an address of both, in ms: both have seen the conflict by then. */
export const CONFLICT_SEEN_MS = 2_000
/** How long the smaller one waits, in ms, for the greater one to give it up; a legacy member never does. */
export const CONFLICT_PATIENCE_MS = 30_000

// Addresses that others had

/** How long, in ms, a lease leaves an address alone that another member had. */
export const PAST_ADDRESS_MS = 30 * 24 * 3_600_000
/**
 * How long a member must have had an address before a lease leaves it alone, in ms, even if no other is free. An attacker with
 * many keys for a moment must not block a range for a month.
 */
export const LASTING_ADDRESS_MS = 24 * 3_600_000
/** The most addresses of others that are remembered: as many as are saved within a turn of the event loop. */
export const MAX_PAST_ADDRESSES = 16_384
/** The most addresses of one member that are remembered: a machine has few, and peer ids cost nothing. */
export const MAX_PAST_ADDRESSES_PER_PEER = 16
/** How long after a new address the memory is saved, in ms. */
export const SAVE_PAST_SOON_MS = 5_000
/** How often the memory is saved, in ms, with the times at which members were seen last. */
export const SAVE_PAST_INTERVAL_MS = 3_600_000

// Election of who takes an address next

/** The age of a heartbeat, in ms, up to which its node takes part in the election (docs/WIRE.md 6.1). */
export const AVAILABLE_MS = 900_000
/** Changes of the ledger that come within this time, in ms, are judged together. */
export const GATHER_MS = 50
/**
 * How long after this node named itself leader, in ms, another's word of the same moment has come; EdgeVPN waits 5 s.
 */
export const LEADER_RACE_MS = 500
/** The most nodes that ask for an address and are counted; keys cost nothing. */
export const MAX_ASKING = 4096
/** How long a node that names itself leader without effect waits, in ms, before it does so again. */
export const REWRITE_MS = 1_000
/** How long a leader of ours may take for its address, in ms; it acts within a second. */
export const LEADER_PATIENCE_MS = 5_000
/** How long a legacy leader may take, in ms: it looks every 5 s, and acts every second time only. */
export const LEGACY_LEADER_PATIENCE_MS = 20_000
/** How long a node of ours that is next may stay silent, in ms, before it is passed over: it wants none, or is gone. */
export const NEXT_PATIENCE_MS = 3_000
/** How long a legacy node that is next may stay silent, in ms. */
export const LEGACY_NEXT_PATIENCE_MS = 12_000
/** How long the one behind a silent node may take, in ms; each further one gets half of the time of the one before. */
export const FURTHER_PATIENCE_MS = 1_000
/** When an address is taken without an election, in ms, and up to half as long more: others must not stall a node. */
export const ELECTION_DEADLINE_MS = 60_000
