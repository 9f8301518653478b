/**
 * By which way each peer of the VPN is reached, and the streams that carry its packets.
 *
 * Ways are found on demand: 1 packets wait (`pathNeeded`); 2 connect; 3 the peer speaks `/mesh/vpn/1`: exchange keys, it
 * is `sealed`; else it speaks `/edgevpn/0.1`: it is `plain`. Members that connect anyway are `sealed` at once.
 *
 * A peer whose key we hold is `plain` only after a connection on which it says, authenticated as itself, that it
 * speaks `/edgevpn/0.1` and not `/mesh/vpn/1`, while no control channel with it stands: an older node took the
 * place of a newer one under the same identity. Nobody else can say so for it.
 */
import type { Clock, Logger, PeerId, Random } from '@mesh/core'
import type { Engine, EngineEvent, Tunnel } from '@mesh/engine'
import type { PeerPath, VpnNetwork } from '../ports.ts'
import { tunnelError } from './errors.ts'
import { createKeyChannels, type PeerKey } from './key-channels.ts'
import { VPN_PROTOCOL, TUNNELS_GATHER_MS } from './limits.ts'
import { LEGACY_MTU, LEGACY_PROTOCOL } from '../legacy/limits.ts'
import { createPacketStreams, type OpenStreams } from './packet-streams.ts'
import { createLegacyTunnels } from '../legacy/legacy-tunnels.ts'
import { createRefusalCounter, type Refusal } from './refusals.ts'
import { createSearch } from './path-search.ts'

export interface TunnelsInit {
  readonly self: PeerId
  /** This node's WireGuard key, 32 bytes: the engine's. */
  readonly privateKey: Uint8Array
  /** `otp.crypto.key` of the network. */
  readonly networkKey: string
  /** The interface's MTU in bytes. */
  readonly mtu: number
  /** Take part in `/edgevpn/0.1`; default true. */
  readonly legacy?: boolean
}

