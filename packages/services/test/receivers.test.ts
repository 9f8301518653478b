/** Members that take all places of a sender, or of services, with as many keys as they like. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PeerId, systemClock } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { createManualClock, eventually } from '@mesh/testkit'
import { afterEach, describe, expect, test } from 'vitest'
import { createConversation } from '../src/files/conversation.ts'
import { DestinationLocks } from '../src/files/destination-lock.ts'
import { decodeFileMessage } from '../src/files/file-message.ts'
import { IDLE_RECEIVER_MS, LISTS, RECEIVERS } from '../src/files/limits.ts'
import { receiveShare } from '../src/files/receive-session.ts'
import { createChannelPair } from '../src/files/testing/channel-pair.ts'
import { FileSharing, type FileChannel } from '../src/index.ts'
import { createWorld } from './world.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const PROCESSES = { self: '7 1', isRunning: () => false }
const ATTACKER = '198.51.100.7'
const key = (at: number) => `attacker${at}` as PeerId

/** A sender that offers one file, and what opens channels to it from any address. */
async function startSender() {
  const made = createWorld()
  closers.push(() => made.close())
  const [sender, honest] = [await made.member(), await made.member()]
  honest.components.user.announce()
  await honest.components.user.announced(AbortSignal.timeout(5_000))
  const folder = mkdtempSync(join(tmpdir(), 'mesh-receivers-'))
  closers.push(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'file'), 'all of it')
  const clock = createManualClock(systemClock.now())
  const addresses = new Map<PeerId, string>([[honest.id, '192.0.2.8']])
  let serve = async (_channel: FileChannel) => {}
  const sharing = new FileSharing({
    ...sender.components,
    clock,
    network: {
      ...sender.network,
      addressOf: (peer) => addresses.get(peer),
      channels: {
        async handle(_protocol, _options, handler) {
          serve = handler
        },
        open: () => Promise.reject(new Error('not used')),
      },
    },
  })
  await sharing.start()
  closers.push(() => sharing.stop())
  await sharing.offer('share', join(folder, 'file'))
  /** The receiver's end, whether it was refused, and whether it was cut off. */
  const open = (peer: PeerId, address: string) => {
    addresses.set(peer, address)
    const [far, near] = createChannelPair()
    const state = { near, isCut: false, refusal: '' }
    const { abort } = far
    void serve({
      ...far,
      peer,
      async send(message) {
        const decoded = decodeFileMessage(message)
        if (decoded?.type === 'refusal') state.refusal = decoded.reason
        await far.send(message)
      },
      abort(reason) {
        state.isCut = true
        abort.call(far, reason)
      },
    })
      .catch(() => {})
      .then(() => far.close())
    return state
  }
  const fetchWith = (near: FileChannel) =>
    receiveShare({
      conversation: createConversation(near, { clock: systemClock }),
      name: 'share',
      entries: new Uint8Array(0),
      destination: join(folder, 'copy'),
      locks: new DestinationLocks(PROCESSES),
      lists: new Scope(LISTS),
      signal: new AbortController().signal,
      onShare: () => {},
      onBytes: () => {},
    })
  return { open, honest, fetchWith, clock }
}

describe('one address with many keys that fetches nothing', () => {
  test('gets its share of the places, and a member elsewhere fetches the file', async () => {
    const { open, honest, fetchWith } = await startSender()
    const opened = Array.from({ length: 2 * RECEIVERS.all }, (_, at) => open(key(at), ATTACKER))
    await eventually(() =>
      expect(opened.filter(({ refusal }) => refusal === '')).toHaveLength(RECEIVERS.perAddress ?? 0),
    )
    expect(opened.at(-1)?.refusal).toBe('the sender serves as many receivers as it can')
    const { path } = await fetchWith(open(honest.id, '192.0.2.8').near)
    expect(readFileSync(path, 'utf8')).toBe('all of it')
  })

  test('displaces its own idle ones, never those of others', async () => {
    const { open, honest, clock } = await startSender()
    const waiting = open(honest.id, '192.0.2.8')
    const first = Array.from({ length: RECEIVERS.perAddress ?? 0 }, (_, at) => open(key(at), ATTACKER))
    await clock.advance(IDLE_RECEIVER_MS)
    const later = Array.from({ length: 8 }, (_, at) => open(key(100 + at), ATTACKER))
    await eventually(() => expect(first.filter(({ isCut }) => isCut)).toHaveLength(8))
    expect([waiting.isCut, waiting.refusal, later.map(({ refusal }) => refusal).join('')]).toEqual([
      false,
      '',
      '',
    ])
  })
})
