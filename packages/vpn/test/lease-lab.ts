/** A network in virtual time whose members lease addresses: ours over real ledgers and replicators, and legacy ones. */
import { type Cidr, type IpAddress, parseCidr, silentLogger, tryParseAddressInRange } from '@mesh/core'
import {
  createRetainingStore,
  createSimNetwork,
  createSimSigner,
  REPLICATION_PROTOCOL,
  type SimNetwork,
  type SimNetworkInit,
  type SimNode,
  startSimNode,
} from '@mesh/replication/testing'
import { createManualClock, createSeededRandom, type ManualClock } from '@mesh/testkit'
import { deriveIpv6, deriveIpv6Range } from '../src/addresses/derive-ipv6.ts'
import { type LeaseProgress, leaseAddress } from '../src/addresses/lease.ts'
import type { LeaseStore } from '../src/addresses/lease-store.ts'
import { machineText } from '../src/addresses/own-machines.ts'
import { rememberAddresses } from '../src/addresses/past-addresses.ts'
import { watchLease } from '../src/addresses/watch-lease.ts'
import { transferLeadership } from '../src/legacy/leadership-transfer.ts'
import { createOwnAddresses } from '../src/own-addresses.ts'
import { type LegacyNode, startLegacyNode } from './legacy-node.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
const RANGE = parseCidr('10.1.0.0/24')
const machine = { Hostname: 'host', OS: 'linux', Arch: 'amd64', Version: '1' }

/** A node of ours with the VPN, as far as addresses go. */
export interface Leaser {
  readonly node: SimNode
  /** The address that it has now. */
  readonly address: IpAddress | undefined
  /** Virtual ms from its start to its first address. */
  readonly tookMs: number | undefined
  readonly leases: readonly IpAddress[]
  readonly progress: readonly LeaseProgress[]
  readonly error: unknown
  /** As if the process was killed. */
  kill(): Promise<void>
}

interface LeaserInit {
  readonly range?: Cidr
  readonly store?: LeaseStore
  readonly pastStore?: LeaseStore
  /** The ledger's disk. */
  readonly disk?: ReturnType<typeof createRetainingStore>
  readonly isNear?: (peer: string) => boolean
}

/** A node of ours whose address was given. */
interface FixedNode {
  readonly node: SimNode
  /** Once the ledger says so. */
  readonly address: string | undefined
  /** Why it ended. */
  readonly error: unknown
  kill(): Promise<void>
}

export interface LeaseLab {
  readonly clock: ManualClock
  readonly network: SimNetwork
  /** Peer ids of the members to come, by number. */
  readonly ids: readonly string[]
  vpn(number: number, init?: LeaserInit): Promise<Leaser>
  /** Of ours, with an address that a person gave it. */
  fixed(number: number, address: string, init?: Pick<LeaserInit, 'disk'>): Promise<FixedNode>
  /** Of ours, without an interface. */
  api(number: number): Promise<SimNode>
  legacy(number: number, kind: 'dhcp' | 'api'): LegacyNode
  /** Advances until it is so; undefined when it is not within `withinMs`, else the virtual ms that it took. */
  until(isSo: () => boolean, withinMs: number): Promise<number | undefined>
  stop(): Promise<void>
}

export function createLeaseLab(seed: number, count: number, init: SimNetworkInit = {}): LeaseLab {
  const clock = createManualClock(Date.UTC(2026, 10, 21, 12, 3))
  const random = createSeededRandom(seed)
  const network = createSimNetwork(init, { clock, random })
  const signers = Array.from({ length: count }, () => createSimSigner(random))
  const at = { clock, random, network }
  const stops: (() => Promise<void>)[] = []
  const signerOf = (number: number) => {
    const signer = signers[number]
    if (signer === undefined) throw new Error('not so many members')
    return signer
  }
  const start = async (number: number, { disk, isNear }: LeaserInit = {}) => {
    const store = disk === undefined ? {} : { store: disk }
    const neighbours = isNear === undefined ? {} : { neighbours: isNear }
    return startSimNode({ signer: signerOf(number), ...store, ...neighbours }, at)
  }
  return {
    clock,
    network,
    ids: signers.map(({ peerId }) => peerId),
    async vpn(number, given = {}) {
      const leaser = lease(await start(number, given), given, at)
      stops.push(() => leaser.kill())
      return leaser
    },
    async fixed(number, address, given = {}) {
      const fixed = startFixed(await start(number, given), address, at)
      stops.push(() => fixed.kill())
      return fixed
    },
    async api(number) {
      const node = await start(number)
      const stopYielding = transferLeadership({
        ledger: node.ledger,
        initialSync: () => node.replicator.ready(),
        legacyMembers: () => node.replicator.status().legacyMembers,
        clock,
        random,
        log: silentLogger,
      })
      stops.push(async () => {
        stopYielding()
        await node.kill()
      })
      return node
    },
    legacy(number, kind) {
      const node = startLegacyNode(signerOf(number), kind, at)
      stops.push(() => node.stop())
      return node
    },
    async until(isSo, withinMs) {
      const begun = clock.now()
      while (!isSo()) {
        if (clock.now() - begun >= withinMs) return undefined
        await clock.advance(100)
      }
      return clock.now() - begun
    },
    async stop() {
      for (const stop of stops) await stop()
    },
  }
}