export interface TunnelsComponents {
  readonly network: Pick<
    VpnNetwork,
    'channels' | 'streams' | 'speaks' | 'connect' | 'pathOf' | 'onPath' | 'ping'
  >
  readonly engine: Pick<
    Engine,
    'publicKey' | 'take' | 'inject' | 'injectPackets' | 'restart' | 'retryHandshake'
  >
  /**
   * `tunnelOf` or `mtuOf` of some peers say something else. When it returns, the engine has a table with them: streams
   * that came before their key are read from then on. At most every 20 ms; never from inside a call to `Tunnels`.
   */
  readonly onTunnels: () => void
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

interface TunnelStatus {
  readonly kind: Tunnel['kind']
  /** Undefined: not connected now. */
  readonly path: PeerPath | undefined
  /** The longest packet for the peer, in bytes. */
  readonly mtu: number
  /** Unix ms of the last handshake; undefined: no session, or the peer has not answered for 90 s. */
  readonly sessionSince: number | undefined
  /** False: open over a relay; undefined: not open. */
  readonly streams: OpenStreams & { readonly legacy: number }
  /** Packets to a plain peer whose streams were refused or broke. */
  readonly lost: number
  /** Why the peer was not reached when it was tried last. */
  readonly lastError: Error | undefined
}

interface TunnelProbe {
  readonly path: 'direct' | 'relayed'
  readonly transport: string | undefined
  readonly rttMs: number
  readonly mtu: number
}

export interface Tunnels {
  /** Serves the protocols; `/edgevpn/0.1` last, so that no newer node takes this one for an older one. */
  start(): Promise<void>
  /** The peers of the table, others get nothing. `tunnelOf` knows them when this returns. */
  setPeers(peers: Iterable<PeerId>): void
  /** For the engine's table. The same object until something changes. */
  tunnelOf(peer: PeerId): Tunnel
  /** The longest packet that the peer's way carries, in bytes. */
  mtuOf(peer: PeerId): number
  /** All events of the engine but `failed` are for this. */
  engineEvent(event: EngineEvent): void
  status(peer: PeerId): TunnelStatus
  /** Connects first when need be. @throws MeshError `p2p.unreachable`, `vpn.unreachable`; the signal's reason */
  probe(peer: PeerId, signal: AbortSignal): Promise<TunnelProbe>
  /** What peers did against the protocols, by code, since the start. */
  refusals(): Readonly<Partial<Record<Refusal, number>>>
  stop(): void
}

interface Linked {
  readonly tunnel: Tunnel
  readonly mtu: number
}

const NONE: Tunnel = { kind: 'none' }
const LEGACY: Tunnel = { kind: 'legacy' }

export function createTunnels(init: TunnelsInit, components: TunnelsComponents): Tunnels {
  const { network, engine, onTunnels, clock } = components
  const { legacy: takesLegacy = true } = init
  const log = components.log.child('tunnels')
  const refusals = createRefusalCounter(log)
  const none: Linked = { tunnel: NONE, mtu: init.mtu }
  const legacy: Linked = { tunnel: LEGACY, mtu: Math.min(init.mtu, LEGACY_MTU) }
  /** Every peer of the table. */
  const linked = new Map<PeerId, Linked>()
  /** What differs from the engine's table. */
  const changed = new Set<PeerId>()
  /** Of those: the engine said that it has something for them. */
  const owed = new Set<PeerId>()
  const sessions = new Map<PeerId, number>()
  const unwatch: (() => void)[] = []
  let appliedAt = Number.NEGATIVE_INFINITY
  let cancelApply: (() => void) | undefined
  let stopped = false

  const kindInEngine = (peer: PeerId) => (changed.has(peer) ? undefined : linked.get(peer)?.tunnel.kind)

  const keys = createKeyChannels(
    { ...init, publicKey: engine.publicKey },
    {
      ...components,
      log,
      channels: network.channels,
      refusals,
      onKey(peer) {
        sessions.delete(peer)
        evaluate(peer)
      },
      onLost: evaluate,
    },
  )
  const packets = createPacketStreams({
    ...components,
    log,
    refusals,
    isReady: (peer) => kindInEngine(peer) === 'wireguard',
    onOpenFailed: evaluate,
  })
  const legacyTunnels = createLegacyTunnels({
    ...components,
    refusals,
    refusal: refusalOfLegacy,
    async prepare(peer, signal) {
      await network.connect(peer, signal)
      evaluate(peer)
      if (linked.get(peer) !== legacy) throw tunnelError('vpn.no_common_protocol', 'the peer was updated')
    },
  })
  const search = createSearch({
    ...components,
    find,
    isNeeded: (peer) => linked.get(peer)?.tunnel.kind === 'none',
  })

  /** Looks at what is known of the peer now, and gives it the way that follows. */
  function evaluate(peer: PeerId): void {
    const before = linked.get(peer)
    if (before === undefined || stopped) return
    const after = decide(peer, before)
    if (after !== before) give(peer, before, after)
  }

  function decide(peer: PeerId, before: Linked): Linked {
    const sealable = network.speaks(peer, VPN_PROTOCOL)
    const isLegacy = takesLegacy && sealable === false && network.speaks(peer, LEGACY_PROTOCOL) === true
    const key = keys.keyOf(peer)
    if (key !== undefined && !(isLegacy && !keys.isOpen(peer))) return sealed(key, before)
    if (isLegacy) return legacy
    // it was updated: nothing goes to it unsealed any more
    return sealable === true ? none : before
  }

  function sealed({ publicKey, presharedKey, mtu: theirs }: PeerKey, before: Linked): Linked {
    const mtu = Math.min(init.mtu, theirs)
    const same =
      before.tunnel.kind === 'wireguard' && before.tunnel.publicKey === publicKey && before.mtu === mtu
    return same
      ? before
      : { tunnel: { kind: 'wireguard', publicKey, presharedKey, path: { kind: 'stream' } }, mtu }
  }

  function give(peer: PeerId, before: Linked, after: Linked): void {
    linked.set(peer, after)
    const [from, to] = [before.tunnel.kind, after.tunnel.kind]
    log.debug('tunnel to a peer', { peer, from, to })
    if (from === 'legacy' && to !== 'legacy') legacyTunnels.forget(peer)
    if (from === 'wireguard' && to !== 'wireguard') {
      packets.forget(peer)
      sessions.delete(peer)
    }
    if (to !== 'none') search.forget(peer)
    if (to === 'legacy') keys.forget(peer)
    change(peer)
  }

  function change(peer: PeerId): void {
    changed.add(peer)
    if (stopped) return
    const waitMs = Math.max(0, appliedAt + TUNNELS_GATHER_MS - clock.now())
    cancelApply ??= clock.after(waitMs, apply)
  }

  function apply(): void {
    cancelApply?.()
    cancelApply = undefined
    onTunnels()
    appliedAt = clock.now()
    const ready = [...changed]
    changed.clear()
    for (const peer of ready) {
      if (linked.get(peer)?.tunnel.kind === 'wireguard') packets.ready(peer)
      if (owed.delete(peer)) readable(peer)
    }
  }

  function readable(peer: PeerId): void {
    if (changed.has(peer)) return void owed.add(peer)
    const kind = kindInEngine(peer)
    if (kind === 'wireguard') packets.readable(peer)
    else if (kind === 'legacy') legacyTunnels.readable(peer)
  }

  async function find(peer: PeerId, signal: AbortSignal): Promise<void> {
    await network.connect(peer, signal)
    evaluate(peer)
    if (linked.get(peer)?.tunnel.kind !== 'none') return
    if (network.speaks(peer, VPN_PROTOCOL) === true) await keys.exchange(peer, signal)
    if (linked.get(peer)?.tunnel.kind !== 'none') return
    throw tunnelError('vpn.no_common_protocol', 'the peer has no VPN that this node could talk to')
  }

  function refusalOfLegacy(peer: PeerId): Refusal | undefined {
    if (!linked.has(peer)) return 'legacy.not_in_table'
    evaluate(peer)
    const kind = linked.get(peer)?.tunnel.kind
    if (kind === 'wireguard' || network.speaks(peer, VPN_PROTOCOL) === true) return 'legacy.sealed_peer'
    if (kind !== 'legacy') return 'legacy.undecided'
    // its first packet is to find the engine ready
    if (changed.has(peer)) apply()
    return undefined
  }

  function drop(peer: PeerId): void {
    linked.delete(peer)
    changed.delete(peer)
    owed.delete(peer)
    sessions.delete(peer)
    packets.forget(peer)
    legacyTunnels.forget(peer)
    search.forget(peer)
  }

  function onPath(peer: PeerId): void {
    evaluate(peer)
    if (network.pathOf(peer) === undefined) return
    packets.reach(peer)
    legacyTunnels.reach(peer)
  }

  function onSilence(peer: PeerId): void {
    sessions.delete(peer)
    packets.silent(peer)
    keys.renew(peer)
  }

  return {
    async start() {
      unwatch.push(network.onPath(onPath), network.channels.onPeerWith(VPN_PROTOCOL, evaluate))
      await keys.start()
      await packets.start()
      if (takesLegacy) await legacyTunnels.start()
    },
    setPeers(peers) {
      const table = new Set(peers)
      for (const peer of linked.keys()) if (!table.has(peer)) drop(peer)
      for (const peer of table) {
        if (linked.has(peer)) continue
        linked.set(peer, none)
        evaluate(peer)
      }
      keys.setPeers(table)
    },
    tunnelOf: (peer) => (linked.get(peer) ?? none).tunnel,
    mtuOf: (peer) => (linked.get(peer) ?? none).mtu,
    engineEvent(event) {
      if (stopped) return
      switch (event.type) {
        case 'readable':
          return readable(event.peer)
        case 'writable':
          return packets.writable(event.peer)
        case 'pathNeeded':
          return search.pathNeeded(event.peer)
        case 'session':
          return void sessions.set(event.peer, clock.now())
        case 'silent':
          return onSilence(event.peer)
        case 'broken':
          return packets.broken(event.peer)
        case 'failed':
          // whoever opened the engine closes it
          return
      }
    },
    status(peer) {
      const { tunnel, mtu } = linked.get(peer) ?? none
      const sent = legacyTunnels.sentTo(peer)
      return {
        kind: tunnel.kind,
        path: network.pathOf(peer),
        mtu,
        sessionSince: sessions.get(peer),
        streams: { ...packets.streamsOf(peer), legacy: sent.open },
        lost: sent.lost,
        lastError: search.lastErrorOf(peer) ?? packets.lastErrorOf(peer) ?? sent.lastError,
      }
    },
    async probe(peer, signal) {
      if (network.pathOf(peer) === undefined) await network.connect(peer, signal)
      const rttMs = await network.ping(peer, signal)
      const path = network.pathOf(peer)
      if (path === undefined) throw tunnelError('vpn.unreachable', 'the connection to the peer was lost')
      return { path: path.path, transport: path.transport, rttMs, mtu: this.mtuOf(peer) }
    },
    refusals: refusals.counts,
    stop() {
      if (stopped) return
      stopped = true
      cancelApply?.()
      for (const end of unwatch) end()
      search.stop()
      packets.stop()
      legacyTunnels.stop()
      keys.stop()
    },
  }
}
