/** Attacks on the DNS server: by names that members write, and by questions that anybody asks who reaches it. */
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import type { KeyedEntry, Signer } from '@mesh/ledger'
import { overAndOver, together } from '../attackers.ts'
import { signEntry } from '../gossip.ts'
import type { Attack, LegacyVictim, Scenario } from '../scenario.ts'
import { overSocket, pour, trickle } from '../sockets.ts'
import { createMember, heartbeatOf, openVoice, sayEntries, untilHeld } from '../voice.ts'

/** Where the victim answers, in the order of the attacks: in a siege several nodes of one machine do. */
const DNS_PORTS = {
  values: 47_932,
  answers: 47_933,
  patterns: 47_934,
  names: 47_935,
  pipelined: 47_936,
  slow: 47_937,
}
const needsOf = (port: number) => [`--dns=127.0.0.1:${port}`]
const legacyOf = (port: number): LegacyVictim => ({
  command: ['dns'],
  flags: [`--listen=127.0.0.1:${port}`, '--dns-forwarder=false'],
})
/** What no pattern matches must not be asked of other servers. */
const victimArgs = ['--no-dns-forwarder']
const [A, TXT] = [1, 16]
/** How many questions one socket asks before it has answers. */
const IN_FLIGHT = 64
const NOTHING_CAME_MS = 500

/** A question for the addresses or texts of a name. */
export function question(name: string, type: number): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)]))
  const [id, tail] = [randomBytes(2), Buffer.of(0, 0, type, 0, 1)]
  return Buffer.concat([id, Buffer.of(1, 0, 0, 1, 0, 0, 0, 0, 0, 0), ...labels, tail])
}

const freshName = (zone: string) => `${randomBytes(8).toString('hex')}.${zone}`

/** Writes names as a member of its own that is there; resolves when the victim has them. */
async function writeNames(attack: Attack, names: Readonly<Record<string, object>>): Promise<void> {
  const voice = await openVoice(attack)
  const { seed, signer } = createMember()
  const entries = Object.entries(names).map(([regex, records]) => signName(signer, regex, records))
  await sayEntries(voice, seed, [heartbeatOf(signer)])
  // large values one by one: a message is bounded
  const step = Object.values(names).some((records) => JSON.stringify(records).length > 1_000) ? 4 : 500
  for (let at = 0; at < entries.length; at += step)
    await sayEntries(voice, seed, entries.slice(at, at + step))
  await untilHeld(attack, 'dns', encodeURIComponent(Object.keys(names).at(-1) ?? ''))
}

function signName(signer: Signer, regex: string, records: object): KeyedEntry {
  return signEntry(signer, ['dns', regex, records])
}

/** Asks over UDP for one fresh name after the other, several at a time. */
function askOverUdp(
  { signal, tally }: Attack,
  { port, zone, type }: { readonly port: number; readonly zone: string; readonly type: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4')
    const ask = () => {
      socket.send(question(freshName(zone), type))
      tally.count('questions')
    }
    const askMany = () => {
      for (let at = 0; at < IN_FLIGHT; at++) ask()
    }
    let heardAt = performance.now()
    const retrying = setInterval(() => {
      if (performance.now() - heardAt > NOTHING_CAME_MS) askMany()
    }, NOTHING_CAME_MS)
    const end = (error?: Error) => {
      clearInterval(retrying)
      signal.removeEventListener('abort', stop)
      socket.close()
      if (error === undefined) resolve()
      else reject(error)
    }
    const stop = () => end()
    socket.once('error', end)
    socket.on('message', () => {
      heardAt = performance.now()
      tally.count('answers')
      ask()
    })
    signal.addEventListener('abort', stop)
    socket.connect(port, '127.0.0.1', askMany)
  })
}

/** Sends blocks of questions over TCP as fast as they are taken, and reads what comes or does not. */
async function askOverTcp(
  attack: Attack,
  { block, counts, reads }: { readonly block: Buffer; readonly counts: number; readonly reads: boolean },
): Promise<void> {
  const { tally } = attack
  await overSocket(attack, DNS_PORTS.pipelined, (socket) => {
    if (reads) socket.on('data', (bytes: Buffer) => tally.count('bytes of answers', bytes.length))
    pour(socket, block, { onWritten: () => tally.count('questions', counts) })
  })
}

function framedQuestions(count: number): Buffer {
  const each = Array.from({ length: count }, () => {
    const packet = question('a.mesh', A)
    return Buffer.concat([Buffer.of(0, packet.length), packet])
  })
  return Buffer.concat(each)
}

/** Patterns that RE2 takes long to compile, or that many states are made for; each is another one. */
function costlyPatterns(): Readonly<Record<string, object>> {
  const wide = (at: number) => `${'[B-\u{1e942}]'.repeat(40)}w${at}`
  const states = (at: number) => `(?:[0-9a-f]?[0-8]?[a-e]?){30}s${at}`
  const classes = (at: number) => `${'\\pL'.repeat(300)}c${at}`
  const kinds = [wide, states, classes]
  const all = Array.from({ length: 300 }, (_, at) => kinds[at % 3]?.(at) ?? '')
  return Object.fromEntries(all.map((regex) => [`(?:${regex})?`, { [A]: '10.1.0.9' }]))
}

