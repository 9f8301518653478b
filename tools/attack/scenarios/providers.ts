/** Attacks by members that offer files, on a node whose owner fetches them. */
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Stream } from '@libp2p/interface'
import { framed, onFrames, overAndOver, sendAll, sendForEver, together, varint } from '../attackers.ts'
import { provide } from '../provider.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { pause } from '../until-true.ts'

const FILE = '/mesh/file/1'
/** The most files of a share, and how long their paths are where all of them are as long as they may be together. */
const [MOST_FILES, PATH_BYTES] = [200_000, 150]
/** Files in one message of a list. */
const PART_FILES = 250
/** Members that offer the longest list there may be. */
const LISTERS = 3
const MB = 1024 * 1024
const LARGE_BYTES = 1024 * MB
/** How often what ended is asked for again, in ms. */
const AGAIN_MS = 500
/** What a legacy node fetches, and where it leaves it; no more than this is sent, for the sake of the disk. */
const [LEGACY_NAME, LEGACY_DESTINATION] = ['attack-endless', join(tmpdir(), 'mesh-attack-endless')]
const MOST_LEGACY_MB = 1_024

const bytesField = (number: number, bytes: Uint8Array) =>
  Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
const numberField = (number: number, value: number) => Buffer.concat([varint(number << 3), varint(value)])
const message = (kind: number, ...fields: readonly Uint8Array[]) =>
  framed(bytesField(kind, Buffer.concat(fields)))

/** Messages of senders, as `docs/PROTOCOLS.md` has them. */
const offer = (name: string, files: number) =>
  message(2, bytesField(1, Buffer.from(name)), numberField(2, 1), numberField(3, files))
const entry = (path: string, size: number) =>
  bytesField(3, Buffer.concat([bytesField(1, Buffer.from(path)), numberField(3, size), numberField(4, 1)]))
const begin = () => message(6, numberField(1, 0), numberField(2, 0))
const data = (byteCount: number) => framed(bytesField(7, Buffer.alloc(byteCount)))
const end = (sha256: Uint8Array) => message(8, numberField(1, 0), bytesField(2, sha256))
const BUSY = message(10, numberField(1, 1))

/** Sends to a receiver that has asked, and ends as it likes. */
type Serve = (
  stream: Stream,
  send: (bytes: Uint8Array) => Promise<boolean>,
  signal: AbortSignal,
) => Promise<void>

/** One file, of which only what follows is false. */
const oneFile = async (send: (bytes: Uint8Array) => Promise<boolean>, size: number) => {
  await send(offer('one', 1))
  await send(framed(entry('file', size)))
  await send(begin())
}

const KINDS: Readonly<Record<string, Serve>> = {
  busy: async (_stream, send) => sendForEver(Buffer.concat(Array.from({ length: 10_000 }, () => BUSY)), send),
  async manifest(_stream, send) {
    await send(offer('many', MOST_FILES))
    for (let at = 0; at < MOST_FILES; at += PART_FILES) {
      const names = Array.from({ length: PART_FILES }, (_, n) => `${at + n}`.padStart(PATH_BYTES, 'X'))
      if (!(await send(framed(Buffer.concat(names.map((name) => entry(name, 1))))))) return
    }
  },
  async packed(_stream, send) {
    await send(offer('packed', MOST_FILES))
    await sendForEver(framed(Buffer.alloc(65_520, Uint8Array.of(0x1a, 0))), send)
  },
  async nothing(_stream, send) {
    await oneFile(send, LARGE_BYTES)
    await sendForEver(Buffer.concat(Array.from({ length: 10_000 }, () => data(0))), send)
  },
  async slow(_stream, send, signal) {
    await oneFile(send, LARGE_BYTES)
    while (await send(data(1))) await pause(20, signal)
  },
  async truncated(stream, send) {
    await oneFile(send, LARGE_BYTES)
    for (let sent = 0; sent < 16 * MB; sent += 65_000) if (!(await send(data(65_000)))) return
    await stream.close()
  },
  async wrong(_stream, send) {
    await oneFile(send, 3 * 65_000)
    for (let at = 0; ; at++) {
      for (let part = 0; part < 3; part++) if (!(await send(data(65_000)))) return
      await send(end(createHash('sha256').update(`${at}`).digest()))
      if (!(await send(begin()))) return
    }
  },
  async small(_stream, send) {
    await oneFile(send, LARGE_BYTES)
    await sendForEver(Buffer.concat(Array.from({ length: 10_000 }, () => data(1))), send)
  },
}

