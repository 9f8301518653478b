import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeFileMessage, encodeFileMessage, type FileMessage, manifestParts } from './file-message.ts'
import { NOTHING_LEFT_OUT } from './left-out.ts'
import { MAX_FILE_MESSAGE_BYTES, MAX_MESSAGE_FIELDS } from './limits.ts'
import { checkWindowsName, type Manifest, ManifestCheck, type ManifestEntry } from './manifest.ts'
import { decodePath } from './path-bytes.ts'

const file = (path: string, size = 1): ManifestEntry => ({
  path,
  isFolder: false,
  size,
  modifiedMs: 1_700_000_000_123,
  isExecutable: false,
})
const folder = (path: string): ManifestEntry => ({ ...file(path, 0), isFolder: true })

const DONE = { type: 'done', leftOut: NOTHING_LEFT_OUT } as const

describe('messages of /mesh/file/1', () => {
  const messages: readonly FileMessage[] = [
    { type: 'request', name: 'Urlaub 2026 ☀', entries: new Uint8Array(500).fill(4), anyNames: true },
    { type: 'offer', name: 'photos', isFolder: true, entryCount: 5_000, leftOut: NOTHING_LEFT_OUT },
    {
      type: 'offer',
      name: 'photos',
      isFolder: true,
      entryCount: 5_000,
      leftOut: { count: 7, names: ['a: a link', 'b: a link'] },
    },
    { type: 'entries', entries: [file(`a/${decodePath(Buffer.from([0x63, 0xff, 0xe9]))}/b`)] },
    { type: 'entries', entries: [folder('a'), { ...file('a/b', 2 ** 40), isExecutable: true }] },
    { type: 'entries', entries: [file('\ufeffa/b')] },
    { type: 'refusal', code: 2, reason: 'not announced' },
    { type: 'want', index: 7, offset: 2 ** 33, sha256: new Uint8Array(32).fill(9) },
    { type: 'begin', index: 7, offset: 2 ** 33 },
    { type: 'data', bytes: new Uint8Array(70_000).fill(3) },
    { type: 'end', index: 7, sha256: new Uint8Array(32).fill(1), hasChanged: true },
    { type: 'done', leftOut: NOTHING_LEFT_OUT },
    { type: 'done', leftOut: { count: 1, names: ['a: taken'] } },
    { type: 'busy' },
  ]

  it.each(messages.map((message) => [message.type, message] as const))(
    '%s is read as it was written',
    (_, message) => {
      const decoded = decodeFileMessage(encodeFileMessage(message))
      expect(normal(decoded)).toEqual(normal(message))
    },
  )

  it('never throws for other bytes, and skips fields that it does not know', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        decodeFileMessage(bytes)
      }),
    )
    const known = encodeFileMessage(DONE)
    expect(decodeFileMessage(Uint8Array.from([0xf8, 0x07, 0x01, ...known]))).toEqual(DONE)
  })

  it('is none with more fields than any may have, whether they are known or not', () => {
    for (const tag of [0x1a, 0x7a]) {
      const fields = (count: number) => Uint8Array.from({ length: 2 * count }, (_, at) => (at % 2 ? 0 : tag))
      const message = encodeFileMessage(DONE)
      const decoded = (count: number) => decodeFileMessage(Uint8Array.from([...fields(count), ...message]))
      expect(decoded(MAX_MESSAGE_FIELDS - 1)).toEqual(DONE)
      expect(decoded(MAX_MESSAGE_FIELDS)).toBeUndefined()
    }
  })

  it('is read as it was written, whatever its paths and numbers are', () => {
    const number = fc.oneof(fc.maxSafeNat(), fc.nat(300))
    const entry: fc.Arbitrary<ManifestEntry> = fc.record({
      path: fc.string({ unit: 'binary', maxLength: 200 }),
      isFolder: fc.boolean(),
      size: number,
      modifiedMs: number,
      isExecutable: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 20 }), (entries) => {
        const message: FileMessage = { type: 'entries', entries }
        expect(decodeFileMessage(encodeFileMessage(message))).toEqual(message)
      }),
    )
  })

  it('of the shortest paths fits into what a message may have', () => {
    const entries = Array.from({ length: 10_000 }, () => folder('a'))
    for (const part of manifestParts(entries))
      expect(decodeFileMessage(encodeFileMessage(part))).toEqual(part)
  })

  it('cuts a long list of files into messages of bounded size', () => {
    const entries = Array.from({ length: 3_000 }, (_, index) => file(`${'x'.repeat(200)}${index}`))
    const parts = [...manifestParts(entries)]
    expect(parts.flatMap((part) => (part.type === 'entries' ? part.entries : []))).toEqual(entries)
    for (const part of parts) {
      expect(encodeFileMessage(part).byteLength).toBeLessThanOrEqual(MAX_FILE_MESSAGE_BYTES)
    }
  })
})

/** Says what is wrong with a whole manifest. */
function checkManifest(manifest: Manifest): string | undefined {
  const check = new ManifestCheck(manifest)
  for (const entry of manifest.entries) {
    const problem = check.add(entry)
    if (problem !== undefined) return problem
  }
  return check.end()
}

describe('a manifest of another member', () => {
  const share = (...entries: ManifestEntry[]) => checkManifest({ name: 'share', isFolder: true, entries })

  it('is taken when every path stays inside', () => {
    expect(share(folder('a'), file('a/b'), file('c d ☀'))).toBeUndefined()
    expect(checkManifest({ name: 'f', isFolder: false, entries: [file('f')] })).toBeUndefined()
  })

  it.each(['../x', 'a/../../x', '/etc/passwd', 'a//b', '.', '', 'x\0', `${'y'.repeat(300)}`, 'a/b'])(
    'is refused for the path %j',
    (path) => {
      expect(share(file(path))).toBeTypeOf('string')
    },
  )

  it.each(['a\\..\\x', 'x\ny', 'CON', 'nul.txt', 'x:y', 'x.', 'x ', '\udcff', 'x?'])(
    'has the name %j where the system can have it, and Windows cannot',
    (name) => {
      expect(share(file(name))).toBeUndefined()
      expect(checkWindowsName(name)).toBeTypeOf('string')
    },
  )

  it('is refused when two files have one name, or a file stands as a folder', () => {
    expect(share(file('Readme'), file('README'))).toBeUndefined()
    expect(share(file('Readme'), file('Readme'))).toBe('two files of one name')
    expect(share(file('a'), file('a/b'))).toBeTypeOf('string')
    expect(share(folder('a'), folder('a'))).toBeTypeOf('string')
    expect(share(file('a', -1))).toBeTypeOf('string')
    expect(share(file('a', 2 ** 53))).toBeTypeOf('string')
    expect(checkManifest({ name: '..', isFolder: true, entries: [] })).toBeTypeOf('string')
    expect(checkManifest({ name: 'f', isFolder: false, entries: [file('a'), file('b')] })).toBeTypeOf(
      'string',
    )
  })
})

/** Buffers compare as arrays do. */
function normal(message: FileMessage | undefined): unknown {
  if (message === undefined) return undefined
  return Object.fromEntries(
    Object.entries(message).map(([key, value]) => [key, value instanceof Uint8Array ? [...value] : value]),
  )
}
