/** Bounds and times of discovery: mDNS, the DHT and what peers tell of peers. */
import type { RateInit } from '@mesh/core/limits'

/** Records that this node's DHT keeps: the oldest go. Each question for one looks through all of them. */
export const MAX_DHT_RECORDS = 4_096
/** The most signed records in one message. */
export const MAX_RECORDS_PER_MESSAGE = 64
/** The longest signed peer record. */
export const MAX_PEER_RECORD_BYTES = 4_096
/** The most fields of one, its addresses among them: nodes tell of sixteen, legacy ones of some fifty. */
export const MAX_PEER_RECORD_FIELDS = 80
/** The longest message: as many records as it may carry, with what frames them. */
export const MAX_EXCHANGE_MESSAGE_BYTES = MAX_RECORDS_PER_MESSAGE * (MAX_PEER_RECORD_BYTES + 16)
/** The most records that are remembered for passing on. */
export const MAX_PEER_RECORDS = 512
/** How long changes are gathered before they are passed on, in ms. */
export const EXCHANGE_DELAY_MS = 200
/** The number of first messages to a member that need not keep the gap. */
export const EXCHANGE_BURST = 16
/** The least time between two messages to one member, in ms. */
export const EXCHANGE_GAP_MS = 2_000
/** The wait after a channel that could not be opened, or broke, in ms. */
export const EXCHANGE_RETRY_MS = 10_000
/** The most messages of one peer in a minute; more are dropped. */
export const MAX_EXCHANGE_MESSAGES_PER_MINUTE = 60
/** Records of peers that this node did not know, which the peers of one address, and all together, may tell. */
export const NEW_RECORDS = {
  perAddress: { perSecond: 5, burst: 600 },
  all: { perSecond: 20, burst: 1_200 },
} satisfies RateInit
/** The UDP port of mDNS, which RFC 6762 fixes. */
export const MDNS_PORT = 5353
/** The time from the first question to the second, in ms; it grows from question to question. */
export const MDNS_QUERY_MIN_MS = 4_000
/** The longest time between two questions, in ms: every 10 s they would cost 40 kB a minute among 20 nodes. */
export const MDNS_QUERY_MAX_MS = 60_000
/** The longest mDNS packet that is read. */
export const MAX_MDNS_PACKET_BYTES = 9_000
/** The most records of an mDNS packet that is read. */
export const MAX_MDNS_RECORDS = 64
/** Packets that are read; a flood is dropped unread. */
export const MDNS_PACKETS = {
  perAddress: { perSecond: 20, burst: 60 },
  all: { perSecond: 200, burst: 200 },
} satisfies RateInit
/** Peers that an address, and all together, may tell of. */
export const MDNS_FINDS = {
  perAddress: { perSecond: 5, burst: 64 },
  all: { perSecond: 50, burst: 500 },
} satisfies RateInit
/** The most interfaces and address families on which mDNS runs. */
export const MAX_MDNS_INTERFACES = 16
/** Time between two looks into the DHT once members were found, in ms. Each change of the name adds one. */
export const RENDEZVOUS_INTERVAL_MS = 720_000
/** The time between two looks while nobody was found yet, in ms. */
export const RENDEZVOUS_LONELY_INTERVAL_MS = 15_000
/** The wait before the first look, in ms. */
export const RENDEZVOUS_START_MS = 500
/** How long one look may take, in ms. */
export const RENDEZVOUS_TIMEOUT_MS = 60_000
/** The most providers of one name that are read of what peers at one address answer; of more, any. */
export const MAX_PROVIDERS_OF_ADDRESS = 100
/** The most that are read of all answers; many name the same ones. */
export const MAX_PROVIDERS = 1_000
