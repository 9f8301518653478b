/** Who may begin flows to this node: the rules as the application says them, and what the filter tells of them. */
import type { Cidr, IpAddress } from '@mesh/core'
import { engineError } from './errors.ts'
import { MAX_MATCHES, MAX_RULE_LAYERS, MAX_RULE_RANGES, MAX_RULES } from './limits.ts'
import type { NativeRefusal, NativeRules } from './native.ts'

/** Who may begin flows to this node, and to what it receives for. Every layer must allow a flow. */
export interface PacketRules {
  /** Ranges and the sets that they are in. An address is in the sets of its longest range only, and in none without a range. */
  readonly ranges: readonly { readonly range: Cidr; readonly sets: readonly number[] }[]
  /** The network's policy is one layer, the node's own rules (`--rules FILE`) another. An empty layer allows nothing. */
  readonly layers: readonly (readonly PacketRule[])[]
  /** True: refusals send neither a TCP reset nor an ICMP error (`--rules-drop`). */
  readonly silent: boolean
}

export interface PacketRule {
  /** The number of the source's set; undefined: any source. */
  readonly from: number | undefined
  /** The number of the destination's set; undefined: any destination. */
  readonly to: number | undefined
  /** The protocols and ports that it allows; empty: everything. */
  readonly on: readonly PacketMatch[]
}

/** A protocol with its ports: icmp stands for ICMP and ICMPv6. Ports are inclusive; both 0 to 65535 for icmp and other protocols without ports. */
export interface PacketMatch {
  readonly protocol: 'tcp' | 'udp' | 'icmp'
  readonly firstPort: number
  readonly lastPort: number
}

/** Packets that the rules refused, alike in all but the port of their source. */
export interface Refusal {
  readonly source: IpAddress
  readonly destination: IpAddress
  /** The number of the IP protocol: 6 for TCP, 17 for UDP. */
  readonly protocol: number
  /** The destination's; undefined: there is none, or the source tried too many for a count each. */
  readonly port: number | undefined
  readonly count: number
}

const NATIVE_PROTOCOLS = { tcp: 0, udp: 1, icmp: 2 } as const
/** The addon's word for any set. */
const ANY_SET = 0xff_ff_ff_ff
const MAX_PORT = 65_535

/** @throws MeshError `engine.bad_table` for rules that cannot be, or for more of them than the engine takes */
export function checkRules({ ranges, layers }: PacketRules): void {
  const bad = (message: string) => engineError('engine.bad_table', message)
  if (ranges.length > MAX_RULE_RANGES) throw bad(`${ranges.length} ranges in rules; ${MAX_RULE_RANGES} fit`)
  if (layers.length > MAX_RULE_LAYERS) throw bad(`${layers.length} layers of rules; ${MAX_RULE_LAYERS} fit`)
  const named = new Set<Cidr>()
  for (const { range, sets } of ranges) {
    if (named.has(range)) throw bad(`${range} twice in the ranges of rules`)
    named.add(range)
    if (!sets.every(isSet)) throw bad(`${range} in a set that is no whole number`)
  }
  for (const rules of layers) {
    if (rules.length > MAX_RULES) throw bad(`${rules.length} rules in a layer; ${MAX_RULES} fit`)
    for (const rule of rules) checkRule(rule)
  }
}

function checkRule({ from, to, on }: PacketRule): void {
  if ([from, to].some((set) => set !== undefined && !isSet(set)) || on.length > MAX_MATCHES)
    throw engineError(
      'engine.bad_table',
      `a rule whose sets or matches cannot be, or with more than ${MAX_MATCHES}`,
    )
  for (const { protocol, firstPort, lastPort } of on) {
    const isPort = (port: number) => Number.isInteger(port) && port >= 0 && port <= MAX_PORT
    if (!(protocol in NATIVE_PROTOCOLS) || !isPort(firstPort) || !isPort(lastPort))
      throw engineError('engine.bad_table', `a rule for ${protocol} from port ${firstPort} to ${lastPort}`)
  }
}

function isSet(set: number): boolean {
  return Number.isInteger(set) && set >= 0 && set < ANY_SET
}

/** Builds the rules for the addon, which compiles them. */
export function encodeRules(rules: PacketRules | undefined): NativeRules {
  const { ranges = [], layers = [], silent = false } = rules ?? {}
  const sets: number[] = []
  for (const range of ranges) sets.push(range.sets.length, ...range.sets)
  const words: number[] = []
  for (const layer of layers) {
    words.push(layer.length)
    for (const { from = ANY_SET, to = ANY_SET, on } of layer) {
      words.push(from, to, on.length)
      for (const { protocol, firstPort, lastPort } of on)
        words.push(NATIVE_PROTOCOLS[protocol], firstPort * (MAX_PORT + 1) + lastPort)
    }
  }
  return {
    given: rules !== undefined,
    ranges: ranges.map(({ range }) => range).join(' '),
    sets: Uint32Array.from(sets),
    rules: Uint32Array.from(words),
    silent,
  }
}

/** The flows that each rule allowed, in the shape of the rules' layers. */
export function decodeHits(
  rules: PacketRules | undefined,
  hits: Float64Array,
): readonly (readonly number[])[] {
  let at = 0
  return (rules?.layers ?? []).map((layer) => layer.map(() => hits[at++] ?? 0))
}

export function decodeRefusal({ source, destination, protocol, port, count }: NativeRefusal): Refusal {
  // the addon writes addresses in their canonical form
  const addresses = { source: source as IpAddress, destination: destination as IpAddress }
  return { ...addresses, protocol, port: port ?? undefined, count }
}
