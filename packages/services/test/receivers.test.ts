/** Members that take all places of a sender, or of services, with as many keys as they like. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PeerId, systemClock } from '@mesh/core'
import { createManualClock, eventually } from '@mesh/testkit'
import { afterEach, describe, expect, test } from 'vitest'
import { createConversation } from '../src/files/conversation.ts'
import { createDestinationLocks } from '../src/files/destination-lock.ts'
import { createListRoom } from '../src/files/list-room.ts'
import { decodeFileMessage } from '../src/files/file-message.ts'
import { IDLE_RECEIVER_MS, MAX_RECEIVERS, MAX_RECEIVERS_PER_ADDRESS } from '../src/files/limits.ts'
import { receiveShare } from '../src/files/receive-session.ts'
import { createChannelPair } from '../src/files/testing/channel-pair.ts'
import { createFileSharing, type FileChannel } from '../src/index.ts'
import { createSlots } from '../src/slots.ts'
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
  const sharing = createFileSharing({
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
    }).catch(() => {})
    return state
  }
  const fetchWith = (near: FileChannel) =>
    receiveShare({
      conversation: createConversation(near, { clock: systemClock }),
      name: 'share',
      entries: new Uint8Array(0),
      destination: join(folder, 'copy'),
      locks: createDestinationLocks(PROCESSES),
      lists: createListRoom(),
      signal: new AbortController().signal,
      onShare: () => {},
      onBytes: () => {},
    })
  return { open, honest, fetchWith, clock }
}

describe('one address with many keys that fetches nothing', () => {
  test('gets its share of the places, and a member elsewhere fetches the file', async () => {
    const { open, honest, fetchWith } = await startSender()
    const opened = Array.from({ length: 2 * MAX_RECEIVERS }, (_, at) => open(key(at), ATTACKER))
    await eventually(() =>
      expect(opened.filter(({ refusal }) => refusal === '')).toHaveLength(MAX_RECEIVERS_PER_ADDRESS),
    )
    expect(opened.at(-1)?.refusal).toBe('the sender serves as many receivers as it can')
    const { path } = await fetchWith(open(honest.id, '192.0.2.8').near)
    expect(readFileSync(path, 'utf8')).toBe('all of it')
  })

  test('displaces its own idle ones, never those of others', async () => {
    const { open, honest, clock } = await startSender()
    const waiting = open(honest.id, '192.0.2.8')
    const first = Array.from({ length: MAX_RECEIVERS_PER_ADDRESS }, (_, at) => open(key(at), ATTACKER))
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

test('slots are bounded by peer, by address and in all, and each is given back once', () => {
  const slots = createSlots({ perPeer: 2, perAddress: 3, inAll: 4 })
  const take = (peer: number, address: string) => slots.take({ peer: key(peer), address, end: () => {} })
  const release = take(1, '2001:db8::1')
  expect([take(1, '2001:db8::2'), take(1, '2001:db8::3')]).toEqual([expect.any(Function), undefined])
  // the same /64
  expect([take(2, '2001:db8::ffff'), take(3, '2001:db8::4')]).toEqual([expect.any(Function), undefined])
  // the address with three makes way for one that has none
  expect([take(3, '192.0.2.1'), take(4, '192.0.2.2')]).toEqual([expect.any(Function), expect.any(Function)])
  expect(slots.taken).toBe(4)
  release?.()
  release?.()
  expect(slots.taken).toBe(3)
  expect([take(5, '192.0.2.3'), take(6, '192.0.2.4')]).toEqual([expect.any(Function), undefined])
})
