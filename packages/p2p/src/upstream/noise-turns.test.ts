import { generateKeyPair } from '@libp2p/crypto/keys'
import { defaultLogger } from '@libp2p/logger'
import { noise } from '@libp2p/noise'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { type Clock, LoopTurns } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { openInTurns } from './noise-turns.ts'

const [MESSAGES, TURN_MS] = [2_000, 8]
/** How much of a turn each message takes whose content is handed on. */
const MESSAGE_MS = TURN_MS / 16

/** Two ends of an encrypted connection; the near one opens in turns. */
async function createEnds() {
  let now = 0
  const after = (ms: number, work: () => void) => {
    if (ms === 0) setImmediate(work)
    return () => {}
  }
  const clock = { monotonic: () => now, now: () => now, after } as unknown as Clock
  const [dialled, accepted] = multiaddrConnectionPair({ delay: 0 })
  const secure = async () => {
    const privateKey = await generateKeyPair('Ed25519')
    const components = { privateKey, peerId: peerIdFromPrivateKey(privateKey), logger: defaultLogger() }
    const upgrader = { getStreamMuxers: () => new Map() }
    return noise()({ ...components, upgrader } as never)
  }
  const [ours, theirs] = [await secure(), await secure()]
  const [{ connection: near }, { connection: far }] = await Promise.all([
    ours.secureInbound(accepted),
    theirs.secureOutbound(dialled),
  ])
  openInTurns(near, new LoopTurns(TURN_MS, clock))
  const seen = { inTurn: 0, most: 0, pausedAndRead: 0, emptyParts: 0, bytes: [] as number[] }
  const transport = accepted as unknown as {
    readonly readStatus: string
    sendPause(): void
    sendResume(): void
  }
  let isRead = true
  transport.sendPause = () => (isRead = false)
  transport.sendResume = () => (isRead = true)
  near.addEventListener('message', ({ data }) => {
    seen.bytes.push(...data.subarray())
    const parts = data instanceof Uint8Array ? [data] : [...data]
    seen.emptyParts += parts.filter((part) => part.byteLength === 0).length
    seen.most = Math.max(seen.most, ++seen.inTurn)
    now += MESSAGE_MS
    if (seen.inTurn > 1) return
    setImmediate(() => {
      seen.inTurn = 0
      if (transport.readStatus === 'paused' && isRead) seen.pausedAndRead++
    })
  })
  const seal = (bytes: Uint8Array): Uint8Array =>
    (far as unknown as { encrypt(bytes: Uint8Array): { subarray(): Uint8Array } }).encrypt(bytes).subarray()
  /** One block of bytes with messages of one byte each. */
  const sealed = (from: number, count: number) =>
    Buffer.concat(Array.from({ length: count }, (_, at) => seal(Uint8Array.of((from + at) % 251))))
  const expected = (count: number) => Array.from({ length: count }, (_, at) => at % 251)
  return { near, dialled, seen, seal, sealed, expected }
}

test('what one block of bytes holds is opened in many turns, in order, and the connection is not read meanwhile', async () => {
  const { near, dialled, seen, sealed, expected } = await createEnds()
  dialled.send(sealed(0, MESSAGES))
  dialled.send(sealed(MESSAGES, MESSAGES))
  await eventually(() => expect(seen.bytes.length).toBe(2 * MESSAGES))
  expect(seen.bytes).toEqual(expected(2 * MESSAGES))
  // the turns of this test begin elsewhere, and the clock is looked at now and then alone
  expect(seen.most).toBeLessThan(MESSAGES / 16)
  expect(seen.pausedAndRead).toBe(0)
  expect(near.status).toBe('open')
})

test('a message that comes in two blocks, between which others were opened, has no empty parts', async () => {
  const { dialled, seen, seal, sealed, expected } = await createEnds()
  const small = sealed(0, MESSAGES)
  const long = seal(new Uint8Array(2_000).fill(7))
  dialled.send(Buffer.concat([small, long.subarray(0, 1_000)]))
  await eventually(() => expect(seen.bytes.length).toBe(MESSAGES))
  dialled.send(long.subarray(1_000))
  await eventually(() => expect(seen.bytes.length).toBe(MESSAGES + 2_000))
  expect(seen.bytes).toEqual([...expected(MESSAGES), ...Array.from({ length: 2_000 }, () => 7)])
  expect(seen.emptyParts).toBe(0)
})

test('while its reader has it paused nothing more is handed on, and it goes on where it was', async () => {
  const { near, dialled, seen, sealed, expected } = await createEnds()
  dialled.send(sealed(0, MESSAGES))
  await eventually(() => expect(seen.bytes.length).toBeGreaterThan(100))
  near.pause()
  const had = seen.bytes.length
  dialled.send(sealed(MESSAGES, 100))
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(seen.bytes.length).toBe(had)
  near.resume()
  await eventually(() => expect(seen.bytes).toEqual(expected(MESSAGES + 100)))
})

test('what came before the end is handed on before it', async () => {
  const { near, dialled, seen, sealed, expected } = await createEnds()
  dialled.send(sealed(0, MESSAGES))
  await eventually(() => expect(seen.bytes.length).toBeGreaterThan(0))
  await dialled.close()
  await eventually(() => expect(near.status).toBe('closed'))
  expect(seen.bytes).toEqual(expected(MESSAGES))
})

test('a message that was changed ends the connection, also in a later turn', async () => {
  const { near, dialled, seen, sealed } = await createEnds()
  const block = sealed(0, MESSAGES)
  block.writeUInt8(block.readUInt8(block.length - 1) ^ 1, block.length - 1)
  dialled.send(block)
  await eventually(() => expect(near.status).toBe('aborted'))
  expect(seen.bytes.length).toBeGreaterThan(MESSAGES - 33)
})
