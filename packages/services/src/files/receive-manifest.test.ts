import { Scope } from '@mesh/core/limits'
import { expect, test } from 'vitest'
import type { Conversation } from './conversation.ts'
import type { FileMessage } from './file-message.ts'
import { NOTHING_LEFT_OUT } from './left-out.ts'
import { ENTRY_BYTES, LISTS, MAX_MANIFEST_BYTES, MAX_MANIFEST_ENTRIES } from './limits.ts'
import type { ManifestEntry } from './manifest.ts'
import { receiveManifest } from './receive-manifest.ts'

const LONG = 'é'.repeat(120)
const [PATH_BYTES, PART] = [247, 1_000]

const fileAt = (at: number): ManifestEntry => ({
  path: `${LONG}${String(at).padStart(7, '0')}`,
  isFolder: false,
  size: 1,
  modifiedMs: 0,
  isExecutable: false,
})

/** A sender of as many files as it is asked for, and how many it has sent. */
function createSender(entryCount: number, entryAt = fileAt) {
  let parts = -1
  const next = async (): Promise<FileMessage> => {
    const first = parts++ * PART
    if (first < 0)
      return { type: 'offer', name: 'long', isFolder: true, entryCount, leftOut: NOTHING_LEFT_OUT }
    return { type: 'entries', entries: Array.from({ length: PART }, (_, at) => entryAt(first + at)) }
  }
  return { conversation: { next } as unknown as Conversation, sent: () => parts * PART }
}

test('a list whose paths are longer than may be is refused as soon as they are, whatever their characters', async () => {
  const { conversation, sent } = createSender(MAX_MANIFEST_ENTRIES)
  const list = receiveManifest(conversation, new Scope(LISTS).reserve({ size: 0 }))
  await expect(list).rejects.toThrow('paths of more than')
  expect(sent() * PATH_BYTES).toBeLessThan(MAX_MANIFEST_BYTES * 1.1)
})

test('the first file that cannot be stored ends a list, and so does one more than announced', async () => {
  const same = createSender(MAX_MANIFEST_ENTRIES, () => fileAt(1))
  await expect(receiveManifest(same.conversation, new Scope(LISTS).reserve({ size: 0 }))).rejects.toThrow(
    'of one name',
  )
  expect(same.sent()).toBe(PART)
  const longer = createSender(PART + 1)
  const list = receiveManifest(longer.conversation, new Scope(LISTS).reserve({ size: 0 }))
  await expect(list).rejects.toThrow('longer than announced')
})

test('all lists share their room, and one finds it again when the others have ended', async () => {
  const lists = new Scope(LISTS)
  const other = lists.reserve({ size: LISTS.all - 50 * ENTRY_BYTES })
  const own = lists.reserve({ size: 0 })
  const refused = receiveManifest(createSender(PART).conversation, own)
  await expect(refused).rejects.toMatchObject({ code: 'files.busy' })
  own?.release()
  other?.release()
  const list = await receiveManifest(createSender(PART).conversation, lists.reserve({ size: 0 }))
  expect(list.entries).toHaveLength(PART)
})

test('a list as long as may be has room where there is no other', () => {
  expect(MAX_MANIFEST_ENTRIES * ENTRY_BYTES + MAX_MANIFEST_BYTES).toBeLessThanOrEqual(LISTS.all)
})
