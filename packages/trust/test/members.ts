/** Nodes with administrators over real ledgers, which are told of each other's entries by hand. */
import { silentLogger, systemRandom } from '@mesh/core'
import { createLedger, createSigner, defaultPolicies, type Ledger, type Signer } from '@mesh/ledger'
import { createNodeVerifier } from '@mesh/ledger/node'
import type { ManualClock } from '@mesh/testkit'
import { createTrust, type Trust } from '../src/index.ts'
import { checkPolicy } from '../src/rules/check-policy.ts'

export const NETWORK = '00112233445566778899'
const adminSeed = systemRandom.bytes(32)
export const admin = createSigner(adminSeed)
const verify = createNodeVerifier()

export interface TestNode {
  readonly trust: Trust
  readonly ledger: Ledger
  readonly signer: Signer
}

/** The nodes that are open. */
export const nodes: TestNode[] = []

export async function stopNodes(): Promise<void> {
  for (const { trust, ledger } of nodes.splice(0)) {
    trust.stop()
    await ledger.stop()
  }
}

export function openNode(
  clock: ManualClock,
  {
    holdsKey = false,
    seed = adminSeed,
    administrators = [admin],
    invite,
    network = NETWORK,
  }: {
    holdsKey?: boolean
    seed?: Uint8Array
    administrators?: readonly Signer[]
    invite?: string
    network?: string
  } = {},
): TestNode {
  const signer = createSigner(systemRandom.bytes(32))
  const trust = createTrust(
    { self: signer.peerId, network, administrators: administrators.map(({ peerId }) => peerId), invite },
    {
      signer,
      readAdminSeed: () => (holdsKey ? seed : undefined),
      checkPolicy,
      clock,
      random: systemRandom,
      log: silentLogger,
    },
  )
  const ledger = createLedger(
    { policies: { ...defaultPolicies, ...trust.policies } },
    { signer, verify, clock, admits: (...asked) => trust.admits(...asked) },
  )
  trust.attachLedger(ledger)
  const node = { trust, ledger, signer }
  nodes.push(node)
  return node
}

/** Gives everything that one node holds of the bucket to another. */
export function tell(from: TestNode, to: TestNode) {
  return to.ledger.merge([...from.ledger.snapshot().entries('admission')], undefined)
}

export function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('is not there')
  return value
}

export function administrationOf({ trust }: TestNode) {
  return required(trust.administration)
}

/** Gives everything that one node holds to another, as in a comparison. */
export function tellAll(from: TestNode, to: TestNode) {
  return to.ledger.merge([...from.ledger.snapshot().entries()], from.signer.peerId)
}

/** Lets nodes compare until all have heard of everything. */
export async function meet(clock: ManualClock, members: readonly TestNode[]): Promise<void> {
  for (let round = 0; round < 3; round++) {
    for (const from of members) for (const to of members) if (from !== to) tellAll(from, to)
    await clock.advance(1)
  }
}

/** A node that joins late and compares with one. */
export function openFresh(clock: ManualClock, from: TestNode): TestNode {
  const fresh = openNode(clock)
  tell(from, fresh)
  tellAll(from, fresh)
  return fresh
}

export async function settle(clock: ManualClock, { settled }: { readonly settled: Promise<unknown> }) {
  await clock.advance(50)
  await settled
}
