/** The platform of a machine. TCP stands first; all else joins the running host. */
import { networkInterfaces } from 'node:os'
import { MeshError } from '@mesh/core'
import { createNetworkSecrets } from '@mesh/network'
import { nativeSealCipher } from '@mesh/network/node'
import { isRelayed } from '../addresses/address-rules.ts'
import { usableAddresses } from '../addresses/usable-addresses.ts'
import { createBulk } from '../bulk/create-bulk.ts'
import { createTlsDoor } from '../bulk/tls-door.ts'
import type { DiscoveryMethod } from '../discovery/discovery-methods.ts'
import { localFind } from '../discovery/local-find.ts'
import { Mdns } from '../discovery/mdns.ts'
import { startRendezvous } from '../discovery/rendezvous.ts'
import { joinService, joinTransport } from '../libp2p/base-host.ts'
import { connectionsTo } from '../libp2p/connections.ts'
import { boundRelaying } from '../libp2p/inbound-rates.ts'
import {
  MAX_RELAY_CIRCUITS_PER_PEER,
  RELAY_MAX_BYTES,
  RELAY_MAX_DURATION_MS,
  RELAY_RESERVATIONS,
} from './limits.ts'
import { RELAY_RESERVATION_MS } from '../limits.ts'
import { createRelayReservations } from '../reach/relay-reservations.ts'
import { createUdpPortMappings, isOnLink, type UdpPortMappings } from '@mesh/port-mapping'
import type { P2pComponents } from '../p2p-components.ts'
import { Sockets } from '../transport/sockets.ts'
import { tcp } from '../transport/tcp.ts'
import { rememberMachineAddresses } from '../upstream/node/machine-addresses.ts'
import type { MarkSocket } from '../upstream/node/mark-socket.ts'
import { relayInStep } from '../upstream/circuit-relay/relayed-bytes.ts'
import { endReservations, relayToConnected } from '../upstream/circuit-relay/reservations.ts'
import { type ListenPlan, planListening } from './listen-addresses.ts'
import { joinWebRtc } from './join-webrtc.ts'
import { createCircuitDemand } from './circuit-demand.ts'
import { loadOptional } from './optional-package.ts'
import type { Platform, PlatformContext } from './platform.ts'
import { DEFAULT_SWITCHES, type P2pNodeInit, type Switches } from './switches.ts'

type Stop = () => void | Promise<void>

/** @throws MeshError `p2p.bad_listen_address` */
export function createNodePlatform(init: P2pNodeInit, components: P2pComponents): Platform {
  rememberMachineAddresses()
  const logger = components.logger.child('p2p')
  const sockets = new Sockets({ mark: socketPreparation(init), clock: components.clock, logger })
  const switches: Switches = {
    ...DEFAULT_SWITCHES,
    // an address of its own asks for it, too
    webrtcDirect: init.listen?.some((text) => text.includes('/webrtc-direct')) === true,
    ...init.switches,
    ...(init.markSocket !== undefined && { quic: false, webrtc: false, webrtcDirect: false }),
  }
  const isPrivate = init.private === true
  const plan = planListening(init.listen, switches)
  const mappings = switches.upnp && !isPrivate ? createUdpPortMappings({ ...components, logger }) : undefined
  const door = createTlsDoor()
  return {
    transports: switches.tcp ? [tcp({ sockets, door: door.see })] : [],
    ...(switches.tcp && { bulk: (components) => createBulk({ door, sockets }, components) }),
    listen: plan.tcp.map(String),
    cipher: nativeSealCipher,
    ...(mappings !== undefined && { mapUdpPort: (port, onMapped) => mappings.map(port, onMapped) }),
    async join(context) {
      confirmOwnAddresses(context)
      const stops: Stop[] = [() => sockets.stop()]
      const join = async (
        name: string,
        enabled: boolean,
        start: (way: DiscoveryMethod) => Promise<Stop | undefined>,
      ) => {
        const way = context.methods.open(name, enabled)
        if (!enabled) return
        try {
          const stop = await start(way)
          if (stop !== undefined) stops.push(stop)
        } catch (error) {
          logMissing(context, name, error)
          way.failed(error)
        }
      }
      // a private network needs one only where members do not tell of each other
      const wantsDht = switches.dht && (!isPrivate || init.peerExchange === false)
      const wantsRelay = switches.relayClient || switches.relayService
      await Promise.all([
        join('mdns', switches.mdns, (way) => joinMdns(context, { service: init.network.mdns, plan, way })),
        join('relay', wantsRelay, () => joinRelay(context, { switches, plan, init })),
        join('ws', switches.ws, () => joinWebSockets(context, plan, sockets)),
        join('quic', switches.quic, () => joinQuic(context, plan)),
        join('webrtc', switches.webrtc || switches.webrtcDirect, (way) =>
          joinWebRtc(context, {
            ...switches,
            listen: plan.webrtcDirect,
            onFailed(error) {
              logMissing(context, 'webrtc', error)
              way.failed(error)
            },
          }),
        ),
        join('dht', wantsDht, (way) => joinRendezvous(context, { init, isPrivate, way })),
        join('autonat', switches.autonat && !isPrivate, async () =>
          (await import('../nat/autonat.ts')).joinAutoNat(context),
        ),
        join('upnp', mappings !== undefined, () => joinUpnp(context, mappings, !switches.autonat)),
      ])
      return async () => {
        await Promise.all(stops.map(async (stop) => await stop()))
      }
    },
  }
}

