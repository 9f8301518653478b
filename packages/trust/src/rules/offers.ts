/** The words of `on:`: packets by protocol and port, services, files, egress and `*`. */
import { isPolicyName } from './terms.ts'
import type { PacketMatch } from './packet-rules.ts'

/** One word of `on:`. */
export type OfferWord =
  | { readonly kind: 'all' }
  | { readonly kind: 'packets'; readonly match: PacketMatch }
  | { readonly kind: 'service'; readonly name: string }
  | { readonly kind: 'files' }
  | { readonly kind: 'egress' }

/** The things that a member asks another one for, as rules name them. */
export type RuledOffer =
  | {
      readonly kind: 'service'
      readonly name: string
      readonly protocol: 'tcp' | 'udp'
      /** The port that the target of the service listens on; undefined where it has none. */
      readonly port: number | undefined
    }
  | { readonly kind: 'files' }
  | { readonly kind: 'egress' }

/** Packets of one kind, as a flow begins with them. */
export interface PacketOffer {
  readonly kind: 'packet'
  readonly protocol: 'tcp' | 'udp' | 'icmp'
  /** Undefined for icmp alone. */
  readonly port: number | undefined
}

/** Anything that a rule can be asked about. */
export type Offer = RuledOffer | PacketOffer

/** The forms of a word of `on:`, for messages. */
export const OFFER_FORMS =
  'tcp:PORT, tcp:FIRST-LAST, tcp, udp (with the same forms), icmp, service:NAME, files, egress or *'
/** The forms of `on:` of a test, for messages. */
export const TESTED_FORMS = 'tcp:PORT, udp:PORT, icmp, service:NAME, files or egress'

const LAST_PORT = 65_535

/** Undefined for a text that has none of the forms. */
export function parseOfferWord(text: string): OfferWord | undefined {
  if (text === '*') return { kind: 'all' }
  if (text === 'files' || text === 'egress') return { kind: text }
  if (text === 'icmp') return packets({ protocol: 'icmp', firstPort: 0, lastPort: LAST_PORT })
  const [, kind = '', rest] = /^([a-z]+)(?::(.*))?$/.exec(text) ?? []
  if (kind === 'service') {
    return rest !== undefined && isPolicyName(rest) ? { kind, name: rest } : undefined
  }
  if (kind !== 'tcp' && kind !== 'udp') return undefined
  if (rest === undefined) return packets({ protocol: kind, firstPort: 0, lastPort: LAST_PORT })
  const ports = parsePorts(rest)
  return ports && packets({ protocol: kind, ...ports })
}

/** Reads what a test asks about: one port, not a range. Undefined for other texts. */
export function parseOffer(text: string): Offer | undefined {
  const word = parseOfferWord(text)
  switch (word?.kind) {
    case 'files':
    case 'egress':
      return { kind: word.kind }
    case 'service':
      return { kind: 'service', name: word.name, protocol: 'tcp', port: undefined }
    case 'packets':
      return packetOf(word.match)
    case 'all':
    case undefined:
      return undefined
  }
}

/** Says it as sentences do: `tcp 5432`, `service shop`. */
export function describeOffer(offer: Offer): string {
  switch (offer.kind) {
    case 'packet':
      return offer.port === undefined ? offer.protocol : `${offer.protocol} ${offer.port}`
    case 'service':
      return `service ${offer.name}`
    case 'files':
    case 'egress':
      return offer.kind
  }
}

/** The same for packets by the number of their IP protocol; port is undefined where it has none. */
export function describePackets(protocol: number, port: number | undefined): string {
  const name = PROTOCOLS.get(protocol) ?? `protocol ${protocol}`
  return port === undefined ? name : `${name} ${port}`
}

const PROTOCOLS: ReadonlyMap<number, string> = new Map([
  [1, 'icmp'],
  [6, 'tcp'],
  [17, 'udp'],
  [58, 'icmp'],
])

/** True when the word stands for the offer. A service is also reached by the port of its target. */
export function wordAllows(word: OfferWord, offer: Offer): boolean {
  switch (word.kind) {
    case 'all':
      return true
    case 'service':
      return offer.kind === 'service' && offer.name === word.name
    case 'files':
    case 'egress':
      return offer.kind === word.kind
    case 'packets':
      return isMatched(word.match, offer)
  }
}

function isMatched({ protocol, firstPort, lastPort }: PacketMatch, offer: Offer): boolean {
  if (offer.kind !== 'packet' && offer.kind !== 'service') return false
  if (offer.protocol !== protocol) return false
  if (protocol === 'icmp') return true
  return offer.port !== undefined && offer.port >= firstPort && offer.port <= lastPort
}

function packetOf({ protocol, firstPort, lastPort }: PacketMatch): PacketOffer | undefined {
  if (protocol === 'icmp') return { kind: 'packet', protocol, port: undefined }
  return firstPort === lastPort ? { kind: 'packet', protocol, port: firstPort } : undefined
}

function packets(match: PacketMatch): OfferWord {
  return { kind: 'packets', match }
}

function parsePorts(text: string): Pick<PacketMatch, 'firstPort' | 'lastPort'> | undefined {
  const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? []
  const [firstPort, lastPort] = [Number(first), Number(last)]
  const isRange = firstPort >= 1 && lastPort <= LAST_PORT && firstPort <= lastPort
  return isRange ? { firstPort, lastPort } : undefined
}
