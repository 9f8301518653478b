/** Entries of `machines`, `services` and `dns` as names need them; each is parsed once, as entries never change. */
import {
  createMemo,
  dnsRecord,
  type IpAddress,
  machineRecord,
  type Memo,
  serviceRecord,
  tryParseIp,
} from '@mesh/core'
import type { Entry, OwnershipMode } from '@mesh/ledger'
import { MAX_RECORDS_BYTES } from '../limits.ts'
import { encodeRecordData } from './record-data.ts'

export interface NamedMachine {
  readonly peer: string
  readonly hostname: string
  readonly address: IpAddress
  /** True for a guest: the peer carries for it, and has another name. */
  readonly guest: boolean
}

/** The longest machine or service record that is read: real ones have a few hundred bytes. */
const MAX_RECORD_LENGTH = 4096

export function readMachine(key: string, entry: Entry, mode: OwnershipMode): NamedMachine | undefined {
  return readOnce(machines, entry, () => {
    const record = machineRecord.safeParse(valueOf(entry, MAX_RECORD_LENGTH)).data
    const address = tryParseIp(key)
    if (record === undefined || address !== key || !isOwnersWord(record.PeerID, entry, mode)) return undefined
    return { peer: record.PeerID, hostname: record.Hostname, address, guest: record['Guest'] === true }
  })
}

/** The peer that provides a service. */
export function readService(entry: Entry, mode: OwnershipMode): string | undefined {
  return readOnce(services, entry, () => {
    const record = serviceRecord.safeParse(valueOf(entry, MAX_RECORD_LENGTH)).data
    return record !== undefined && isOwnersWord(record.PeerID, entry, mode) ? record.PeerID : undefined
  })
}

/** Texts by type; types that are no number are left out. */
export function readRecords(entry: Entry): ReadonlyMap<number, string> | undefined {
  return readOnce(records, entry, () => {
    const record = dnsRecord.safeParse(valueOf(entry, MAX_RECORDS_BYTES)).data
    if (record === undefined) return undefined
    const byType = Object.entries(record).filter(([type]) => /^[1-9]\d{0,4}$/.test(type))
    return new Map(byType.map(([type, text]) => [Number(type), text]))
  })
}

/** RDATA of one of these texts, made once: any number of names may have it. */
export function recordDataOf(texts: ReadonlyMap<number, string>, type: number): Uint8Array | undefined {
  const text = texts.get(type)
  if (text === undefined) return undefined
  let made = recordData.get(texts)
  if (made === undefined) {
    made = new Map()
    recordData.set(texts, made)
  }
  let data = made.get(type)
  if (data === undefined) {
    data = encodeRecordData(type, text) ?? null
    made.set(type, data)
  }
  return data ?? undefined
}

const recordData = new WeakMap<ReadonlyMap<number, string>, Map<number, Uint8Array | null>>()
const machines = createMemo<Entry, NamedMachine | null>()
const services = createMemo<Entry, string | null>()
const records = createMemo<Entry, ReadonlyMap<number, string> | null>()

function readOnce<T>(memory: Memo<Entry, T | null>, entry: Entry, read: () => T | undefined): T | undefined {
  let known = memory.get(entry)
  if (known === undefined) {
    known = read() ?? null
    memory.set(entry, known)
  }
  return known ?? undefined
}

/**
 * True when an entry says something of its own owner. With `enforce` an entry speaks for its owner alone; the
 * other modes go by the record, as legacy members do.
 */
function isOwnersWord(peer: string, entry: Entry, mode: OwnershipMode): boolean {
  return mode !== 'enforce' || entry.owner === peer
}

function valueOf(entry: Entry, maxLength: number): unknown {
  if (entry.value.length > maxLength) return undefined
  try {
    return JSON.parse(entry.value)
  } catch {
    return undefined
  }
}
