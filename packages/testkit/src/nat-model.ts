/** NATs as functions on datagrams, for simulations: which address a datagram leaves by, and which ones come in. */

export type NatKind =
  | 'open'
  | 'full-cone'
  | 'address-restricted'
  | 'port-restricted'
  | 'symmetric'
  | 'udp-blocked'

export const NAT_KINDS: readonly NatKind[] = [
  'open',
  'full-cone',
  'address-restricted',
  'port-restricted',
  'symmetric',
  'udp-blocked',
]

export interface NatEndpoint {
  readonly ip: string
  readonly port: number
}

interface Mapping {
  readonly inside: number
  readonly outside: number
  /** Where datagrams went, `ip` and `ip:port`, with the time. */
  readonly sentTo: Map<string, number>
  /** When the NAT forgets it, whatever flows. */
  readonly endsAt: number
}

/** How long a NAT remembers where a datagram went. */
const MAPPING_MS = 60_000

export class Nat {
  readonly kind: NatKind
  ip: string
  /** How long the next mapping will live, in ms, whatever flows. */
  lifeMs: () => number = () => Number.POSITIVE_INFINITY
  readonly #mappings: Mapping[] = []
  #nextPort = 20_000

  constructor(kind: NatKind, ip: string) {
    this.kind = kind
    this.ip = ip
  }

  /** Another address outside: what was mapped is gone. */
  move(ip: string): void {
    this.ip = ip
    this.#mappings.length = 0
  }

  /** Takes connections from anybody, by its own address or by a port mapping. */
  get isReachable(): boolean {
    return this.kind === 'open' || this.kind === 'full-cone'
  }

  /** The address that a datagram from the inner port leaves by; undefined: it does not. */
  send(inside: number, to: NatEndpoint, now: number): NatEndpoint | undefined {
    if (this.kind === 'udp-blocked') return undefined
    if (this.kind === 'open') return { ip: this.ip, port: inside }
    const target = `${to.ip}:${to.port}`
    const isRight = (each: Mapping) =>
      each.inside === inside && each.endsAt > now && (this.kind !== 'symmetric' || each.sentTo.has(target))
    const mapping = this.#mappings.find(isRight) ?? this.#map(inside, now)
    mapping.sentTo.set(to.ip, now).set(target, now)
    return { ip: this.ip, port: mapping.outside }
  }

  /** The inner port that a datagram to the outer port reaches; undefined: it is dropped. */
  receive(outside: number, from: NatEndpoint, now: number): number | undefined {
    if (this.kind === 'udp-blocked') return undefined
    if (this.kind === 'open') return outside
    const mapping = this.#mappings.find((each) => each.outside === outside && each.endsAt > now)
    if (mapping === undefined) return undefined
    const isFresh = (to: string) => (mapping.sentTo.get(to) ?? Number.NEGATIVE_INFINITY) > now - MAPPING_MS
    const passes =
      this.kind === 'full-cone' ||
      (this.kind === 'address-restricted' ? isFresh(from.ip) : isFresh(`${from.ip}:${from.port}`))
    return passes ? mapping.inside : undefined
  }

  #map(inside: number, now: number): Mapping {
    const endsAt = now + this.lifeMs()
    const mapping = { inside, outside: this.#nextPort++, sentTo: new Map<string, number>(), endsAt }
    this.#mappings.push(mapping)
    if (this.#mappings.length > 64) this.#mappings.shift()
    return mapping
  }
}

/** One end of a hole punch: its NAT, and the ports of its own that it sends from. */
interface PunchEnd {
  readonly nat: Nat
  readonly port: number
  /** The address at which STUN saw it. */
  readonly seen: NatEndpoint | undefined
}

let nextPort = 1_024

/**
 * Says whether two ends find each other by datagrams, as ICE does. Both ask a STUN server for their address, send to the
 * other's, and answer to the source of each datagram.
 */
export function punches(
  [first, second]: readonly [Nat, Nat],
  stun: NatEndpoint,
  { now, passes }: { readonly now: number; readonly passes: (from: Nat, to: Nat) => boolean },
): boolean {
  const gather = (nat: Nat): PunchEnd => {
    nextPort = nextPort >= 60_000 ? 1_024 : nextPort + 1
    return { nat, port: nextPort, seen: nat.send(nextPort, stun, now) }
  }
  const ends = [gather(first), gather(second)] as const
  /** Where the other end answers to. */
  const targets = new Map<PunchEnd, Set<string>>(ends.map((end) => [end, new Set<string>()]))
  const heard = new Set<PunchEnd>()
  const targetsOf = (end: PunchEnd) => targets.get(end) ?? new Set<string>()
  for (const [from, to] of [ends, ends.toReversed()] as [PunchEnd, PunchEnd][]) {
    if (to.seen !== undefined) targetsOf(from).add(`${to.seen.ip} ${to.seen.port}`)
  }
  for (let round = 0; round < 4; round++) {
    for (const [from, to] of [ends, ends.toReversed()] as [PunchEnd, PunchEnd][]) {
      for (const text of targetsOf(from)) {
        const [ip = '', port = ''] = text.split(' ')
        const target = { ip, port: Number(port) }
        const source = from.nat.send(from.port, target, now)
        if (source === undefined || ip !== to.nat.ip || !passes(from.nat, to.nat)) continue
        if (to.nat.receive(target.port, source, now) !== to.port) continue
        heard.add(to)
        targetsOf(to).add(`${source.ip} ${source.port}`)
      }
    }
  }
  return heard.size === 2
}
