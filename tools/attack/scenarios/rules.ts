/** Attacks by a member that access rules refuse everything, on what a node offers beside packets. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Connection } from '@libp2p/interface'
import { encodeBlock } from '@mesh/ledger'
import { framed, onFrames, openStream, overAndOver, together, varint } from '../attackers.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { pause } from '../until-true.ts'
import {
  connectLegacyUser,
  connectUser,
  LEGACY_EGRESS,
  LEGACY_SERVICE,
  listen,
  SERVICE,
  serviceRequest,
  STREAM,
} from './services.ts'

const [EGRESS, FILE, LEGACY_FILE] = ['/mesh/egress/1', '/mesh/file/1', '/edgevpn/file/0.1']
/** Where the target of the refused service listens, which is the destination of the refused egress too. */
const PORT = 47_967
const SECRET = 'what nobody may receive'
const KEYS = 4
const ANSWER_MS = 150

const field = (number: number, bytes: Uint8Array) =>
  Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])

/** What a refused member asks for, by protocol; with its entries of `users` where the protocol takes them. */
const REQUESTS: readonly (readonly [protocol: string, build: (entries: Uint8Array) => Uint8Array])[] = [
  [SERVICE, (entries) => serviceRequest('guarded', STREAM, entries)],
  [
    EGRESS,
    (entries) =>
      framed(
        Buffer.concat([field(1, Buffer.from('127.0.0.1')), varint(2 << 3), varint(PORT), field(3, entries)]),
      ),
  ],
  [FILE, (entries) => framed(field(1, Buffer.concat([field(1, Buffer.from('guarded')), field(2, entries)])))],
]
const LEGACY_REQUESTS = [
  [LEGACY_SERVICE, Buffer.from('hello')],
  [LEGACY_EGRESS, Buffer.from(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${PORT}\r\n\r\n`)],
  [LEGACY_FILE, Buffer.alloc(0)],
] as const

/** The victim's own rules and what it shares, made once. */
function guardedFolder(): { readonly rules: string; readonly file: string } {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-attack-rules-'))
  const [rules, file] = [join(folder, 'rules.yaml'), join(folder, 'guarded')]
  writeFileSync(rules, 'default: refuse\nallow: []\n')
  writeFileSync(file, SECRET)
  return { rules, file }
}

/** Begins a stream of one protocol, and counts when something comes back that only an allowed member may have. */
async function ask(
  { signal, tally }: Attack,
  connection: Connection,
  [protocol, request]: readonly [string, Uint8Array],
): Promise<void> {
  const stream = await openStream(connection, protocol, signal)
  onFrames(stream, () => {})
  stream.addEventListener('message', ({ data }) => {
    if (Buffer.from(data.subarray()).includes(SECRET)) tally.count('breaches')
  })
  if (request.length > 0) stream.send(request)
  tally.count('requests')
  // more than a target on the same machine needs to answer
  await pause(ANSWER_MS, signal)
  stream.abort(new Error('enough'))
}

async function askForEverything(attack: Attack, at: number): Promise<void> {
  const from = `127.0.0.${2 + (at % 2)}`
  const { connection, entries, prove } = await connectUser(attack, from)
  await prove()
  const legacy = await connectLegacyUser(attack, from)
  const block = encodeBlock(entries)
  for (const [protocol, build] of REQUESTS) await ask(attack, connection, [protocol, build(block)])
  for (const request of LEGACY_REQUESTS) await ask(attack, legacy.connection, request)
}

export const RULE_ATTACKS: readonly Scenario[] = [
  {
    name: 'refused-by-rules',
    who: 'member',
    does: `${KEYS} keys that access rules refuse everything ask for a service, egress and a file, by our protocols and by those of legacy members`,
    boundedBy: 'access rules, SERVED_CONNECTIONS, RECEIVERS',
    legacy: { meaningless: 'no access rules' },
    aim: 'requests',
    // the rules of the victim refuse what other attacks need
    isApart: true,
    get needs() {
      const { rules, file } = guardedFolder()
      return [
        `--rules=${rules}`,
        `--service-add=guarded=127.0.0.1:${PORT}`,
        '--egress',
        '--egress-allow=127.0.0.0/8',
        `--file-send=guarded=${file}`,
      ]
    },
    async run(attack) {
      const { tally } = attack
      const target = createServer((socket) => {
        // the node looks whether its target answers, and says nothing
        socket.on('error', () => {}).on('data', () => tally.count('breaches'))
        socket.write(SECRET)
      })
      await listen(attack, { port: PORT }, target)
      await together(KEYS, (at) => overAndOver(attack, () => askForEverything(attack, at)))
    },
    reached: async ({ tally }) => {
      const breaches = tally.of('breaches')
      return breaches === 0 ? undefined : `${breaches} answers that the rules refuse`
    },
  },
]