/** Prepares each socket before it connects or listens. */
function socketPreparation(init: P2pNodeInit): MarkSocket | undefined {
  const { markSocket, capSegments, allowFragments } = init
  if (capSegments === undefined && allowFragments === undefined) return markSocket
  return (fd, remote) => {
    markSocket?.(fd)
    if (remote !== undefined && isOnLink(remote, networkInterfaces())) return
    // each end's packets are cut by its own leave; who accepts has it from the socket that listens
    allowFragments?.(fd)
    // who is dialled sends no longer ones than the dialler takes
    if (remote !== undefined) capSegments?.(fd)
  }
}

/** A package that was left out was left out on purpose; all else should not be. */
function logMissing({ logger }: PlatformContext, part: string, error: unknown): void {
  if (error instanceof MeshError && error.code === 'p2p.missing_package') {
    logger.info('part of the host is not installed', { part, reason: error.message, hint: error.hint })
  } else logger.warn('part of the host is missing', { part, reason: String(error) })
}

/** Confirms public addresses of this machine's interfaces: libp2p tells no other public address unconfirmed. */
function confirmOwnAddresses({ host }: PlatformContext): void {
  const { addressManager, transportManager } = host.services.parts.components
  const confirm = () => {
    for (const address of transportManager.getAddrs()) {
      if (!isRelayed(address)) addressManager.confirmObservedAddr(address, { type: 'transport' })
    }
  }
  host.addEventListener('transport:listening', confirm)
  confirm()
}

async function joinMdns(
  context: PlatformContext,
  {
    service,
    plan,
    way,
  }: { readonly service: string; readonly plan: ListenPlan; readonly way: DiscoveryMethod },
): Promise<Stop> {
  const { openMulticast } = await import('../discovery/multicast-sockets.ts')
  const { host, rules, reach } = context
  const multicast = await openMulticast(
    { listen: plan.ips, isBlockedIp: rules.isBlockedIp, onError: (error) => way.failed(error) },
    context,
  )
  const mdns = new Mdns(
    {
      self: host.peerId.toString(),
      service,
      addresses: () => host.getMultiaddrs().filter((address) => !isRelayed(address)),
      found(find, from) {
        const local = localFind(find, from, networkInterfaces())
        if (local !== undefined) reach.found(way, local)
      },
    },
    { ...context, multicast },
  )
  mdns.start()
  return mdns.stop
}

async function joinRendezvous(
  context: PlatformContext,
  {
    init,
    isPrivate,
    way,
  }: { readonly init: P2pNodeInit; readonly isPrivate: boolean; readonly way: DiscoveryMethod },
): Promise<Stop> {
  const { joinDht } = await import('../discovery/dht.ts')
  const { rendezvousAt } = createNetworkSecrets(init.network)
  return startRendezvous(
    {
      rendezvousAt,
      dht: await joinDht(context, { isPrivate }),
      found(find) {
        const self = context.host.peerId.toString()
        // of strangers anybody may have left it there
        const addresses = usableAddresses(find.addresses, { self, sameHost: isPrivate })
        if (addresses.length > 0) context.reach.found(way, { ...find, addresses })
      },
      ran: way.failed,
      ...(init.rendezvousIntervalMs === undefined ? {} : { intervalMs: init.rendezvousIntervalMs }),
    },
    context,
  )
}

