/**
 * Keeps the addresses up to date at which this node's socket may be reached. They come from its own interfaces, from what peers
 * saw, and from ports that routers map.
 */
import type { Cidr } from '@mesh/core'
import type { Endpoint, Engine } from '@mesh/engine'
import type { HostNetwork, VpnComponents } from '../vpn.ts'
import { isCandidateAddress, type OwnInput, ownCandidates } from './candidates.ts'
import { MAX_SEEN, OWN_ADDRESSES_MS, SEEN_LATELY_MS } from './limits.ts'
import type { Candidate } from '../wire/control-message.ts'
import type { OwnSockets } from './own-sockets.ts'
import type { LocalSocket } from './path-state.ts'

export interface WatchedCandidatesInit {
  /** The ranges that are routed into the VPN, and its interface: neither is a way to a peer. */
  readonly vpnRanges: () => readonly Cidr[]
  readonly interfaceName: () => string
  readonly networks: () => readonly HostNetwork[]
}

export interface WatchedCandidatesComponents extends Pick<VpnComponents, 'clock' | 'log'> {
  readonly engine: Pick<Engine, 'udpPort'>
  readonly sockets: OwnSockets
  /** Has routers lead a port of theirs to this UDP port, and tells where; the returned function ends it. */
  readonly mapPort?: (port: number, onMapped: (mapped: readonly Endpoint[]) => void) => () => void
  /** Called when the candidates are others than before. */
  readonly onChange: () => void
}

export class WatchedCandidates {
  readonly #init: WatchedCandidatesInit
  readonly #components: WatchedCandidatesComponents
  #latest: readonly Candidate[] = []
  #text = ''
  /** This machine's own addresses, as text; undefined: they were not looked at yet. */
  #ownText: string | undefined
  /** When they were others than before, in monotonic ms. */
  #movedAt = Number.NEGATIVE_INFINITY
  #mapped: readonly Endpoint[] = []
  /** When a router told that last, in monotonic ms. */
  #mappedAt = Number.NEGATIVE_INFINITY
  #endMapping: (() => void) | undefined
  #cancelLook: (() => void) | undefined

  constructor(init: WatchedCandidatesInit, components: WatchedCandidatesComponents) {
    this.#init = init
    this.#components = components
  }

  /** The candidates as `look` found them last. */
  get latest(): readonly Candidate[] {
    return this.#latest
  }

  /** No NAT is between: a peer saw the socket at an address of this machine's own. */
  isOwn({ address, port }: Endpoint, socket: LocalSocket): boolean {
    if (port !== (socket ?? this.#components.engine.udpPort)) return false
    return this.#latest.some(({ endpoint, kind }) => kind === 'own' && endpoint.address === address)
  }

  start(): void {
    if (this.#cancelLook !== undefined) return
    const lookAgain = () => {
      this.look()
      this.#cancelLook = this.#components.clock.after(OWN_ADDRESSES_MS, lookAgain)
    }
    lookAgain()
    this.#map()
  }

  /** The engine has another socket: what was seen and mapped was of the one before. */
  restart(): void {
    this.#unmap()
    this.look()
    if (this.#cancelLook !== undefined) this.#map()
  }

  stop(): void {
    this.#unmap()
    this.#cancelLook?.()
    this.#cancelLook = undefined
  }

  /**
   * Gives the addresses of the engine's own socket: what others saw lately, since this machine got its present addresses, the
   * latest first. A router's port counts at a seen address, or as the router told it while nobody has seen one.
   */
  readOwn(): readonly Candidate[] {
    this.look()
    const { sockets, clock } = this.#components
    const from = Math.max(clock.monotonic() - SEEN_LATELY_MS, this.#movedAt)
    const seen = sockets.ownSeen.natsSince(from)
    const isRouters = seen.length === 0 && this.#mappedAt >= this.#movedAt
    const mapped = this.#mapped.filter(
      ({ address }) => isRouters || seen.some((each) => each.address === address),
    )
    return this.#candidates({ seen, mapped })
  }

  #candidates({ seen, mapped }: Pick<OwnInput, 'seen' | 'mapped'>): readonly Candidate[] {
    const port = this.#components.engine.udpPort
    if (port === undefined) return []
    const { networks, interfaceName, vpnRanges } = this.#init
    return ownCandidates({
      networks: networks(),
      interfaceName: interfaceName(),
      vpnRanges: vpnRanges(),
      port,
      mapped,
      seen,
    })
  }

  /** Looks at the addresses now. */
  look(): void {
    if (this.#components.engine.udpPort === undefined) return
    const { log, onChange, sockets } = this.#components
    this.#latest = this.#candidates({ seen: sockets.seen.latest(MAX_SEEN), mapped: this.#mapped })
    this.#lookForNetwork()
    const { varies } = sockets.seen
    const text = JSON.stringify([this.#latest, varies])
    if (text === this.#text) return
    this.#text = text
    log.debug('own addresses', { candidates: this.#latest.length, varies })
    onChange()
  }

  /** Begins anew in another network, where another NAT is, or none. */
  #lookForNetwork(): void {
    const { networks, interfaceName, vpnRanges } = this.#init
    const own = networks().filter((each) => each.interface !== interfaceName())
    const addresses = own.map(({ address }) => address.address)
    const text = addresses.filter((address) => isCandidateAddress(address, vpnRanges())).join()
    const isOther = this.#ownText !== undefined && this.#ownText !== text
    this.#ownText = text
    if (!isOther) return
    const { sockets, clock } = this.#components
    this.#movedAt = clock.monotonic()
    sockets.returnToOwn()
  }

  #map(): void {
    const { engine, mapPort } = this.#components
    const port = engine.udpPort
    if (port === undefined) return
    this.#endMapping ??= mapPort?.(port, (mapped) => {
      this.#mapped = mapped
      this.#mappedAt = this.#components.clock.monotonic()
      this.look()
    })
  }

  #unmap(): void {
    this.#endMapping?.()
    this.#endMapping = undefined
    this.#mapped = []
  }
}
