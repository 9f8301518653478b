import { readFileSync } from 'node:fs'
import { createSeededRandom } from '@mesh/testkit'
import { describe, expect, it } from 'vitest'
import { MAX_SYNC_MESSAGE_BYTES } from '../limits.ts'
import { twinEntry } from '../../test/twin-ledger.ts'
import type { SyncMessage } from './sync-message.ts'
import { decodeSyncMessage, encodeSyncMessage } from './sync-message-codec.ts'

const item = (key: string) => ({
  bucket: 'b',
  key,
  version: 0xffff_ffff_ffff_ffffn,
  hash: new Uint8Array(16).fill(7),
  ownerTag: 0xffff_ffff,
  deleted: key === 'y',
})

const full: SyncMessage = {
  hello: {
    size: 5,
    digest: new Uint8Array(16).fill(1),
    heartbeats: new Uint8Array(16).fill(2),
    nowMs: 1_795_228_706_793,
  },
  ranges: [
    { from: undefined, to: { bucket: 'a', key: 'm' }, count: 3, fingerprint: new Uint8Array(32).fill(3) },
    {
      from: { bucket: 'a', key: 'm' },
      to: { bucket: 'b', key: '' },
      count: 0,
      fingerprint: new Uint8Array(32),
    },
    { from: { bucket: 'b', key: '' }, to: undefined, count: 9, fingerprint: new Uint8Array(32).fill(4) },
  ],
  lists: [{ from: { bucket: 'b', key: 'x' }, to: undefined, items: [item('x'), item('y')] }],
  wants: [{ bucket: 'ключ', key: '__proto__' }],
  entries: [
    { bucket: 'b', key: '\0', entry: twinEntry(1n) },
    {
      bucket: 'c',
      key: '',
      entry: { ...twinEntry(2n, ''), deleted: true, updatedAt: -5, owner: 'o', sig: new Uint8Array(64) },
    },
  ],
  refused: [{ hash: new Uint8Array(16), code: 'FUTURE' }],
  more: true,
}

const silent: SyncMessage = { ranges: [], lists: [], wants: [], entries: [], refused: [], more: false }
const middle = { bucket: 'a', key: 'm' }
const questions: SyncMessage = {
  ...silent,
  ranges: [
    { from: undefined, to: middle, count: 3, fingerprint: new Uint8Array(32).fill(3) },
    { from: middle, to: undefined, count: 0, fingerprint: new Uint8Array(32) },
  ],
  wants: [{ bucket: 'a', key: 'k' }],
  more: true,
}
const greeting: SyncMessage = {
  ...silent,
  hello: {
    size: 0,
    digest: new Uint8Array(16).fill(1),
    heartbeats: new Uint8Array(16).fill(2),
    nowMs: 1_795_228_706_793,
  },
}

