/**
 * Who holds how many addresses of one /24, in which leases are taken: keys cost nothing, and a few of them must not take
 * all of it from newcomers. When most of the addresses are claimed, the signer with the most of them gives its oldest up,
 * as long as it has others: who has but one keeps it. It depends on what the ledger holds and on nothing else, so that
 * all members come to the same.
 */
import { BUCKETS, createMemo, KeyedCounts } from '@mesh/core'
import type { Entry, KeyedEntry } from '../entries/entry.ts'
import { MAX_SHARED_SUBNET_ADDRESSES } from '../limits.ts'
import { byAge } from './position-order.ts'

/** The claims of addresses of one /24. Counts are kept, as each stored row asks for them. */
interface Subnet {
  /** The number of rows about each address, of all signers. */
  readonly addresses: KeyedCounts<string>
  readonly signers: Map<string, Signer>
}

interface Signer {
  /**
   * The number of its rows about each address: a node's own IPv6 record names its IPv4 address once more.
   */
  readonly addresses: KeyedCounts<string>
  readonly rows: Map<Entry, KeyedEntry>
}

export class AddressClaims {
  /** The claims by the first three numbers of the addresses. */
  readonly #subnets = new Map<string, Subnet>()

  count(row: KeyedEntry): void {
    const address = claimedAddress(row)
    if (address === undefined) return
    const { entry } = row
    const subnet = this.#subnets.get(subnetOf(address)) ?? {
      addresses: new KeyedCounts(),
      signers: new Map(),
    }
    const signer = subnet.signers.get(entry.owner) ?? { addresses: new KeyedCounts(), rows: new Map() }
    this.#subnets.set(subnetOf(address), subnet)
    subnet.signers.set(entry.owner, signer)
    if (signer.rows.has(entry)) return
    signer.rows.set(entry, row)
    signer.addresses.add(address)
    subnet.addresses.add(address)
  }

  uncount(row: KeyedEntry): void {
    const { entry } = row
    const address = claimedAddress(row)
    const subnet = address === undefined ? undefined : this.#subnets.get(subnetOf(address))
    const signer = subnet?.signers.get(entry.owner)
    if (address === undefined || subnet === undefined || signer?.rows.delete(entry) !== true) return
    signer.addresses.remove(address)
    subnet.addresses.remove(address)
    if (signer.rows.size === 0) subnet.signers.delete(entry.owner)
    if (subnet.signers.size === 0) this.#subnets.delete(subnetOf(address))
  }

  /**
   * The entry that has to go after this row was stored; undefined when nothing has to.
   * @param self this node, whose own entries never go for others'
   */
  excessAfter(row: KeyedEntry, self: string): KeyedEntry | undefined {
    const address = claimedAddress(row)
    const subnet = address === undefined ? undefined : this.#subnets.get(subnetOf(address))
    if (subnet === undefined || subnet.addresses.size <= MAX_SHARED_SUBNET_ADDRESSES) return undefined
    let [owner, most] = ['', 1]
    for (const [each, { addresses }] of subnet.signers) {
      if (each === '' || each === self) continue
      const held = addresses.size
      if (held > most || (held === most && held > 1 && each > owner)) [owner, most] = [each, held]
    }
    const rows = owner === '' ? undefined : subnet.signers.get(owner)?.rows
    let oldest: KeyedEntry | undefined
    for (const row of rows?.values() ?? []) {
      if (oldest === undefined || byAge(row, oldest) < 0) oldest = row
    }
    return oldest
  }
}

const subnetOf = (address: string) => address.slice(0, address.lastIndexOf('.'))

/** Entries never change, so what one claims is read once; null is nothing. */
const read = createMemo<Entry, string | null>()

/** The IPv4 address that an entry of `machines` is for, or that its record names. */
function claimedAddress({ bucket, key, entry }: KeyedEntry): string | undefined {
  if (bucket !== BUCKETS.machines || entry.deleted) return undefined
  let claimed = read.get(entry)
  if (claimed === undefined) {
    claimed = ipv4In(key) ?? ipv4In(namedIn(entry.value)) ?? null
    read.set(entry, claimed)
  }
  return claimed ?? undefined
}

/** An IPv4 address in the one form that it has as a key. The parser of `core` would be an eighth of what a browser loads. */
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?=\d)|$)){4}$/

function ipv4In(text: string): string | undefined {
  return IPV4.test(text) ? text : undefined
}

function namedIn(valueText: string): string {
  try {
    const record: unknown = JSON.parse(valueText)
    const isNaming = typeof record === 'object' && record !== null && 'Address' in record
    return isNaming && typeof record.Address === 'string' ? record.Address : ''
  } catch {
    return ''
  }
}
