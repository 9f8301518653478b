/** Attacks by texts that a terminal would act on. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KeyedEntry, Signer } from '@mesh/ledger'
import { freePort } from '@mesh/testkit'
import { PRIVATE_ARGS } from '../../../apps/node/test/edgevpn.ts'
import { commandWords, LOOPBACK_ARGS } from '../../../apps/node/test/harness.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { framed, openStream, overAndOver } from '../attackers.ts'
import { gzippedBlock, signEntry } from '../gossip.ts'
import { connectMember } from '../membership.ts'
import { pause, untilTrue } from '../until-true.ts'
import { createMember, heartbeatOf, openVoice } from '../voice.ts'

/** Clears the screen, names the window, forges a line, reorders what follows, ends with a C1 control. */
const HOSTILE = '\u001b[2J\u001b]0;owned\u0007\n12:00:00 info  all is well\u202e\u2066\u009b31m\u007f'
/** What no line may hold, apart from its own end. */
// eslint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/
const PEERS = '/mesh/peers/1'
const START_MS = 60_000

/** A node whose lines are for people to read. */
interface Readable {
  readonly child: ChildProcess
  readonly folder: string
  readonly address: string
  said: string
}

/** The readable nodes, by the pid of the victim that they stand beside. */
const readables = new Map<number, Readable>()

/** Starts a node that tells all that it can, as lines for people, and keeps what it says. */
async function startReadable(attack: Attack): Promise<Readable> {
  const { target, token } = attack
  const folder = mkdtempSync(join(tmpdir(), 'mesh-lines-'))
  const address = `/ip4/127.0.0.1/tcp/${await freePort()}`
  const [file, ...words] = target.kind === 'mesh' ? meshWords(folder) : LEGACY_WORDS
  const { PATH } = process.env
  const child = spawn(file, [...words, '--log-level=debug', `--listen-maddrs=${address}`], {
    env: { PATH, HOME: folder, MESHTOKEN: token, EDGEVPNTOKEN: token },
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: folder,
  })
  const readable: Readable = { child, folder, address, said: '' }
  readables.set(target.pid, readable)
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (readable.said += text))
  try {
    await untilTrue(START_MS, async () => /listening on|Node Addresses/.test(readable.said))
    return readable
  } catch (error) {
    end(readable)
    throw error
  }
}

const meshWords = (folder: string): [string, ...string[]] => {
  const args = ['start', ...LOOPBACK_ARGS, `--state-dir=${join(folder, 'state')}`, '--log-format=human']
  return [...commandWords(), ...args, '--debug'] as [string, ...string[]]
}
/** With its API at a unix socket in its folder: nobody asks it. */
const LEGACY_WORDS = [
  process.env['EDGEVPN_BIN'] ?? '',
  'api',
  ...PRIVATE_ARGS,
  '--mdns=false',
  '--listen=unix://api.sock',
] as const

function end({ child, folder }: Readable): void {
  child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}

const saidBy = (target: Attack['target']) => readables.get(target.pid)?.said ?? ''

/** Says names of buckets, keys, values and machines, good and forged, and what a member is called. */
async function sayHostileTexts(attack: Attack): Promise<void> {
  const { signal, tally } = attack
  const voice = await openVoice(attack)
  const { connection } = await connectMember(attack)
  const name = Buffer.from(HOSTILE)
  for (let said = 0; voice.isOpen(); said++) {
    const { seed, signer } = createMember()
    const texts = hostileEntries(signer, said)
    if (!(await voice.say(gzippedBlock(texts), seed))) break
    tally.count('entries', texts.length)
    if (attack.target.kind === 'mesh') {
      const stream = await openStream(connection, PEERS, signal)
      stream.send(framed(Buffer.concat([Uint8Array.of(0x1a, name.length), name])))
    }
    await pause(100, signal)
  }
}

function hostileEntries(signer: Signer, at: number): readonly KeyedEntry[] {
  const record = { PeerID: signer.peerId, Hostname: HOSTILE, OS: HOSTILE, Version: HOSTILE }
  const key = `${HOSTILE}${at}`
  const good = [
    heartbeatOf(signer),
    signEntry(signer, ['machines', `10.1.${at % 250}.9`, record]),
    signEntry(signer, ['services', key, record]),
    signEntry(signer, ['dns', `^${key}$`, { 1: '10.1.0.9' }]),
    signEntry(signer, [HOSTILE, key, HOSTILE]),
  ]
  const forged = good.map((each) => ({
    ...each,
    key: `${each.key}x`,
    entry: { ...each.entry, owner: HOSTILE },
  }))
  return [...good, ...forged]
}

export const TEXT_ATTACKS: readonly Scenario[] = [
  {
    name: 'log-lines',
    who: 'member',
    does: 'names of buckets, keys, values, machines and members that clear the screen, forge lines and reorder text, beside a node that logs all that it can for people',
    boundedBy: 'control characters and those that reorder text are shown as escapes',
    isApart: true,
    legacy: {},
    aim: 'lines that show a hostile text',
    prepare: async (attack) => void (await startReadable(attack)),
    async run(attack) {
      const { target, tally } = attack
      const readable = readables.get(target.pid) ?? (await startReadable(attack))
      const told = { ...attack, target: { ...target, address: readable.address } }
      try {
        await overAndOver(told, () => sayHostileTexts(told))
        const lines = readable.said.split('\n')
        tally.count('lines that show a hostile text', lines.filter((line) => line.includes('owned')).length)
        tally.count('lines', lines.length)
      } finally {
        end(readable)
      }
    },
    reached: async ({ target }) => {
      const bad = saidBy(target)
        .split('\n')
        .find((line) => UNSAFE.test(line) || line.startsWith('12:00:00 info  all is well'))
      return bad === undefined
        ? undefined
        : `a line holds a control character: ${JSON.stringify(bad.slice(0, 200))}`
    },
  },
]
