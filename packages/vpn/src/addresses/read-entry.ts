/**
 * Reads what entries of `machines` and `routes` say, and whom they belong to. What cannot be read gives a
 * reason.
 */
import {
  type Cidr,
  createMemo,
  type IpAddress,
  machineRecord,
  type Memo,
  type PeerId,
  tryParsePeerId,
} from '@mesh/core'
import type { Entry, OwnershipMode } from '@mesh/ledger'
import { EXIT_FAULTS, type ExitFault, type IgnoredReason, type IpFamily } from '../vpn.ts'
import {
  canonicalCidr,
  canonicalIp,
  hostPrefix,
  hostRange,
  isReserved,
  type Prefix,
  prefixOf,
} from './prefix.ts'

export interface Machine {
  readonly address: IpAddress
  /** The prefix of just the address. */
  readonly range: Cidr
  readonly prefix: Prefix
  readonly peer: PeerId
  readonly hostname: string
  /** The address that the record names; in the entry of an IPv6 address it is the machine's IPv4 address, if any. */
  readonly named: IpAddress | undefined
  /** True when its IPv4 address is a lease. */
  readonly leased: boolean
  /** True for a guest's address: the hostname is the guest's, and not the peer's. */
  readonly guest: boolean
  /** The families that it forwards to the Internet for others; none: it is no exit. */
  readonly exit: readonly IpFamily[]
  /** The faults of that which it told. */
  readonly exitFaults: readonly ExitFault[]
}

export interface Route {
  readonly range: Cidr
  readonly prefix: Prefix
  readonly peer: PeerId
  /** The route's metric; the lower one is preferred. */
  readonly metric: number
}

/** The greatest metric that a kernel takes. */
const MAX_METRIC = 0xffff_ffff
/** The longest record that is read, in bytes; ours have about 200. */
const MAX_RECORD_LENGTH = 4096

const FAMILIES: readonly IpFamily[] = ['ipv4', 'ipv6']

type Read<T> = T | IgnoredReason

/** The address of an entry of `machines`, and the prefix of just it. */
type ReadAddress = Pick<Machine, 'address' | 'prefix'>

/** Keeps what was read of entries. An entry never changes, and its key is part of what its owner signed. */
const addresses = createMemo<Entry, Read<ReadAddress>>()
const machines = createMemo<Entry, Read<Machine>>()
const routes = createMemo<Entry, Read<Route>>()

/** Reads whose address an entry of `machines` is about, whatever its value says. */
export function readAddress(key: string, entry: Entry): Read<ReadAddress> {
  return readOnce(addresses, entry, () => {
    const address = canonicalIp(key)
    if (address === undefined) return 'badKey'
    const prefix = hostPrefix(address)
    return isReserved(prefix) ? 'badKey' : { address, prefix }
  })
}

export function readMachine(key: string, entry: Entry): Read<Machine> {
  return readOnce(machines, entry, () => {
    const read = readAddress(key, entry)
    if (typeof read === 'string') return read
    const { address, prefix } = read
    const record = recordIn(entry)
    const peer = tryParsePeerId(record?.PeerID ?? '')
    if (record === undefined || peer === undefined) return 'badRecord'
    return {
      address,
      range: hostRange(address),
      prefix,
      peer,
      hostname: record.Hostname.slice(0, 255),
      named: canonicalIp(record.Address),
      leased: record['Leased'] === true,
      guest: record['Guest'] === true,
      exit: namedIn(FAMILIES, record['Exit']),
      exitFaults: namedIn(EXIT_FAULTS, record['ExitFaults']),
    }
  })
}

/** The words of those that are known which a list of the record has. */
function namedIn<Word extends string>(known: readonly Word[], value: unknown): readonly Word[] {
  return Array.isArray(value) ? known.filter((word) => value.includes(word)) : []
}

export function readRoute(key: string, entry: Entry): Read<Route> {
  return readOnce(routes, entry, () => {
    const range = canonicalCidr(key)
    if (range === undefined) return 'badKey'
    const prefix = prefixOf(range)
    if (isReserved(prefix)) return 'badKey'
    const record = recordIn(entry)
    const peer = tryParsePeerId(record?.PeerID ?? '')
    const metric = record?.['Metric'] ?? 0
    if (peer === undefined || !isMetric(metric)) return 'badRecord'
    return { range, prefix, peer, metric }
  })
}

/**
 * True when an entry counts for the peer. With `enforce` an entry speaks for its owner alone. The other modes
 * store what anybody wrote, and go by the record as legacy nodes do.
 */
export function isOwnersWord(peer: PeerId, entry: Entry, mode: OwnershipMode): boolean {
  return mode !== 'enforce' || entry.owner === peer
}

function readOnce<T>(memory: Memo<Entry, Read<T>>, entry: Entry, read: () => Read<T>): Read<T> {
  let known = memory.get(entry)
  if (known === undefined) {
    known = read()
    memory.set(entry, known)
  }
  return known
}

function recordIn(entry: Entry) {
  if (entry.value.length > MAX_RECORD_LENGTH) return undefined
  try {
    return machineRecord.safeParse(JSON.parse(entry.value)).data
  } catch {
    return undefined
  }
}

function isMetric(metric: unknown): metric is number {
  return Number.isInteger(metric) && (metric as number) >= 0 && (metric as number) <= MAX_METRIC
}
