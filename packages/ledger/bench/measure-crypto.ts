/** Signing, verifying and merging, each against raw node:crypto with a cached key. */
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { systemClock } from '@mesh/core'
import { canonicalBytes } from '../src/canonical.ts'
import { createLedger, encodeBlock } from '../src/index.ts'
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
  const entries = signedEntries(signer, ENTRIES)
  const messages = entries.map((keyed) => canonicalBytes(keyed).slice())
  const sigs = entries.map(({ entry }) => entry.sig ?? new Uint8Array())
  const raw = rawKeys(seed)
  const check = createNodeVerifier()
  const block = encodeBlock(entries)
  const merging = openLedger()
  const receiving = openLedger()
  const measure = {
    rawSign: await perSecond(() => messages.forEach((message) => sign(null, message, raw.privateKey))),
    sign: await perSecond(() => messages.forEach((message) => signer.sign(message))),
    verify: await perSecond(() =>
      messages.forEach((message, at) => check(signer.peerId, message, sigs[at] ?? message)),
    ),
    rawVerify: await perSecond(() =>
      messages.forEach((message, at) => verify(null, message, raw.publicKey, sigs[at] ?? message)),
    ),
    merge: await perSecond(() => merging.merge(entries, signer.peerId)),
    receive: await perSecond(() => receiving.receiveBlock(block, signer.peerId)),
    receiveKnown: await perSecond(() => receiving.receiveBlock(block, signer.peerId)),
  }
  for (const ledger of [merging, receiving]) {
    if (ledger.snapshot().size !== ENTRIES) throw new Error('not all entries were taken')
    await ledger.stop()
  }
  return { ...measure, mergeShare: measure.merge / measure.rawVerify }
}

async function perSecond(run: () => unknown): Promise<number> {
  const start = performance.now()
  await run()
  return (ENTRIES * 1000) / (performance.now() - start)
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