/** Offers a file under a key of its own, and serves anyone who asks for it. */
async function offerFile(attack: Attack, kind: string, serve: Serve): Promise<string> {
  const { signal, tally } = attack
  const name = `${kind}-${randomBytes(4).toString('hex')}`
  await provide(attack, {
    protocol: FILE,
    entry: ({ peerId }) => ['files', name, { PeerID: peerId, Name: name }],
    serve(stream) {
      tally.count(`${kind} fetched`)
      tally.count('files fetched')
      const send = async (bytes: Uint8Array) => await sendAll(stream, bytes, signal)
      onFrames(stream, () => {})
      void serve(stream, send, signal).catch((error: unknown) => tally.missed(error, signal))
    },
  })
  return name
}

async function sendBlocks({ signal, tally }: Attack, stream: Stream): Promise<void> {
  for (let sent = 0; sent < MOST_LEGACY_MB && (await sendAll(stream, Buffer.alloc(MB), signal)); sent++)
    tally.count('MiB sent')
}

/** Offers what a legacy node fetches, which is told of no length: as much as comes is written, most of it here in one piece. */
async function offerEndless(attack: Attack): Promise<void> {
  const { signal, tally } = attack
  rmSync(LEGACY_DESTINATION, { force: true })
  try {
    await provide(attack, {
      protocol: '/edgevpn/file/0.1',
      entry: ({ peerId }) => ['files', LEGACY_NAME, { PeerID: peerId, Name: LEGACY_NAME }],
      serve(stream) {
        tally.count('files fetched')
        void sendBlocks(attack, stream)
      },
    })
    while (!signal.aborted) await pause(100, signal)
    tally.count('MiB on its disk', statSync(LEGACY_DESTINATION).size / MB)
  } finally {
    rmSync(LEGACY_DESTINATION, { force: true })
  }
}

export const PROVIDER_ATTACKS: readonly Scenario[] = [
  {
    name: 'false-shares',
    who: 'member',
    does: `the node's owner fetches what ${Object.keys(KINDS).length + LISTERS - 1} members offer, again when it ended: ${LISTERS} lists of ${MOST_FILES} files, messages of nothing but fields, data without a byte and of one, endless, slow, cut short, and with false hashes`,
    boundedBy:
      'MAX_MANIFEST_ENTRIES, MAX_MANIFEST_BYTES, MAX_LIST_BYTES, LISTS, MAX_MESSAGE_FIELDS, BUSY_RATE, the loop budget',
    legacy: { command: ['file-receive', LEGACY_NAME, LEGACY_DESTINATION] },
    aim: 'files fetched',
    isApart: true,
    async run(attack) {
      const { target, signal } = attack
      if (target.kind === 'legacy') return await offerEndless(attack)
      const folder = mkdtempSync(join(tmpdir(), 'mesh-attack-fetched-'))
      try {
        const lists = Array.from({ length: LISTERS - 1 }, () => ['manifest', KINDS.manifest] as const)
        const kinds = [...Object.entries(KINDS), ...lists]
        await together(kinds.length, (at) =>
          overAndOver(attack, async () => {
            const [kind = '', serve] = kinds[at] ?? []
            if (serve === undefined) return
            const name = await offerFile(attack, kind, serve)
            const destination = join(folder, name)
            while (!signal.aborted) {
              await target.control?.putNodeDownload({ name, body: { Destination: destination } })
              await pause(AGAIN_MS, signal)
            }
          }),
        )
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
  },
]
