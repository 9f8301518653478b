/** A real API server over a real ledger, in a network of any size that is played: for `vite dev`, and for measures. */
import type { AssetsPort, OffersPort } from '@mesh/api-server'
import { BUCKETS } from '@mesh/core'
import { createLedger } from '@mesh/ledger'
import { createFakeAccess } from '../../../../packages/api-server/test/fake-access.ts'
import { createFakeOffers } from '../../../../packages/api-server/test/fake-offers.ts'
import {
  fakeMachine,
  fakeVpn,
  startTestNode,
  type TestNode,
} from '../../../../packages/api-server/test/fixture.ts'
import { signerAt } from './fake-network.ts'
import { SELF } from './fake-node.ts'
import { type PlayedNetwork, playNetwork } from './played-network.ts'

/** The VPN tells of few machines in detail. */
const VPN_MACHINES = 30

export interface PlayedNode extends TestNode {
  readonly network: PlayedNetwork
  /** A write of one of the machines, as it comes from the network. */
  writeAs(machine: number, bucket: string, key: string, value: unknown): Promise<void>
  /** The next machine writes something. */
  writeNext(): Promise<void>
}

/** @param machines without this node */
export async function startPlayedNode(machines: number, assets?: AssetsPort): Promise<PlayedNode> {
  const network = playNetwork(machines)
  const components = {
    network: network.port,
    access: createFakeAccess(),
    ...(assets !== undefined && { assets }),
  }
  const node = await startTestNode({ signer: SELF, components, vpn: playedVpn(network) })
  node.server.attachOffers(await playedOffers())
  const members = network.peers.map((_, at) => createLedger({}, { signer: signerAt(at) }))
  const writeAs: PlayedNode['writeAs'] = async (machine, bucket, key, value) => {
    const own = members[machine % members.length]
    await own?.put(bucket, key, JSON.stringify(value)).settled
    const entry = own?.snapshot().get(bucket, key)
    if (entry !== undefined) node.ledger.merge([{ bucket, key, entry }], own?.self)
  }
  await announce(network, writeAs)
  let written = 0
  return {
    ...node,
    network,
    writeAs,
    writeNext() {
      const at = written++ % machines
      return writeAs(at, 'sensors', `sensor-${at}`, { celsius: 15 + (written % 13) })
    },
    async stop() {
      await Promise.all(members.map((member) => member.stop()))
      await node.stop()
    },
  }
}

/** Each machine tells who it is; the first offers some things. */
async function announce({ peers }: PlayedNetwork, writeAs: PlayedNode['writeAs']): Promise<void> {
  const machines = peers.map(({ ID: PeerID, Name: Hostname }, at) => {
    const Address = addressAt(at)
    const record = { PeerID, Hostname, OS: 'linux', Arch: 'amd64', Address, Version: '0.1.0' }
    return writeAs(at, BUCKETS.machines, Address, record)
  })
  const PeerID = peers[0]?.ID
  await Promise.all([
    ...machines,
    writeAs(0, BUCKETS.services, 'wiki', { PeerID, Name: 'wiki' }),
    writeAs(0, BUCKETS.services, 'ssh-nas', { PeerID, Name: 'ssh-nas' }),
    writeAs(0, BUCKETS.files, 'photos', { PeerID, Name: 'photos' }),
    writeAs(0, BUCKETS.dns, 'git.lab', { 1: addressAt(0) }),
  ])
}

/** One of each, all of the name `wiki`. */
async function playedOffers(): Promise<OffersPort> {
  const offers = createFakeOffers()
  await offers.services.put('wiki', '127.0.0.1:8080')
  await offers.connections.put('wiki', '127.0.0.1:9090')
  await offers.files.put('wiki', '/srv/wiki')
  await offers.downloads.put('wiki', '/srv/inbox/')
  return offers
}

function playedVpn({ peers }: PlayedNetwork) {
  const machines = peers.slice(0, VPN_MACHINES).map(({ ID, Name }, at) => ({
    PeerID: ID,
    Hostname: Name ?? '',
    Addresses: [addressAt(at)],
    Way: 'sealed' as const,
    Path: 'direct' as const,
    Transport: 'udp',
    RoundTripMs: 4,
    OffersExit: at < 2 ? ['ipv4' as const] : null,
  }))
  return fakeVpn(machines.map(fakeMachine))
}

const addressAt = (at: number) => `10.1.${Math.floor(at / 250)}.${(at % 250) + 2}`
