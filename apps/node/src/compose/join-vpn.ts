/**
 * The VPN of this node: 1 plugs it into the host, the ledger, replication and the engine; 2 tells the API and the log
 * of it; 3 makes the interface, and waits until its addresses are this node's.
 */
import { join } from 'node:path'
import {
  type AddressInRange,
  type Cidr,
  formatAddressInRange,
  parsePeerId,
  tryParseAddressInRange,
} from '@mesh/core'
import type { P2pMember } from '@mesh/p2p/node'
import { deriveIpv6Range, type LeaseInit, type VpnComponents, type VpnInit, type VpnNetwork } from '@mesh/vpn'
import { followPacketRules } from '../access/follow-packet-rules.ts'
import { createLocalFilter, type ExitHost, forwardedFamilies, restoreKernel } from '@mesh/exit-node'
import { parseDnsPlace } from '../settings/dns-values.ts'
import { nameInForce } from '../settings/node-name.ts'
import type { Settings } from '../settings/options.ts'
import {
  DEFAULT_VPN_RANGE,
  parseOfferedRoute,
  parseStaticPeer,
  parseVpnAddress,
  parseVpnHost,
  valuesOf,
} from '../settings/vpn-values.ts'
import { createGuestFile } from '../state/guest-file.ts'
import { createJournals } from '../state/journals.ts'
import { createLeaseFile } from '../state/lease-file.ts'
import type { Network } from '../state/network.ts'
import type { JoinedInit } from './join-init.ts'
import type { CleanUps } from '../clean-ups.ts'
import { logVpn } from './log-vpn.ts'
import { peerPorts } from './peer-ports.ts'
import { createVpnHost, describeMachine } from '../machine/vpn-host.ts'

/** @throws MeshError `vpn.*`, `engine.*`; the signal's reason */
export async function joinVpn(init: JoinedInit, cleanUps: CleanUps): Promise<void> {
  const { settings, network, folder, ledger, rules, p2p, replicator, api, exit, keptExit } = init
  const { clock, random, log, signal } = init
  const [{ createVpn }, openEngine] = await Promise.all([import('@mesh/vpn'), engineOf(init)])
  const given = vpnInit(settings, network, { folder, exit })
  const vpn = createVpn(given, {
    ledger,
    network: vpnNetwork(p2p, blacklistedRanges(settings)),
    host: createVpnHost(p2p, exit),
    openEngine,
    openLeaseFile: (path) => createLeaseFile(path, log.child('vpn')),
    ...(!settings.ephemeral && { exitStore: createLeaseFile(join(folder, 'exit-node'), log.child('vpn')) }),
    ...(!settings.ephemeral && {
      routeStore: createLeaseFile(join(folder, 'routes.json'), log.child('vpn')),
    }),
    ...(!settings.ephemeral && { guestStore: createGuestFile(join(folder, 'guests.json')) }),
    announce: (bucket, key, valueText) => replicator.keepAnnounced(bucket, key, valueText),
    initialSync: () => replicator.ready(),
    clock,
    random,
    log,
  })
  cleanUps.add(() => vpn.stop())
  rules.setVpnRanges(rangesOf(given, network))
  // the first ones before the interface is there
  cleanUps.add(followPacketRules(rules, (packetRules) => vpn.setRules(packetRules)))
  cleanUps.add(
    vpn.subscribe((event) => {
      if (event.type === 'refusals') for (const refusal of event.refusals) rules.notePackets(refusal)
    }),
  )
  api.attachVpn(vpn, (wanted) => {
    // the rules first: from here on nothing leaves but into the VPN
    exit.use(wanted)
    vpn.setExitNode(wanted)
    keptExit.keep(wanted)
  })
  cleanUps.add(logVpn(vpn, log.child('vpn')))
  exit.offer(rangesOf(given, network))
  await vpn.start(signal)
  exit.attach(vpn)
  init.onInterface(vpn.interface?.name ?? settings.interface, vpn.addresses().map(formatAddressInRange))
}

/** The engine that the person chose. */
async function engineOf({
  settings,
  stateDir,
  clock,
  log: given,
}: JoinedInit): Promise<VpnComponents['openEngine']> {
  const { openEngine, openKernelEngine } = await import('@mesh/engine')
  const log = given.child('engine')
  const journals = createJournals(stateDir, log)
  restoreKernel(journals, log)
  const queues = settings.tunQueues === 0 ? {} : { queues: settings.tunQueues }
  if (settings.wireguard === 'engine')
    return (engineInit) => openEngine({ ...engineInit, ...queues }, { log })
  const filter = createLocalFilter(journals, { clock, log })
  return (engineInit) => openKernelEngine(engineInit, { log, filter })
}

