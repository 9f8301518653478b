import { expect, test } from 'vitest'
import type { Conversation } from './conversation.ts'
import type { FileMessage } from './file-message.ts'
import { MAX_MANIFEST_BYTES, MAX_MANIFEST_ENTRIES } from './limits.ts'
import { receiveManifest } from './receive-manifest.ts'

test('a list whose paths are longer than may be is refused as soon as they are, whatever their characters', async () => {
  const path = 'é'.repeat(2_000)
  const part: FileMessage = {
    type: 'entries',
    entries: Array.from({ length: 10 }, () => ({
      path,
      isFolder: false,
      size: 1,
      modifiedMs: 0,
      isExecutable: false,
    })),
  }
  let parts = 0
  const next = async (): Promise<FileMessage> =>
    parts++ === 0 ? { type: 'offer', name: 'long', isFolder: true, entryCount: MAX_MANIFEST_ENTRIES } : part
  const conversation = { next } as unknown as Conversation
  await expect(receiveManifest(conversation)).rejects.toThrow('longer than announced')
  expect(parts * 10 * Buffer.byteLength(path)).toBeLessThan(MAX_MANIFEST_BYTES * 1.1)
})
