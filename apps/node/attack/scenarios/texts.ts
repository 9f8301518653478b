/** Attacks by texts that a terminal would act on. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandWords, LOOPBACK_ARGS } from '../../test/harness.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { dialTarget, framed, openStream } from '../attackers.ts'
import { gzippedBlock, signEntry } from '../gossip.ts'
import { proveMembership } from '../membership.ts'
import { pause, untilTrue } from '../until-true.ts'
import { createMember, heartbeatOf, openVoice } from '../voice.ts'

/** Clears the screen, names the window, forges a line, reorders what follows, ends with a C1 control. */
const HOSTILE = '\u001b[2J\u001b]0;owned\u0007\n12:00:00 info  all is well\u202e\u2066\u009b31m\u007f'
/** What no line may hold, apart from its own end. */
// eslint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/
const PEERS = '/mesh/peers/1'
const START_MS = 60_000

/** What a node for people to read said so far, by the victim's pid. */
const outputs = new Map<number, string>()

/** Starts a node that tells all that it can, as lines for people, and keeps what it says. */
function startReadable({ target, token }: Attack, folder: string): ChildProcess {
  const [file, ...words] = commandWords()
  const args = ['start', ...LOOPBACK_ARGS, `--state-dir=${join(folder, 'state')}`, '--log-format=human']
  const told = ['--log-level=debug', '--debug', `--discovery-bootstrap-peers=${target.address}`]
  const { PATH } = process.env
  const child = spawn(file, [...words, ...args, ...told], {
    env: { PATH, HOME: folder, MESHTOKEN: token },
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: folder,
  })
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      outputs.set(target.pid, `${outputs.get(target.pid) ?? ''}${text}`)
    })
  }
  return child
}

const saidBy = (target: Attack['target']) => outputs.get(target.pid) ?? ''

/** Says names of buckets, keys, values and machines, good and forged, and what a member is called. */
async function sayHostileTexts(attack: Attack): Promise<number> {
  const { target, signal, config } = attack
  const voice = await openVoice(attack)
  const caller = await attack.peer()
  const connection = await dialTarget(caller, target, signal)
  await proveMembership({ connection, self: caller.peerId }, config, signal)
  const name = Buffer.from(HOSTILE)
  let said = 0
  while (voice.isOpen()) {
    const { seed, signer } = createMember()
    const record = { PeerID: signer.peerId, Hostname: HOSTILE, OS: HOSTILE, Version: HOSTILE }
    const key = `${HOSTILE}${said}`
    const good = [
      heartbeatOf(signer),
      signEntry(signer, ['machines', `10.1.${said % 250}.9`, record]),
      signEntry(signer, ['services', key, record]),
      signEntry(signer, ['dns', `^${key}$`, { 1: '10.1.0.9' }]),
      signEntry(signer, [HOSTILE, key, HOSTILE]),
    ]
    const forged = good.map((each) => ({
      ...each,
      key: `${each.key}x`,
      entry: { ...each.entry, owner: HOSTILE },
    }))
    const texts = [...good, ...forged]
    if (!(await voice.say(gzippedBlock(texts), seed))) break
    said += texts.length
    const stream = await openStream(connection, PEERS, signal).catch(() => undefined)
    stream?.send(framed(Buffer.concat([Uint8Array.of(0x1a, name.length), name])))
    await pause(100, signal)
  }
  return said
}

export const TEXT_ATTACKS: readonly Scenario[] = [
  {
    name: 'log-lines',
    who: 'member',
    does: 'names of buckets, keys, values, machines and members that clear the screen, forge lines and reorder text, beside a node that logs all that it can for people',
    boundedBy: 'control characters and those that reorder text are shown as escapes',
    isApart: true,
    appliesToLegacy: false,
    async run(attack) {
      const folder = mkdtempSync(join(tmpdir(), 'mesh-lines-'))
      const child = startReadable(attack, folder)
      try {
        await untilTrue(START_MS, async () => saidBy(attack.target).includes('listening on'))
        const said = await sayHostileTexts(attack)
        const lines = saidBy(attack.target).split('\n')
        const shown = lines.filter((line) => line.includes('owned')).length
        return `${said} entries; of ${lines.length} lines ${shown} show a hostile text`
      } finally {
        child.kill('SIGKILL')
        rmSync(folder, { recursive: true, force: true })
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