/** Attacks by names that a member wrote into the ledger, and questions that match them. */
const OF_NAMES = {
  who: 'member',
  aim: 'answers',
  victimArgs,
  isApart: true,
} as const

export const DNS_ATTACKS: readonly Scenario[] = [
  {
    name: 'dns-values',
    ...OF_NAMES,
    does: 'writes values of records that nobody can read, of 60 KB each, which match every name, and asks for fresh names',
    boundedBy:
      'no value is read by an expression that goes back; MAX_UNREADABLE_VALUES, values are read once',
    needs: needsOf(DNS_PORTS.values),
    legacy: legacyOf(DNS_PORTS.values),
    prepare: (attack) =>
      writeNames(
        attack,
        Object.fromEntries(
          Array.from({ length: 8 }, (_, at) => [`values${at}`, { [A]: `\\# 1${' '.repeat(60_000)}x` }]),
        ),
      ),
    run: (attack) =>
      together(4, (at) => askOverUdp(attack, { port: DNS_PORTS.values, zone: `values${at}.test`, type: A })),
  },
  {
    name: 'dns-answers',
    ...OF_NAMES,
    does: 'writes a text of 60 KB that matches every name, and asks for fresh names, whose answers are kept',
    boundedBy: 'MAX_PREPARED_BYTES; a value is encoded once',
    needs: needsOf(DNS_PORTS.answers),
    legacy: legacyOf(DNS_PORTS.answers),
    prepare: (attack) => writeNames(attack, { 'answers.test': { [TXT]: 'a '.repeat(30_000) } }),
    run: (attack) =>
      together(8, () => askOverUdp(attack, { port: DNS_PORTS.answers, zone: 'answers.test', type: TXT })),
  },
  {
    name: 'dns-patterns',
    ...OF_NAMES,
    does: 'writes 300 patterns that take long to compile and to match, and asks for fresh names',
    boundedBy: 'MAX_PATTERN_STEPS, MAX_NAME_STEPS, MAX_COMPILED_STEPS, the loop budget',
    needs: needsOf(DNS_PORTS.patterns),
    legacy: legacyOf(DNS_PORTS.patterns),
    prepare: (attack) => writeNames(attack, costlyPatterns()),
    run: (attack) =>
      together(8, () =>
        askOverUdp(attack, {
          port: DNS_PORTS.patterns,
          zone: `${'0123456789abcdef'.repeat(3)}.patterns.test`,
          type: A,
        }),
      ),
  },
  {
    name: 'dns-names',
    ...OF_NAMES,
    does: 'writes 8,000 patterns that match every name, and asks for fresh names',
    boundedBy: 'MAX_TRIED_CANDIDATES, MAX_NAME_STEPS, the loop budget, MAX_WAITING_QUESTIONS',
    needs: needsOf(DNS_PORTS.names),
    legacy: legacyOf(DNS_PORTS.names),
    prepare: (attack) =>
      writeNames(
        attack,
        Object.fromEntries(
          Array.from({ length: 8_000 }, (_, at) => [
            `z?${at.toString(36).split('').join('?')}?`,
            { [A]: '10.1.0.9' },
          ]),
        ),
      ),
    run: (attack) =>
      together(16, () => askOverUdp(attack, { port: DNS_PORTS.names, zone: 'names.test', type: A })),
  },
  {
    name: 'dns-pipelined',
    who: 'stranger',
    does: 'thousands of questions in each block of bytes over TCP, on 16 connections that read, and on 48 that do not',
    boundedBy: 'the loop budget, MAX_TCP_UNREAD_BYTES, TCP_CONNECTIONS',
    legacy: { meaningless: 'no DNS over TCP' },
    aim: 'bytes of answers',
    needs: needsOf(DNS_PORTS.pipelined),
    victimArgs,
    run(attack) {
      const counts = 3_000
      const block = framedQuestions(counts)
      return together(64, (at) =>
        overAndOver(attack, () => askOverTcp(attack, { block, counts, reads: at < 16 })),
      )
    },
  },
  {
    name: 'dns-connections',
    who: 'stranger',
    does: '2,000 connections over TCP that bring one byte a second each, and come back when they are closed',
    boundedBy: 'TCP_CONNECTIONS, TCP_IDLE_MS',
    legacy: { meaningless: 'no DNS over TCP' },
    aim: 'connections',
    needs: needsOf(DNS_PORTS.slow),
    victimArgs,
    run: (attack) => together(2_000, () => overAndOver(attack, () => dribble(attack), 1_000)),
  },
]

/** Announces a question of 64 KiB and sends a byte of it each second. */
async function dribble(attack: Attack): Promise<void> {
  await overSocket(attack, DNS_PORTS.slow, (socket) => {
    attack.tally.count('connections')
    socket.resume().write(Buffer.of(0xff, 0xff))
    return trickle(socket, 0, 1_000)
  })
}
