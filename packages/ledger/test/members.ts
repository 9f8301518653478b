/** Ledgers of several members around one clock, and entries as hostile members make them. */
import { heartbeatValue } from '@mesh/core'
import { createManualClock, type ManualClock } from '@mesh/testkit'
import { canonicalBytes } from '../src/entries/canonical.ts'
import {
  createLedger,
  type Entry,
  type KeyedEntry,
  type Ledger,
  type LedgerComponents,
  type LedgerEvent,
  type LedgerInit,
  type Signer,
} from '../src/index.ts'
import { createNodeSigner, createNodeVerifier } from '../src/node.ts'

export interface Member {
  readonly ledger: Ledger
  readonly signer: Signer
  readonly events: LedgerEvent[]
  /** Events of one type so far. */
  told<Type extends LedgerEvent['type']>(type: Type): Extract<LedgerEvent, { type: Type }>[]
  /** Writes a heartbeat. */
  beat(): Promise<void>
}

const verify = createNodeVerifier()

/** `admits` is false for owners that this member keeps out. */
export function createMember(
  byte: number,
  clock: ManualClock,
  { admits = () => true, ...init }: LedgerInit & Pick<LedgerComponents, 'admits'> = {},
): Member {
  const signer = createNodeSigner(new Uint8Array(32).fill(byte))
  const ledger = createLedger(init, { signer, verify, clock, admits })
  const events: LedgerEvent[] = []
  ledger.subscribe((event) => events.push(event))
  return {
    ledger,
    signer,
    events,
    told: (type) => events.filter((event) => event.type === type) as never,
    async beat() {
      const { settled } = ledger.put('healthcheck', ledger.self, heartbeatValue(clock.now()))
      await clock.advance(20)
      await settled
    },
  }
}

/** Two members who are alive and have heard of each other, the one with the smaller id first. */
export async function createPair(init: LedgerInit = {}) {
  const clock = createManualClock()
  const [a, b] = [createMember(1, clock, init), createMember(2, clock, init)].toSorted((one, other) =>
    one.ledger.self < other.ledger.self ? -1 : 1,
  ) as [Member, Member]
  await a.beat()
  await b.beat()
  exchange(a, b)
  return { clock, a, b }
}

/** Each takes all that the others hold, as whole ledgers travel, and what is retracted, until nothing changes. */
export function exchange(...members: Member[]): void {
  for (let changed = true; changed; ) {
    changed = false
    for (const from of members) {
      for (const to of members) {
        if (from === to) continue
        const retracted = from.told('retracted').flatMap(({ entries }) => entries)
        const result = to.ledger.merge([...retracted, ...from.ledger.snapshot().entries()], from.ledger.self)
        changed ||= result.accepted > 0
      }
    }
  }
}

/** Sends what a member holds of one key. */
export function send(from: Member, to: Member, bucket: string, key: string) {
  const rows = [...from.ledger.snapshot().entries(bucket)].filter((row) => row.key === key)
  return to.ledger.merge(rows, from.ledger.self)
}

/** A signed entry with any fields. */
export function forge(signer: Signer, bucket: string, key: string, fields: Partial<Entry> = {}): KeyedEntry {
  const entry: Entry = {
    value: '"v"',
    owner: signer.peerId,
    version: 1n,
    updatedAt: 0,
    deleted: false,
    sig: null,
    ...fields,
  }
  const sig = fields.sig ?? signer.sign(canonicalBytes({ bucket, key, entry }))
  return { bucket, key, entry: { ...entry, sig } }
}

export const nanos = (ms: number) => BigInt(Math.floor(ms)) * 1_000_000n
