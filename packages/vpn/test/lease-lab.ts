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
import type { LeaseStore } from '../src/vpn.ts'
import { transferLeadership } from '../src/legacy/leadership-transfer.ts'
import { OwnAddresses } from '../src/own-addresses.ts'
import { type LegacyNode, startLegacyNode } from './legacy-node.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
const RANGE = parseCidr('10.1.0.0/24')
/** Where leasing writes. */
const LEASE_BUCKETS: ReadonlySet<string> = new Set(['machines', 'dhcp'])
const machine = { Hostname: 'host', OS: 'linux', Arch: 'amd64', Version: '1' }

/** A node of ours with the VPN, as far as addresses go. */
export interface Leaser {
  readonly node: SimNode
  /** The address that it has now. */
  readonly address: IpAddress | undefined
  /** All that it has had. */
  readonly leases: readonly IpAddress[]
  /** Entries of `machines` and `dhcp` that it has written. */
  readonly writes: number
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

interface LeaseLabInit extends SimNetworkInit {
  /** The longest time that a timer of a member fires late, as where its machine is busy. */
  readonly lateMs?: number
}

export function createLeaseLab(seed: number, count: number, init: LeaseLabInit = {}): LeaseLab {
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
    const { lateMs = 0 } = init
    return startSimNode({ signer: signerOf(number), lateMs, ...store, ...neighbours }, at)
  }
  return {
    clock,
    network,
    ids: signers.map(({ peerId }) => peerId),
    async vpn(number, given = {}) {
      const leaser = startLeaser(await start(number, given), given, at)
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

interface Surroundings {
  readonly random: ReturnType<typeof createSeededRandom>
}

/** The addresses of a node as a running VPN has them. */
function ownAddresses(
  { ledger, replicator, link, clock }: SimNode,
  given: Pick<ConstructorParameters<typeof OwnAddresses>[0], 'fixed' | 'leaseRange' | 'onChange'>,
  stores: { readonly store: LeaseStore; readonly pastStore: LeaseStore },
  { random }: Surroundings,
) {
  return new OwnAddresses(
    { ...given, derived: deriveIpv6(DERIVED, ledger.self), takesIpv6: true, machine, guests: () => [] },
    {
      ledger,
      initialSync: () => replicator.ready(),
      announce: (bucket, key, valueText) => replicator.keepAnnounced(bucket, key, valueText),
      neighbours: () => link.topic.peers(),
      isOurs: (peer) => link.channels.peersWith(REPLICATION_PROTOCOL).some((near) => near === peer),
      ...stores,
      clock,
      random,
      log: silentLogger,
    },
  )
}

function startFixed(node: SimNode, text: string, at: Surroundings): FixedNode {
  const { ledger } = node
  const given = tryParseAddressInRange(`${text}/24`)
  if (given === undefined) throw new Error(`${text} is no address`)
  const stores = { store: createMemoryLease(), pastStore: createMemoryLease() }
  const own = ownAddresses(node, { fixed: [given], leaseRange: undefined, onChange() {} }, stores, at)
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

function startLeaser(
  node: SimNode,
  { range = RANGE, store = createMemoryLease(), pastStore = createMemoryLease() }: LeaserInit,
  at: Surroundings,
): Leaser {
  const stopping = new AbortController()
  let writes = 0
  const unsubscribe = node.ledger.subscribe((event) => {
    if (event.type !== 'committed') return
    writes += event.changes.filter(
      ({ bucket, origin }) => origin === 'local' && LEASE_BUCKETS.has(bucket),
    ).length
  })
  const leaser = {
    node,
    address: undefined as IpAddress | undefined,
    leases: [] as IpAddress[],
    error: undefined as unknown,
    get writes() {
      return writes
    },
    async kill() {
      stopping.abort(new Error('killed'))
      unsubscribe()
      own.stop()
      await node.kill()
    },
  }
  const onChange = () => {
    const address = own.all().find((each) => each.range === range)?.address
    if (address !== undefined && address !== leaser.address) leaser.leases.push(address)
    leaser.address = address
    leaser.error = own.leaseError
  }
  const own = ownAddresses(node, { fixed: [], leaseRange: range, onChange }, { store, pastStore }, at)
  own.start(stopping.signal).catch((error: unknown) => {
    if (!stopping.signal.aborted) leaser.error = error
  })
  return leaser
}
