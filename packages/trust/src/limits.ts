/** Bounds and constants of trust. */
import type { RateInit } from '@mesh/core/limits'

// What the wire fixes (docs/WIRE.md 6.3).

/** The text of a legacy challenge; its signature is over this text. */
export const CHALLENGE_TEXT = 'challenge'
/** The part of a key of the bucket `trustzoneAuth` that makes its value a public key of ECDSA. */
export const ECDSA_KEY_MARK = 'ecdsa'
/** How often a node that is not trusted asks to be, and cleans up, unless it is told otherwise, in ms. */
export const GUARD_INTERVAL_MS = 120_000

// What we chose.

/** The longest text of a key or signature that is read; both have about 400 characters. */
export const MAX_KEY_TEXT_LENGTH = 2_048
/** The most public keys of `trustzoneAuth` that a proof is tried with; the first ones by name. */
export const MAX_AUTH_KEYS = 16
/** How much longer than reading the list of trusted peers others have their turn, before it is read again. */
export const LIST_REST = 8
/** The most entries of `trustzoneAuth` that are read for one question, of those that were not read before. */
export const AUTH_KEYS_READ_AT_ONCE = 64
/** How many legacy challenges are verified: one costs some ms of processor time for each public key. */
export const LEGACY_CHALLENGES = { perSecond: 2, burst: 16 } as const
/** The most signatures of legacy challenges whose author is remembered. */
export const MAX_REMEMBERED_CHALLENGES = 4_096
/** The least time between two challenges of this node on the public topic, in ms. */
export const CHALLENGE_GAP_MS = 5_000

/** Bytes of the nonce that an answer is bound to. */
export const NONCE_BYTES = 32
/** How far the clock of who answers may be off, in ms. */
export const ANSWER_CLOCK_SKEW_MS = 120_000
/** How long an exchange of the trust protocol may take without a word from the other side, in ms. */
export const EXCHANGE_TIMEOUT_MS = 10_000
/** The longest message of the trust protocol. */
export const MAX_TRUST_MESSAGE_BYTES = 96 * 1024
/** The bytes of entries after which another message of the trust protocol begins; the rest is names and a margin. */
export const ENTRIES_MESSAGE_BYTES = 64 * 1024
/** The most entries of one message of the trust protocol. */
export const ENTRIES_PER_MESSAGE = 64
/** The most messages with entries of one exchange: 16,384 entries. */
export const MAX_ENTRY_MESSAGES = 256
/** The entries of a message that are judged at once; then others have their turn. */
export const ENTRIES_AT_ONCE = 8
/** Exchanges of one peer that are served at a time. */
export const MAX_EXCHANGES_PER_PEER = 2
/** Peers, and addresses, whose exchanges are counted. */
export const MAX_COUNTED_PEERS = 4_096
/** Exchanges that others may begin. */
export const EXCHANGE_RATES = {
  perPeer: { perSecond: 0.5, burst: 16 },
  perAddress: { perSecond: 2, burst: 32 },
  all: { perSecond: 10, burst: 64 },
  maxRemembered: MAX_COUNTED_PEERS,
} satisfies RateInit
/** The waits between tries of an exchange that failed, in ms. */
export const EXCHANGE_RETRY_MIN_MS = 1_000
/** The longest wait between tries, in ms. */
export const EXCHANGE_RETRY_MAX_MS = 60_000
/** How long after the ledger changed peers that are kept out are told of it, in ms: changes come in groups. */
export const TELL_DELAY_MS = 100

/**
 * The most entries that a revocation names to stay: so many hashes fit into the value of one entry, and into one message
 * of the trust protocol.
 */
export const MAX_KEPT_ENTRIES = 1_000
/** Bytes of a hash by which a revocation names an entry: nobody finds a second entry to it. */
export const KEPT_HASH_BYTES = 16

/** How long others have their turn between two steps in which entries of who is out are taken back, in ms. */
export const WITHDRAWAL_REST_MS = 10

/** The longest label of an invite. */
export const MAX_LABEL_LENGTH = 64
/** The longest value of a claim, in characters: who was invited writes it, and all members hold and send it. */
export const MAX_CLAIM_LENGTH = 1_024
/** The shortest and the longest time that a member may be let in for, in ms. */
export const MIN_MEMBER_LIFE_MS = 60_000
export const MAX_MEMBER_LIFE_MS = 10 * 365 * 24 * 3_600_000
/**
 * How long after its end a membership still counts, in ms, as clocks differ: entries may be dated as far ahead
 * (`MAX_FUTURE_MS` of the ledger).
 */
export const MEMBER_END_TOLERANCE_MS = 120_000
/** How often the end of memberships is compared with the wall clock, which may be set, in ms. */
export const MEMBER_END_CHECK_MS = 10_000
/** The most claims of one invite that are held; two are a dispute already. */
export const MAX_CLAIMS_PER_INVITE = 4
/** How long an invite is good unless it is told otherwise, in ms. */
export const INVITE_LIFE_MS = 24 * 3_600_000
/** The longest life of an invite, in ms: until it ends, anyone who has its code may use it. */
export const MAX_INVITE_LIFE_MS = 30 * 24 * 3_600_000

/** Bytes of the longest policy, as a file and as a statement: one entry of the ledger holds it. */
export const MAX_POLICY_BYTES = 65_536
/** Bytes of a signed policy as JSON text within JSON: one message of the trust protocol carries it. */
export const MAX_ENCODED_POLICY_BYTES = MAX_TRUST_MESSAGE_BYTES - 8 * 1024
/** The most groups of a policy, and the most tags. */
export const MAX_POLICY_GROUPS = 256
/** The most members of one group or tag. */
export const MAX_GROUP_MEMBERS = 1_000
/** The most rules of a policy. */
export const MAX_POLICY_RULES = 1_000
/** The most words of one list (`from`, `to`, `on`) of a rule. */
export const MAX_RULE_WORDS = 64
/** The most tests of a policy. */
export const MAX_POLICY_TESTS = 500
/** The longest word of a policy, in characters: a guest's name and the peer id of its node. */
export const MAX_WORD_LENGTH = 200
/** The most faults of a policy that one answer tells. */
export const MAX_POLICY_ISSUES = 20
/** Kinds of endpoints that a table of who reaches what, or a comparison of two policies, tells apart. */
export const MAX_ENDPOINT_CLASSES = 250
/** Endpoints that such a table has: those that rules name first. */
export const MAX_TABLE_ENDPOINTS = 2_000
/** How long after members came, went or changed their addresses the rules are compiled again, in ms. */
export const RECOMPILE_DELAY_MS = 100
/** The pairs whose refusals are counted. */
export const MAX_REFUSED_PAIRS = 256
