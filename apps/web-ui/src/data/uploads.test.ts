import { createClient } from '@mesh/api-client'
import { MAX_UPLOAD_BYTES, MAX_UPLOAD_PIECE_BYTES } from '@mesh/api-contract'
import { createManualClock, eventually } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { createFakeInbox } from '../../test/support/fake-inbox.ts'
import { createUploads } from './uploads.ts'

function setUp() {
  const inbox = createFakeInbox()
  const clock = createManualClock()
  const client = createClient({ fetch: inbox.fetch, retries: 0, clock })
  let offered = 0
  const uploads = createUploads({ client, clock, onOffered: () => offered++ })
  return { inbox, clock, uploads, offered: () => offered }
}

const fileOf = (name: string, bytes: number) => new File([new Uint8Array(bytes).fill(7)], name)
const states = (uploads: ReturnType<typeof createUploads>) => uploads.list().map(({ state }) => state)

test('sends a file piece by piece, then says that it is offered', async () => {
  const { inbox, uploads, offered } = setUp()
  const size = 2 * MAX_UPLOAD_PIECE_BYTES + 5
  uploads.add([fileOf('a b.bin', size)])
  await eventually(() => expect(states(uploads)).toEqual(['offered']))
  expect(inbox.pieces).toEqual([
    `a b.bin 0+${MAX_UPLOAD_PIECE_BYTES} of ${size}`,
    `a b.bin ${MAX_UPLOAD_PIECE_BYTES}+${MAX_UPLOAD_PIECE_BYTES} of ${size}`,
    `a b.bin ${2 * MAX_UPLOAD_PIECE_BYTES}+5 of ${size}`,
  ])
  expect(offered()).toBe(1)
})

test('an empty file is offered, too', async () => {
  const { uploads } = setUp()
  uploads.add([fileOf('empty', 0)])
  await eventually(() => expect(states(uploads)).toEqual(['offered']))
})

test('goes on from the byte that the node names', async () => {
  const { inbox, uploads } = setUp()
  inbox.loseAfter('a', MAX_UPLOAD_PIECE_BYTES, 100)
  uploads.add([fileOf('a', MAX_UPLOAD_PIECE_BYTES + 50)])
  await eventually(() => expect(states(uploads)).toEqual(['offered']))
  expect(inbox.pieces.at(-1)).toBe(`a 100+${MAX_UPLOAD_PIECE_BYTES - 50} of ${MAX_UPLOAD_PIECE_BYTES + 50}`)
})

test('a node that always wants another piece ends the upload', async () => {
  const { inbox, uploads } = setUp()
  inbox.refuse('a', { code: 'files.wrong_piece', expected: 0 })
  uploads.add([fileOf('a', 10)])
  await eventually(() => expect(states(uploads)).toEqual(['failed']))
  expect(inbox.pieces).toHaveLength(4)
})

test('two files are sent at once, and the next one when a place is free', async () => {
  const { inbox, uploads } = setUp()
  const go = inbox.hold()
  uploads.add([fileOf('a', 1), fileOf('b', 1), fileOf('c', 1)])
  await eventually(() => expect(inbox.pieces).toHaveLength(2))
  expect(states(uploads)).toEqual(['sending', 'sending', 'waiting'])
  go()
  await eventually(() => expect(states(uploads)).toEqual(['offered', 'offered', 'offered']))
})

test('a cancelled upload leaves its place to the next one', async () => {
  const { inbox, uploads } = setUp()
  const go = inbox.hold()
  uploads.add([fileOf('a', 1), fileOf('b', 1), fileOf('c', 1)])
  await eventually(() => expect(inbox.pieces).toHaveLength(2))
  uploads.remove(uploads.list()[0]?.id ?? 0)
  expect(uploads.list().map(({ name }) => name)).toEqual(['b', 'c'])
  await eventually(() => expect(inbox.pieces).toHaveLength(3))
  go()
  await eventually(() => expect(states(uploads)).toEqual(['offered', 'offered']))
})

test('a failed upload says why, and goes on from where it stopped', async () => {
  const { inbox, uploads } = setUp()
  inbox.refuse('a', { code: 'files.no_space', from: 1 })
  uploads.add([fileOf('a', MAX_UPLOAD_PIECE_BYTES + 1)])
  await eventually(() => expect(states(uploads)).toEqual(['failed']))
  expect(uploads.list()[0]?.error).toMatchObject({ code: 'files.no_space' })
  const before = uploads.list()[0]?.Bytes
  inbox.accept('a')
  uploads.retry(uploads.list()[0]?.id ?? 0)
  await eventually(() => expect(states(uploads)).toEqual(['offered']))
  expect(before).toBe(MAX_UPLOAD_PIECE_BYTES)
  expect(inbox.pieces.at(-1)).toContain(`a ${MAX_UPLOAD_PIECE_BYTES}+1 `)
})

test('a file that is too large, or whose name is being sent, is not sent', async () => {
  const { inbox, uploads } = setUp()
  const huge = fileOf('huge', 1)
  Object.defineProperty(huge, 'size', { value: MAX_UPLOAD_BYTES + 1 })
  const go = inbox.hold()
  uploads.add([huge, fileOf('a', 1), fileOf('a', 2)])
  expect(states(uploads)).toEqual(['failed', 'sending', 'failed'])
  go()
  await eventually(() => expect(states(uploads)).toEqual(['failed', 'offered', 'failed']))
  expect(inbox.pieces).toEqual(['a 0+1 of 1'])
})

test('tells the speed while it sends', async () => {
  const { inbox, clock, uploads } = setUp()
  const go = inbox.hold()
  uploads.add([fileOf('a', MAX_UPLOAD_PIECE_BYTES + 1)])
  await eventually(() => expect(inbox.pieces).toHaveLength(1))
  await clock.advance(1_000)
  const rates: number[] = []
  uploads.subscribe(() => rates.push(uploads.list()[0]?.Rate ?? 0))
  go()
  await eventually(() => expect(states(uploads)).toEqual(['offered']))
  expect(Math.max(...rates)).toBeGreaterThanOrEqual(MAX_UPLOAD_PIECE_BYTES)
})
