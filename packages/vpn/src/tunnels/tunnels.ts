/**
 * The tunnel to each peer of the VPN, and the streams that are its path.
 *
 * Tunnels are found on demand: 1 packets wait (`pathNeeded`); 2 connect; 3 the peer speaks `/mesh/vpn/1`: exchange
 * keys, its tunnel is `wireguard`; else it speaks `/edgevpn/0.1`: its tunnel is `legacy`. Members that connect anyway
 * get theirs at once.
 */
import type { PeerId } from '@mesh/core'
import type { EngineEvent, Tunnel } from '@mesh/engine'
import type { Candidate } from '../wire/control-message.ts'
import { Paths } from '../paths/paths.ts'
import { LegacyTunnels } from '../legacy/legacy-tunnels.ts'
import { type ChosenTunnel, chooseTunnel, noTunnel } from './choose-tunnel.ts'
import { LivenessChecks } from './liveness-checks.ts'
import { tunnelError } from '../streams/tunnel-error.ts'
import { KeyChannels } from './key-channels.ts'
import { TUNNELS_GATHER_MS } from './limits.ts'
import { VPN_PROTOCOL } from '../wire/limits.ts'
import { PacketStreams } from './packet-streams.ts'
import { createPathSearch, type PathSearch } from './path-search.ts'
import { createRefusalCounter, type Refusal, type RefusalCounter } from '../streams/refusals.ts'
import type { TunnelProbe, TunnelsComponents, TunnelsInit, TunnelStatus } from './tunnels-init.ts'

/** The state of one peer of the table. */
interface PeerTunnel {
  readonly peer: PeerId
  chosen: ChosenTunnel
  /** The engine told of frames for a tunnel that its table does not have yet. */
  isReadable: boolean
  /** Unix ms of the last handshake. */
  sessionSince: number | undefined
}

/** The carrier of the packets of one kind of tunnel. */
type Carrier = Pick<PacketStreams & LegacyTunnels, 'readable' | 'reach' | 'forget'>

export class Tunnels {
  readonly #init: TunnelsInit
  readonly #components: TunnelsComponents
  readonly #refusals: RefusalCounter
  readonly #keys: KeyChannels
  readonly #packets: PacketStreams
  readonly #paths: Paths
  readonly #liveness: LivenessChecks
  readonly #legacy: LegacyTunnels
  readonly #search: PathSearch
  readonly #carriers: Readonly<Record<Tunnel['kind'], Carrier | undefined>>
  /** Every peer of the table. */
  readonly #peers = new Map<PeerId, PeerTunnel>()
  /** Those of whom the engine's table says something else. */
  readonly #pending = new Set<PeerTunnel>()
  readonly #none: ChosenTunnel
  readonly #unwatch: (() => void)[] = []
  #appliedAt = Number.NEGATIVE_INFINITY
  #cancelApply: (() => void) | undefined
  #stopped = false

