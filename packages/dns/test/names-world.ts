/** A ledger that the test writes as it likes, names made from it, and questions as packets. */
import { type Cidr, parseCidr, silentLogger } from '@mesh/core'
import type { Entry, KeyedEntry, LedgerEvent } from '@mesh/ledger'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import * as dnsPacket from 'dns-packet'
import { createDns } from '../src/create-dns.ts'
import type { DnsInit } from '../src/dns.ts'
import type { NamesLedger } from '../src/known-names.ts'

export const SELF = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
export const OTHER = '12D3KooWLbDHQoJ2dUwkQ3ykVLTMMHPVPD6ZZSDk42tU5RXD5YRz'
export const THIRD = '12D3KooWPjceQrSwdWXPyLLeABRXmuqt69Rg3sBYbU1Nft9HyQ6X'
export const RANGES: readonly Cidr[] = [parseCidr('10.1.0.0/24'), parseCidr('fd00:1::/64')]

export interface FakeLedger extends NamesLedger {
  put(bucket: string, key: string, value: unknown, more?: Partial<Entry>): void
  remove(bucket: string, key: string): void
  readonly dead: Set<string>
}

export function createFakeLedger(mode: NamesLedger['mode'] = 'enforce'): FakeLedger {
  const entries = new Map<string, KeyedEntry>()
  const listeners = new Set<(event: LedgerEvent) => void>()
  const dead = new Set<string>()
  let index = 0
  const commit = (keyed: KeyedEntry) => {
    const head = { index: ++index, timestamp: '', hash: '', prevHash: '' }
    const change = { ...keyed, previous: undefined, origin: 'remote' } as const
    for (const tell of listeners) tell({ type: 'committed', head, changes: [change] })
  }
  return {
    self: SELF as NamesLedger['self'],
    mode,
    dead,
    snapshot() {
      const all = [...entries.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
      return {
        head: { index, timestamp: '', hash: '', prevHash: '' },
        entries: (bucket?: string) => all.filter((each) => each.bucket === bucket),
        isOwnerLive: (owner: string) => !dead.has(owner),
      } as unknown as ReturnType<NamesLedger['snapshot']>
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    put(bucket, key, value, more = {}) {
      const owner = (value as { PeerID?: string }).PeerID ?? SELF
      const entry = { owner, version: BigInt(index + 1), updatedAt: 0, deleted: false, sig: null }
      const keyed = { bucket, key, entry: { ...entry, value: JSON.stringify(value), ...more } }
      entries.set(`${bucket}/${key}`, keyed)
      commit(keyed)
    },
    remove(bucket, key) {
      const keyed = entries.get(`${bucket}/${key}`)
      entries.delete(`${bucket}/${key}`)
      if (keyed !== undefined) commit({ ...keyed, entry: { ...keyed.entry, deleted: true } })
    },
  }
}

export function machine(hostname: string, peer = SELF) {
  return { PeerID: peer, Hostname: hostname, OS: 'linux', Arch: 'amd64', Address: '', Version: '' }
}

/** Nothing listens; questions go to `explain`. */
export function createWorld(init: DnsInit = {}, mode?: NamesLedger['mode']) {
  const ledger = createFakeLedger(mode)
  const clock = createManualClock()
  const random = createSeededRandom(1)
  const dns = createDns(
    { ownRanges: RANGES, hostRanges: RANGES, ...init },
    { ledger, clock, random, log: silentLogger },
  )
  return { ledger, clock, dns }
}

export interface QueryOptions {
  readonly id?: number
  readonly opt?: { readonly size: number; readonly dnssecOk?: boolean }
  readonly flags?: number
}

export function encodeQuery(
  name: string,
  type: string,
  { id = 7, opt, flags = 0x100 }: QueryOptions = {},
): Buffer {
  const additionals = opt === undefined ? [] : [optOf(opt)]
  const questions = [{ name, type: type as dnsPacket.RecordType }]
  return dnsPacket.encode({ type: 'query', id, flags, questions, additionals })
}

function optOf({ size, dnssecOk = false }: NonNullable<QueryOptions['opt']>) {
  return { type: 'OPT', name: '.', udpPayloadSize: size, flags: dnssecOk ? 0x8000 : 0, options: [] } as never
}
