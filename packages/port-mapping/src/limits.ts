/** Bounds and times of asking routers for port mappings. Anything in the local network may call itself a router. */

/** The pauses between requests that a router does not answer, in ms; after the last one it has none. */
export const PORT_CONTROL_ASKS_MS: readonly number[] = [250, 500, 1_000, 2_000]
/** How long a mapping lasts unless it is renewed, in s: what a node that crashed leaves goes by itself. */
export const PORT_MAPPING_LIFETIME_S = 1_200
/** The least time until the default router is asked again, in ms: it may be another one by then. */
export const PORT_MAPPING_RETRY_MS = 60_000
/** How long a mapping by UPnP lasts unless it is renewed, in s: routers refuse shorter ones. */
export const UPNP_LEASE_S = 3_600
/** How often it is renewed, in ms, and with it asked where that is: a router's address outside changes without a word. */
export const UPNP_RENEW_MS = 60_000
/** How long a router may take for that, in ms. */
export const UPNP_ANSWER_MS = 10_000
/** How many questions in a row fail before a router is forgotten: another may have come in its place. */
export const UPNP_FAILURES = 3
/** How long ending the mappings may take, in ms. */
export const STOP_MAPPING_MS = 1_000
/** The most routers that are asked by UPnP: anything in the local network may call itself one. The default router has one place. */
export const MAX_UPNP_ROUTERS = 4
/** The most that are ever asked beside the default router: libp2p keeps each for as long as it runs. */
export const MAX_UPNP_ROUTERS_EVER = 16
/** How often is searched by UPnP, on every link, a second in the long run and at once. */
export const UPNP_SEARCHES = { perSecond: 0.2, burst: 20 } as const
/** The most networks' links on which is searched. */
export const MAX_UPNP_INTERFACES = 16
/** How many routers a search passes, as UPnP Device Architecture 1.1 fixes it. */
export const UPNP_SEARCH_TTL = 2
/** The longest answer to a search that is read. */
export const MAX_SSDP_BYTES = 2_048
/** The most answers to a search that are read in a second. */
export const MAX_SSDP_ANSWERS_PER_SECOND = 100
/** The longest URL that a router may name. */
export const MAX_UPNP_URL_CHARS = 1_024
/** How often machines that call themselves routers are asked for their descriptions, a second in the long run and at once. */
export const UPNP_DESCRIPTIONS = { perSecond: 0.1, burst: 8 } as const
/** How long an address that was asked for its description is not asked again, in ms. */
export const UPNP_DESCRIBE_AGAIN_MS = 60_000
/** How often one router is asked, a second in the long run and at once. */
export const UPNP_ASKS = { perSecond: 0.5, burst: 60 } as const
/** How often a router of version 1 is asked for one mapping: under another port, or for good, where it refuses. */
export const MAX_UPNP_ATTEMPTS = 5
/** The ports that nobody has by registration (RFC 6335), from which others are drawn. */
export const UPNP_FREE_PORTS = { first: 49_152, last: 65_535 } as const
/** The most mappings of one router that are remembered, so that they are given back. */
export const MAX_UPNP_MAPPINGS = 64
/** The most bytes of one answer of a router; descriptions have 3 to 30 KB. */
export const MAX_UPNP_ANSWER_BYTES = 65_536
/** The longest head of one. */
export const MAX_UPNP_HEAD_BYTES = 8_192
/** The most elements and attributes of one, and the most references to characters. */
export const MAX_UPNP_ELEMENTS = 4_096
/** How deep its elements may stand in each other. */
export const MAX_UPNP_DEPTH = 32
/** How often a port of TCP that a router has mapped is renewed, in ms: at half of its lease. */
export const UPNP_TCP_RENEW_MS = 1_800_000