  constructor(init: TunnelsInit, given: TunnelsComponents) {
    const components = { ...given, log: given.log.child('tunnels') }
    const { network, engine, log } = components
    this.#init = init
    this.#components = components
    this.#none = noTunnel(init.mtu)
    this.#refusals = createRefusalCounter(log)
    const shared = { ...components, refusals: this.#refusals }
    this.#keys = new KeyChannels(
      { ...init, publicKey: engine.publicKey },
      {
        ...shared,
        channels: network.channels,
        onKey: (peer) => this.#onKey(peer),
        onOpen: (peer) => this.#openPath(peer),
        onPaths: (peer, message) => this.#paths.told(peer, message),
        onLost: (peer) => this.#evaluate(peer),
      },
    )
    this.#paths = new Paths(
      { self: init.self, ...init.paths },
      {
        ...components,
        mapPort: (port, onMapped) => network.mapUdpPort?.(port, onMapped) ?? (() => {}),
        tell: (peer, message) => this.#keys.memberOf(peer)?.send(message) === true,
        onPath: (peer) => {
          this.#evaluate(peer)
          this.#liveness.pathChanged(peer)
          components.onUdpPath?.(peer)
        },
        onRemapped: (peer) => this.#liveness.remapped(peer),
        onReason: (peer) => components.onUdpPath?.(peer),
      },
    )
    this.#liveness = new LivenessChecks({ network, pathOf: (peer) => this.#paths.pathOf(peer) })
    this.#packets = new PacketStreams({
      ...shared,
      isReady: (peer) => this.#kindInEngine(peer) === 'wireguard',
      onOpenFailed: (peer) => this.#evaluate(peer),
      onUnanswered: (peer) => this.#liveness.unanswered(peer),
      onAnswered: (peer) => this.#liveness.answered(peer),
    })
    this.#legacy = new LegacyTunnels({
      ...shared,
      refusal: (peer) => this.#refusalOfLegacy(peer),
      prepare: (peer, signal) => this.#prepareLegacy(peer, signal),
    })
    this.#search = createPathSearch({
      ...components,
      find: (peer, signal) => this.#find(peer, signal),
      isNeeded: (peer) => this.#kindOf(peer) === 'none',
    })
    this.#carriers = { none: undefined, wireguard: this.#packets, legacy: this.#legacy }
  }

  /** Serves the protocols; `/edgevpn/0.1` last, so that no node of ours takes this one for a legacy member. */
  async start(): Promise<void> {
    const { network } = this.#components
    this.#unwatch.push(
      network.onPath((peer) => this.#onPath(peer)),
      network.onDoubt?.((peer) => this.#onDoubt(peer)) ?? (() => {}),
      network.channels.onPeerWith(VPN_PROTOCOL, (peer) => this.#evaluate(peer)),
    )
    await this.#keys.start()
    await this.#packets.start()
    await this.#legacy.start()
  }

  /** Names the peers of the table; others get nothing. `chosenOf` knows them when this returns. */
  setPeers(peers: Iterable<PeerId>): void {
    const table = new Set(peers)
    for (const known of this.#peers.values()) if (!table.has(known.peer)) this.#drop(known)
    for (const peer of table) {
      if (this.#peers.has(peer)) continue
      this.#peers.set(peer, { peer, chosen: this.#none, isReadable: false, sessionSince: undefined })
      this.#evaluate(peer)
    }
    this.#keys.setPeers(table)
  }

  /** Gives the tunnel for the engine's table, and its MTU; it is the same object until something changes. */
  chosenOf(peer: PeerId): ChosenTunnel {
    return this.#peers.get(peer)?.chosen ?? this.#none
  }

  /** Takes all events of the engine but `failed`. */
  engineEvent(event: EngineEvent): void {
    if (this.#stopped) return
    switch (event.type) {
      case 'readable':
        return this.#onReadable(event.peer)
      case 'writable':
        return this.#packets.writable(event.peer)
      case 'pathNeeded':
        return this.#search.pathNeeded(event.peer)
      case 'session':
        return this.#setSession(event.peer, this.#components.clock.now())
      case 'silent':
        return this.#onSilence(event.peer)
      case 'broken':
        return this.#packets.broken(event.peer)
      case 'datagrams':
        return this.#paths.datagrams()
      case 'guestSession':
      case 'interface':
      case 'networks':
      case 'failed':
        // guests have no streams; the caller that opened the engine has the interface
        return
    }
  }

  /** There is another engine in place of the one before. */
  engineReopened(): void {
    this.#paths.restart()
  }

  status(peer: PeerId): TunnelStatus {
    const { tunnel, mtu } = this.chosenOf(peer)
    const path = this.#components.network.pathOf(peer)
    const sent = this.#legacy.sentTo(peer)
    return {
      kind: tunnel.kind,
      path: path && { ...(tunnel.kind === 'wireguard' ? tunnel.path : { kind: 'stream' }), ...path },
      udp: this.#paths.status(peer),
      mtu,
      sessionSince: this.#peers.get(peer)?.sessionSince,
      streams: { ...this.#packets.streamsOf(peer), legacy: sent.open },
      lastError: this.#search.lastErrorOf(peer) ?? this.#packets.lastErrorOf(peer) ?? sent.lastError,
    }
  }

  /** Probes the path over UDP to the peer now: a loss shows as `onUdpPath`. */
  ask(peer: PeerId): void {
    void this.#paths.measure(peer, AbortSignal.abort()).catch(() => {})
  }

  /** Connects first when need be. @throws MeshError `p2p.unreachable`, `vpn.unreachable`; the signal's reason */
  async probe(peer: PeerId, signal: AbortSignal): Promise<TunnelProbe> {
    const overUdpMs = await this.#paths.measure(peer, signal)
    if (overUdpMs !== undefined) {
      return { path: 'direct', transport: 'udp', rttMs: overUdpMs, mtu: this.chosenOf(peer).mtu }
    }
    const { network } = this.#components
    if (network.pathOf(peer) === undefined) await network.connect(peer, signal)
    const rttMs = await network.ping(peer, signal)
    const path = network.pathOf(peer)
    if (path === undefined) throw tunnelError('vpn.unreachable', 'the connection to the peer was lost')
    return { path: path.path, transport: path.transport, rttMs, mtu: this.chosenOf(peer).mtu }
  }

  /** Where this node's UDP socket may be reached. */
  candidates(): readonly Candidate[] {
    return this.#paths.candidates()
  }

  /** Counts of what peers did against the protocols, by code, since the start. */
  refusals(): Readonly<Partial<Record<Refusal, number>>> {
    return this.#refusals.counts()
  }

  stop(): void {
    if (this.#stopped) return
    this.#stopped = true
    this.#cancelApply?.()
    for (const end of this.#unwatch) end()
    this.#search.stop()
    this.#paths.stop()
    this.#liveness.stop()
    this.#packets.stop()
    this.#legacy.stop()
    this.#keys.stop()
  }

  #kindOf(peer: PeerId): Tunnel['kind'] | undefined {
    return this.#peers.get(peer)?.chosen.tunnel.kind
  }

  /** Undefined while the engine's table says something else. */
  #kindInEngine(peer: PeerId): Tunnel['kind'] | undefined {
    const known = this.#peers.get(peer)
    return known === undefined || this.#pending.has(known) ? undefined : known.chosen.tunnel.kind
  }

  /** Looks at what is known of the peer now, and gives it the tunnel that follows. */
  #evaluate(peer: PeerId): void {
    const known = this.#peers.get(peer)
    if (known === undefined || this.#stopped) return
    const knowledge = {
      key: this.#keys.keyOf(peer),
      hasChannel: this.#keys.memberOf(peer)?.isOpen === true,
      speaksVpn: this.#components.network.speaks(peer, VPN_PROTOCOL),
      speaksLegacy: this.#legacy.speaks(peer),
      path: this.#paths.pathOf(peer),
    }
    const after = chooseTunnel(known.chosen, knowledge, this.#init.mtu)
    if (after !== known.chosen) this.#give(known, after)
  }

  #give(known: PeerTunnel, after: ChosenTunnel): void {
    const { peer } = known
    const [from, to] = [known.chosen.tunnel.kind, after.tunnel.kind]
    known.chosen = after
    this.#components.log.debug('tunnel to a peer', { peer, from, to })
    if (from !== to) this.#carriers[from]?.forget(peer)
    if (to === 'wireguard' && from !== to) this.#openPath(peer)
    if (from === 'wireguard' && to !== from) this.#paths.forget(peer)
    if (from === 'wireguard' && to !== from) known.sessionSince = undefined
    if (to !== 'none') this.#search.forget(peer)
    if (to === 'legacy') this.#keys.forget(peer)
    this.#applyLater(known)
  }

  #applyLater(known: PeerTunnel): void {
    this.#pending.add(known)
    if (this.#stopped) return
    const { clock } = this.#components
    const waitMs = Math.max(0, this.#appliedAt + TUNNELS_GATHER_MS - clock.monotonic())
    this.#cancelApply ??= clock.after(waitMs, () => this.#apply())
  }

  #apply(): void {
    this.#cancelApply?.()
    this.#cancelApply = undefined
    this.#components.onTunnels()
    this.#appliedAt = this.#components.clock.monotonic()
    const applied = [...this.#pending]
    this.#pending.clear()
    for (const known of applied) {
      if (known.chosen.tunnel.kind === 'wireguard') this.#packets.ready(known.peer)
      if (!known.isReadable) continue
      known.isReadable = false
      this.#onReadable(known.peer)
    }
  }

  #onReadable(peer: PeerId): void {
    const known = this.#peers.get(peer)
    if (known === undefined) return
    if (this.#pending.has(known)) known.isReadable = true
    else this.#carriers[known.chosen.tunnel.kind]?.readable(peer)
  }

  /** Both ends tell each other how their sockets can be reached, once the peer is of the table and has a key. */
  #openPath(peer: PeerId): void {
    const known = this.#peers.get(peer)
    const key = this.#keys.keyOf(peer)
    if (this.#stopped || known?.chosen.tunnel.kind !== 'wireguard' || key === undefined) return
    this.#paths.open(peer, {
      mtu: Math.min(this.#init.mtu, key.mtu),
      address: this.#keys.memberOf(peer)?.address,
    })
    const told = this.#keys.memberOf(peer)?.paths
    if (told !== undefined) this.#paths.told(peer, told)
  }

  #onKey(peer: PeerId): void {
    this.#setSession(peer, undefined)
    this.#paths.forget(peer)
    this.#evaluate(peer)
  }

  #onPath(peer: PeerId): void {
    this.#evaluate(peer)
    if (this.#components.network.pathOf(peer) === undefined) return
    this.#packets.reach(peer)
    this.#legacy.reach(peer)
  }

  /** Packets, and what the peers tell each other of their paths, go by another connection. */
  #onDoubt(peer: PeerId): void {
    this.#packets.silent(peer)
    this.#keys.renew(peer)
  }

  #onSilence(peer: PeerId): void {
    this.#setSession(peer, undefined)
    this.#packets.silent(peer)
    this.#keys.renew(peer)
  }

  #setSession(peer: PeerId, since: number | undefined): void {
    const known = this.#peers.get(peer)
    if (known !== undefined) known.sessionSince = since
  }

  /** Resolves when the peer has a tunnel. */
  async #find(peer: PeerId, signal: AbortSignal): Promise<void> {
    const { network } = this.#components
    await network.connect(peer, signal)
    this.#evaluate(peer)
    if (this.#kindOf(peer) !== 'none') return
    if (network.speaks(peer, VPN_PROTOCOL) === true) await this.#keys.exchange(peer, signal)
    if (this.#kindOf(peer) !== 'none') return
    throw tunnelError('vpn.no_common_protocol', 'the peer has no VPN that this node could talk to')
  }

  async #prepareLegacy(peer: PeerId, signal: AbortSignal): Promise<void> {
    await this.#components.network.connect(peer, signal)
    this.#evaluate(peer)
    if (this.#kindOf(peer) !== 'legacy') throw tunnelError('vpn.no_common_protocol', 'the peer was updated')
  }

  #refusalOfLegacy(peer: PeerId): Refusal | undefined {
    const known = this.#peers.get(peer)
    if (known === undefined) return 'legacy.not_in_table'
    this.#evaluate(peer)
    const { kind } = known.chosen.tunnel
    const speaksVpn = this.#components.network.speaks(peer, VPN_PROTOCOL) === true
    if (kind === 'wireguard' || speaksVpn) return 'legacy.sealed_peer'
    if (kind !== 'legacy') return 'legacy.undecided'
    // its first packet is to find the engine ready
    if (this.#pending.has(known)) this.#apply()
    return undefined
  }

  #drop(known: PeerTunnel): void {
    const { peer } = known
    this.#peers.delete(peer)
    this.#pending.delete(known)
    this.#paths.forget(peer)
    this.#liveness.forget(peer)
    this.#packets.forget(peer)
    this.#legacy.forget(peer)
    this.#search.forget(peer)
  }
}
