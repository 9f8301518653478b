/** Drives members that run in processes of their own, inside network namespaces. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { eventually, type Lab } from '@mesh/testkit'
import type { PeerStatus } from '../src/p2p-node.ts'
import type { MemberSettings } from './member-process.ts'

interface MemberStatus {
  readonly addresses: readonly string[]
  readonly peers: readonly PeerStatus[]
  readonly discovery: readonly { method: string; enabled: boolean; found: number; lastError?: string }[]
  readonly topic: readonly string[]
  /** Open TCP connections of the process. */
  readonly connections: number
  readonly refusals: Readonly<Record<string, number>>
}

interface Echoed {
  readonly text?: string
  /** `libp2p`, or what the stream's `transport` says. */
  readonly transport?: string
  readonly ms?: number
  readonly error?: string
}

export interface Member {
  readonly self: string
  readonly heard: readonly string[]
  /** Where routers lead to its UDP port, as it was told last. */
  mapped(): readonly { readonly address: string; readonly port: number }[]
  status(): Promise<MemberStatus>
  /** What it knows of another one. */
  sees(other: Member): Promise<PeerStatus | undefined>
  publish(text: string): Promise<number>
  /** Sends a word to another one and has it back. */
  echo(other: Member): Promise<Echoed>
  /** Resolves with the milliseconds it took to end by itself. */
  stop(): Promise<number>
  kill(): void
}

const SCRIPT = fileURLToPath(new URL('member-process.ts', import.meta.url))

export async function startMember(lab: Lab, host: string, settings: MemberSettings): Promise<Member> {
  const argv = lab.inside(host, [
    process.execPath,
    '--conditions=mesh-source',
    SCRIPT,
    JSON.stringify(settings),
  ])
  const child = spawn(argv[0], argv.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] })
  const heard: string[] = []
  const waiting = new Map<string, (value: unknown) => void>()
  const answers = new Map<string, unknown>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Record<string, unknown>
    if (typeof message['heard'] === 'string') heard.push(message['heard'])
    for (const [key, value] of Object.entries(message)) {
      answers.set(key, value)
      waiting.get(key)?.(value)
      waiting.delete(key)
    }
  })
  const ended = once(child, 'exit')
  const next = async (key: string) => {
    const answer = new Promise((resolve) => waiting.set(key, resolve))
    return await Promise.race([answer, ended.then(() => Promise.reject(new Error(`${host} ended`)))])
  }
  const ask = async (key: string, command: string) => {
    const answer = next(key)
    child.stdin.write(`${command}\n`)
    return await answer
  }
  const self = String(await next('ready'))
  const status = async () => (await ask('status', 'status')) as MemberStatus
  return {
    self,
    heard,
    mapped: () => (answers.get('mapped') ?? []) as ReturnType<Member['mapped']>,
    status,
    sees: async (other) => (await status()).peers.find(({ id }) => id === other.self),
    publish: async (text) => Number(await ask('published', `publish ${text}`)),
    echo: async (other) => (await ask('echoed', `echo ${other.self}`)) as Echoed,
    async stop() {
      const since = performance.now()
      if (child.exitCode === null) {
        child.stdin.write('stop\n')
        child.stdin.end()
        const late = setTimeout(() => child.kill('SIGKILL'), 5_000)
        await ended
        clearTimeout(late)
      }
      return performance.now() - since
    },
    kill: () => child.kill('SIGKILL'),
  }
}

/** Waits until each hears what the other publishes. */
export async function hearEachOther(a: Member, b: Member, withinMs = 10_000): Promise<void> {
  let round = 0
  await eventually(
    async () => {
      round++
      await a.publish(`${a.self}-${round}`)
      await b.publish(`${b.self}-${round}`)
      await eventually(
        () => {
          heardFrom(a, b)
          heardFrom(b, a)
        },
        { withinMs: 500 },
      )
    },
    { withinMs },
  )
}

function heardFrom(listener: Member, speaker: Member): void {
  if (!listener.heard.some((text) => text.startsWith(speaker.self))) {
    throw new Error(`${listener.self} heard nothing of ${speaker.self}`)
  }
}