export function createMemoryLease(text?: string): LeaseStore & { text: string | undefined } {
  return {
    text,
    read() {
      return this.text
    },
    write(next) {
      this.text = next
    },
  }
}

const DERIVED = deriveIpv6Range({ key: 'key', room: 'room' })

function startFixed(
  node: SimNode,
  text: string,
  { clock, random }: { clock: ManualClock; random: ReturnType<typeof createSeededRandom> },
): FixedNode {
  const { ledger, replicator, link } = node
  const given = tryParseAddressInRange(`${text}/24`)
  if (given === undefined) throw new Error(`${text} is no address`)
  const own = createOwnAddresses(
    {
      derived: deriveIpv6(DERIVED, ledger.self),
      fixed: [given],
      leaseRange: undefined,
      machine,
      guests: () => [],
      onChange() {},
    },
    {
      ledger,
      initialSync: () => replicator.ready(),
      announce: (bucket, key, valueText) => replicator.keepAnnounced(bucket, key, valueText),
      neighbours: () => link.topic.peers().length,
      isOurs: () => true,
      store: createMemoryLease(),
      pastStore: createMemoryLease(),
      clock,
      random,
      log: silentLogger,
    },
  )
  const stopping = new AbortController()
  const fixed = {
    node,
    get address() {
      const entry = ledger.snapshot().getLive('machines', text)
      return entry?.owner === ledger.self ? text : undefined
    },
    error: undefined as unknown,
    async kill() {
      stopping.abort(new Error('killed'))
      own.stop()
      await node.kill()
    },
  }
  own.start(stopping.signal).catch((error: unknown) => {
    fixed.error = error
  })
  return fixed
}

function lease(
  node: SimNode,
  { range = RANGE, store = createMemoryLease(), pastStore = createMemoryLease() }: LeaserInit,
  { clock, random }: { clock: ManualClock; random: ReturnType<typeof createSeededRandom> },
): Leaser {
  const { ledger, replicator, link } = node
  const stopping = new AbortController()
  const begun = clock.now()
  const ends = new Set<() => void>()
  const leaser = {
    node,
    address: undefined as IpAddress | undefined,
    tookMs: undefined as number | undefined,
    leases: [] as IpAddress[],
    progress: [] as LeaseProgress[],
    error: undefined as unknown,
    async kill() {
      stopping.abort(new Error('killed'))
      for (const end of ends) end()
      await node.kill()
    },
  }
  const components = {
    ledger,
    initialSync: () => replicator.ready(),
    neighbours: () => link.topic.peers().length,
    isOurs: (peer: string) => link.channels.peersWith(REPLICATION_PROTOCOL).some((near) => near === peer),
    store,
    pastAddresses: rememberAddresses({ ledger, store: pastStore, clock, log: silentLogger }),
    clock,
    random,
    log: silentLogger,
  }
  ends.add(() => components.pastAddresses.stop())
  const textOf = (address: IpAddress, own: readonly IpAddress[]) =>
    machineText(ledger.self, address, { own, machine, leased: true })
  let firstLeasedAt: number | undefined
  const run = async (avoid: readonly IpAddress[] = []): Promise<void> => {
    const { address, isKept } = await leaseAddress(
      {
        range,
        machineText: (address) => textOf(address, [address]),
        avoid,
        onProgress: (progress) => leaser.progress.push(progress),
        signal: stopping.signal,
      },
      components,
    )
    firstLeasedAt ??= isKept ? Number.NEGATIVE_INFINITY : clock.monotonic()
    leaser.tookMs ??= clock.now() - begun
    leaser.address = address
    leaser.leases.push(address)
    const derived = deriveIpv6(DERIVED, ledger.self).address
    const announced = [address, derived].map((each) =>
      replicator.keepAnnounced('machines', each, () => textOf(each, [address, derived])),
    )
    const stopWatching = watchLease({ address, firstLeasedAt }, components, () => {
      leaser.address = undefined
      for (const end of announced) end()
      void run([address]).catch(fail)
    })
    for (const end of [...announced, stopWatching]) ends.add(end)
  }
  const fail = (error: unknown) => {
    if (!stopping.signal.aborted) leaser.error = error
  }
  void run().catch(fail)
  return leaser
}