describe('the encoding of messages', () => {
  it('is that of the vectors in docs/PROTOCOLS.md', () => {
    const text = readFileSync(new URL('../../../../docs/PROTOCOLS.md', import.meta.url), 'utf8')
      .split('## Replication')[1]
      ?.split('\n## ')[0]
    const vectors = [...(text ?? '').matchAll(/^[0-9a-f]{20,}$/gm)].map(([hex]) => hex)
    expect(vectors).toEqual(
      [greeting, questions].map((message) => Buffer.from(encodeSyncMessage(message)).toString('hex')),
    )
    expect(vectors.map((hex) => decodeSyncMessage(Buffer.from(hex, 'hex'))?.more)).toEqual([false, true])
  })

  it('gives back what went in', () => {
    expect(decodeSyncMessage(encodeSyncMessage(full))).toEqual(full)
  })

  it('ignores fields of later versions, and takes none of another wire type for its own', () => {
    const unknown = [0x7a, 2, 9, 9, 0x38 | 5, 1, 2, 3, 4]
    expect(decodeSyncMessage(Uint8Array.of(...encodeSyncMessage(full), ...unknown))).toEqual(full)
  })

  it('refuses truncated bytes, or reads a shorter message, but never throws', () => {
    const bytes = encodeSyncMessage(full)
    const cut = Array.from(bytes.keys(), (length) => decodeSyncMessage(bytes.subarray(0, length)))
    expect(cut.filter((message) => message?.more === true)).toEqual([])
    expect(cut.filter((message) => message === undefined).length).toBeGreaterThan(bytes.length / 2)
  })

  it('never throws at random or altered bytes', () => {
    const random = createSeededRandom(4)
    const bytes = encodeSyncMessage(full)
    let refused = 0
    for (let run = 0; run < 3000; run++) {
      const altered = bytes.slice()
      for (let hit = 0; hit < 3; hit++)
        altered[Math.floor(random.float() * bytes.length)] = random.bytes(1)[0] ?? 0
      if (decodeSyncMessage(altered) === undefined) refused++
      if (decodeSyncMessage(random.bytes(40)) === undefined) refused++
    }
    expect(refused).toBeGreaterThan(1000)
  })

  it('refuses a list over its bound', () => {
    const items = Array.from({ length: 257 }, (_, at) => item(`k${at}`))
    const lists = [{ from: undefined, to: undefined, items }]
    expect(decodeSyncMessage(encodeSyncMessage({ ...full, lists }))).toBeUndefined()
  })

  it('takes as many items as fit into a message, and refuses more of next to nothing', () => {
    const range = (at: number) => ({ bucket: 'b', key: `k${at}` })
    const lists = Array.from({ length: 300 }, (_, at) => ({
      from: range(at * 40),
      to: range(at * 40 + 40),
      items: Array.from({ length: 36 }, (_unused, n) => item(`k${at * 40 + n}`)),
    }))
    const bytes = encodeSyncMessage({ ...full, lists })
    expect(bytes.length).toBeGreaterThan(MAX_SYNC_MESSAGE_BYTES)
    expect(decodeSyncMessage(bytes)?.lists).toHaveLength(300)
    // an item that is a hash alone, and lists of 250 of them
    const least = Uint8Array.of(0x32, 18, 0x1a, 16, ...new Uint8Array(16))
    const list = Uint8Array.of(0x1a, 0x88, 0x27, ...Array.from({ length: 250 }, () => [...least]).flat())
    const listsOf = (count: number) =>
      decodeSyncMessage(Buffer.concat(Array.from({ length: count }, () => list)))
    expect(listsOf(65)?.lists).toHaveLength(65)
    expect(listsOf(66)).toBeUndefined()
    expect(66 * list.length).toBeLessThan(MAX_SYNC_MESSAGE_BYTES)
  })

  it.each([
    ['an item', 0x1a, 2, 0x32, 0],
    ['a refusal', 0x32, 0],
  ])('refuses %s without a hash', (_, ...bytes) => {
    expect(decodeSyncMessage(Uint8Array.from(bytes))).toBeUndefined()
  })

  it('refuses a part with fields without end', () => {
    const fields = (count: number) =>
      Uint8Array.of(0x22, 2 * count, ...Array.from({ length: count }, () => [0x12, 0]).flat())
    expect(decodeSyncMessage(fields(32))?.wants).toEqual([{ bucket: '', key: '' }])
    expect(decodeSyncMessage(fields(33))).toBeUndefined()
  })

  it('refuses nested groups without end', () => {
    expect(decodeSyncMessage(new Uint8Array(300_000).fill(0x7b))).toBeUndefined()
  })
})

it('an entry keeps nothing of the message that it came with, of a Buffer either', () => {
  const decoded = decodeSyncMessage(Buffer.from(encodeSyncMessage(full)))
  const sizes = decoded?.entries.map(({ entry: { sig } }) => sig?.buffer.byteLength)
  expect(sizes?.at(-1)).toBe(64)
})