async function joinRelay(
  context: PlatformContext,
  {
    switches,
    plan,
    init,
  }: { readonly switches: Switches; readonly plan: ListenPlan; readonly init: P2pNodeInit },
): Promise<Stop> {
  const {
    maxBytes = RELAY_MAX_BYTES,
    maxDurationMs = RELAY_MAX_DURATION_MS,
    maxCircuitsPerPeer = MAX_RELAY_CIRCUITS_PER_PEER,
    reservationMs = RELAY_RESERVATION_MS,
  } = init.relayLimits ?? {}
  const [{ circuitRelayServer }, { joinCircuits }] = await Promise.all([
    import('@libp2p/circuit-relay-v2'),
    import('../nat/circuits.ts'),
  ])
  const { host, reach } = context
  await joinCircuits(host, context.clock)
  const ended = new AbortController()
  const stops: Stop[] = [() => ended.abort(new Error('stopped'))]
  if (switches.relayService) {
    const isConnected = createCircuitDemand(
      {
        isConnected: (peer) => connectionsTo(host, peer).some(({ direct }) => direct),
        isMember: (peer) => context.membership.isMember(peer),
        connect: (peer) => reach.connect(peer, ended.signal),
        onFailed: (peer, error) => context.logger.debug('peer of a circuit not met', { peer, error }),
      },
      context.clock,
    )
    const build = circuitRelayServer({
      maxInboundHopStreams: 2 * maxCircuitsPerPeer,
      maxOutboundStopStreams: 2 * maxCircuitsPerPeer,
      reservations: {
        maxReservations: RELAY_RESERVATIONS.all,
        reservationTtl: reservationMs,
        defaultDurationLimit: maxDurationMs,
        defaultDataLimit: BigInt(maxBytes),
      },
    })
    await joinService(host, 'relay', (components: Parameters<typeof build>[0]) => {
      const server = relayToConnected(relayInStep(build(components)), {
        isConnected: (peer) => isConnected(peer.toString()),
        limits: { maxDurationMs, maxBytes },
      })
      context.setEndReservation(endReservations(server))
      return server
    })
    await boundRelaying(host.services.parts.components.registrar, context.clock)
    stops.push(await answerStun(context, plan))
  }
  if (switches.holePunch) {
    const { joinHolePunch } = await import('../nat/hole-punch.ts')
    await joinHolePunch(context)
  }
  if (switches.relayClient) reach.startReserving(createRelayReservations({ host }))
  return async () => {
    await Promise.all(stops.map(async (stop) => await stop()))
  }
}

async function answerStun(context: PlatformContext, plan: ListenPlan): Promise<Stop> {
  const { openStunServer } = await import('../nat/stun-server.ts')
  const address = plan.ips.find((ip) => ip.includes('.'))
  if (address === undefined) return () => {}
  const server = await openStunServer({ address }, context)
  context.setStunPort(server.port)
  return () => server.close()
}

async function joinWebSockets(
  { host }: PlatformContext,
  plan: ListenPlan,
  sockets: Sockets,
): Promise<undefined> {
  const { webSockets } = await import('../transport/websockets.ts')
  await joinTransport(host, webSockets(sockets), plan.ws)
}

async function joinQuic({ host }: PlatformContext, plan: ListenPlan): Promise<undefined> {
  const { quic } = await loadOptional(
    { feature: 'QUIC', packages: ['@chainsafe/libp2p-quic'] },
    () => import('@chainsafe/libp2p-quic'),
  )
  await joinTransport(host, quic() as never, plan.quic)
}

async function joinUpnp(
  { host }: PlatformContext,
  mappings: UdpPortMappings | undefined,
  autoConfirmAddress: boolean,
): Promise<Stop | undefined> {
  if (mappings === undefined) return undefined
  // before the host ends, and the library forgets its routers
  host.addEventListener('stop', () => void mappings.stop(), { once: true })
  const { uPnPNAT } = await import('@libp2p/upnp-nat')
  await joinService(host, 'upnp', uPnPNAT({ autoConfirmAddress, portMappingClient: mappings.client }))
  return () => mappings.stop()
}