/** Gives the VPN what it is told of the settings. */
export function vpnInit(
  settings: Settings,
  { config }: Network,
  { folder, exit }: { readonly folder: string; readonly exit: Pick<ExitHost, 'faults'> },
): VpnInit {
  const addresses = valuesOf(settings.address, parseVpnAddress)
  const routes = valuesOf(settings.advertiseRoute, parseOfferedRoute)
  const isLeased = settings.dhcp || addresses.length === 0
  const router = settings.router === undefined ? undefined : valuesOf([settings.router], parseVpnHost)[0]
  return {
    interface: settings.interface,
    mtu: settings.mtu,
    ...(settings.udp && { udp: udpOf(settings) }),
    wireguard: settings.wireguard,
    addresses: isLeased ? [] : addresses,
    ...(isLeased && { lease: leaseOf(addresses[0], settings.ephemeral ? undefined : folder) }),
    secret: { key: config.crypto.key, room: config.room },
    machine: machineOf(settings, exit),
    advertiseExit: settings.advertiseExit,
    ...(settings.exitNode !== undefined && { exitNode: settings.exitNode }),
    staticPeers: valuesOf(settings.staticPeertable, parseStaticPeer),
    ...(router !== undefined && { router }),
    advertiseRoutes: routes.map(({ range }) => range),
    routeMetrics: new Map(routes.map(({ range, metric }) => [range, metric])),
    acceptRoutes: settings.acceptRoutes,
    acceptRoutesFrom: settings.acceptRoutesFrom.map(parsePeerId),
    ...(settings.guestEndpoint !== undefined && { guestEndpoint: settings.guestEndpoint }),
    dnsPlaces: valuesOf(settings.dns, parseDnsPlace),
    livenessMs: settings.ownershipTtl,
  }
}

/** An exit says what it forwards, and what is wrong with that, at the time when it is asked. */
function machineOf(settings: Settings, exit: Pick<ExitHost, 'faults'>): VpnInit['machine'] {
  const machine = describeMachine(nameInForce(settings), process)
  if (!settings.advertiseExit) return machine
  return {
    ...machine,
    get Exit() {
      return forwardedFamilies(settings)
    },
    get ExitFaults() {
      return exit.faults()
    },
  }
}

function udpOf({ udpPort, fwmark }: Settings): NonNullable<VpnInit['udp']> {
  return { port: udpPort, ...(fwmark !== 0 && { mark: fwmark }) }
}

/** The ranges that members have addresses in: those of this node's, and the one that follows from the network. */
function rangesOf({ addresses, lease }: VpnInit, { config }: Network): readonly Cidr[] {
  const derived = deriveIpv6Range({ key: config.crypto.key, room: config.room })
  const own = [...addresses, ...(lease === undefined ? [] : [lease.range])]
  return [...new Set([...own.map(({ range }) => range), derived])]
}

function leaseOf(given: AddressInRange | undefined, folder: string | undefined): LeaseInit {
  const range = given ?? tryParseAddressInRange(DEFAULT_VPN_RANGE)
  if (range === undefined) throw new Error('the built-in range is one')
  const files = folder !== undefined && {
    file: join(folder, 'lease'),
    pastFile: join(folder, 'past-addresses.json'),
  }
  return { range, ...files }
}

/** Ranges of `--blacklist`: what the VPN blocks comes on top. */
function blacklistedRanges({ blacklist }: Settings): readonly Cidr[] {
  return blacklist.flatMap((text) => tryParseAddressInRange(text)?.range ?? [])
}

function vpnNetwork(p2p: P2pMember, blacklisted: readonly Cidr[]): VpnNetwork {
  return {
    channels: p2p.channels,
    ...peerPorts(p2p),
    blockRanges: (ranges) => p2p.blockRanges([...blacklisted, ...ranges]),
    mapUdpPort: (port, onMapped) => p2p.mapUdpPort(port, onMapped),
    ping: (peer, signal) => p2p.ping(peer, signal),
    endDead: (peer, signal) => p2p.endDead(peer, signal),
    onDoubt: (listener) => p2p.onDoubt(listener),
  }
}
