/** Signing, verifying and merging, each against raw node:crypto with a cached key. */
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { systemClock } from '@mesh/core'
import { canonicalBytes } from '../src/entries/canonical.ts'
import { createLedger, encodeBlock, type KeyedEntry } from '../src/index.ts'
import { createNodeSigner, createNodeVerifier } from '../src/node.ts'
import { seedOf, signedEntries } from './signed-entries.ts'

const MEASURED = [
  'rawSign',
  'rawVerify',
  'sign',
  'verify',
  'merge',
  'receive',
  'receiveKnown',
  'mergeShare',
] as const

/**
 * Per second: `merge` takes new signed entries from memory, `receive` from a block's JSON, `receiveKnown` a block
 * that is held already. `mergeShare` is merge against raw verify, to be at least 0.8.
 */
export type CryptoMeasure = Readonly<Record<(typeof MEASURED)[number], number>>

const ROUNDS = 5
const ENTRIES = 2000
/** What is compared takes turns in parts this long, so that other work on the machine disturbs all alike. */
const PART = 100

/** Medians of five rounds; takes about ten seconds. */
export async function measureCrypto(): Promise<CryptoMeasure> {
  const rounds: CryptoMeasure[] = []
  for (let round = 0; round < ROUNDS; round++) rounds.push(await measureRound())
  const median = (name: keyof CryptoMeasure) =>
    rounds.map((each) => each[name]).toSorted((a, b) => a - b)[ROUNDS >> 1] ?? 0
  return Object.fromEntries(MEASURED.map((name) => [name, median(name)])) as CryptoMeasure
}

async function measureRound(): Promise<CryptoMeasure> {
  const seed = seedOf(1)
  const signer = createNodeSigner(seed)
  const raw = rawKeys(seed)
  const check = createNodeVerifier()
  const [merging, receiving] = [openLedger(), openLedger()]
  const author = signer.peerId
  const parts = partsOf(signedEntries(signer, ENTRIES))
  const spent = await takeTurns(parts, {
    rawSign: ({ messages }) => messages.forEach((message) => sign(null, message, raw.privateKey)),
    sign: ({ messages }) => messages.forEach((message) => signer.sign(message)),
    rawVerify: ({ messages, sigs }) =>
      messages.forEach((message, at) => verify(null, message, raw.publicKey, sigs[at] ?? message)),
    merge: ({ entries }) => merging.merge(entries, author),
    verify: ({ messages, sigs }) =>
      messages.forEach((message, at) => check(author, message, sigs[at] ?? message)),
    receive: ({ block }) => receiving.receiveBlock(block, author),
    receiveKnown: ({ block }) => receiving.receiveBlock(block, author),
  })
  for (const ledger of [merging, receiving]) {
    if (ledger.snapshot().size !== ENTRIES) throw new Error('not all entries were taken')
    await ledger.stop()
  }
  const rates = Object.fromEntries([...spent].map(([name, ms]) => [name, (ENTRIES * 1000) / ms]))
  const mergeShare = (spent.get('rawVerify') ?? 0) / (spent.get('merge') ?? 1)
  return { ...rates, mergeShare } as CryptoMeasure
}

interface Part {
  readonly entries: readonly KeyedEntry[]
  readonly messages: readonly Uint8Array[]
  readonly sigs: readonly Uint8Array[]
  readonly block: Uint8Array
}

function partsOf(all: readonly KeyedEntry[]): Part[] {
  return Array.from({ length: ENTRIES / PART }, (_, part) => {
    const entries = all.slice(part * PART, (part + 1) * PART)
    return {
      entries,
      messages: entries.map((keyed) => canonicalBytes(keyed).slice()),
      sigs: entries.map(({ entry }) => entry.sig ?? new Uint8Array()),
      block: encodeBlock(entries),
    }
  })
}

/** Runs every contestant on every part; the milliseconds that each took. */
async function takeTurns(
  parts: readonly Part[],
  contestants: Readonly<Record<string, (part: Part) => unknown>>,
): Promise<Map<string, number>> {
  const spent = new Map<string, number>()
  for (const part of parts) {
    for (const [name, run] of Object.entries(contestants)) {
      const start = performance.now()
      await run(part)
      spent.set(name, (spent.get(name) ?? 0) + performance.now() - start)
    }
  }
  return spent
}

/** Its time stands still, so that no slice ends and no author has to rest. */
function openLedger() {
  const now = performance.timeOrigin
  const clock = { ...systemClock, now: () => now }
  return createLedger({}, { signer: createNodeSigner(seedOf(2)), verify: createNodeVerifier(), clock })
}

function rawKeys(seed: Uint8Array) {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  return { privateKey, publicKey: createPublicKey(privateKey) }
}
