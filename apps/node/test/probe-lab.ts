/** Starts a probe agent (`probe-agent.ts`) in a network namespace, and asks it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Lab } from '@mesh/testkit'
import type { ProbeAnswer, ProbeOutcome, ProbeRequest } from './probe-agent.ts'

export interface Prober {
  ask(request: Omit<ProbeRequest, 'id'>): Promise<ProbeOutcome>
  /** Opens a TCP connection and keeps it busy. @throws Error when it is not answered */
  hold(address: string, port: number): Promise<{ readonly ended: () => boolean }>
  stop(): Promise<void>
}

/** @param serves the ports that answer in the namespace, like `tcp:22` */
export async function startProber(lab: Lab, host: string, serves: readonly string[]): Promise<Prober> {
  const agent = fileURLToPath(new URL('probe-agent.ts', import.meta.url))
  const [file, ...words] = lab.inside(host, [process.execPath, agent, ...serves])
  const child: ChildProcess = spawn(file, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error('the agent has no pipes')
  const waiting = new Map<number, (outcome: ProbeOutcome) => void>()
  const ended = new Set<number>()
  let next = 1
  const lines = createInterface({ input: stdout })
  await once(lines, 'line')
  lines.on('line', (line) => {
    const { id, outcome, event } = JSON.parse(line) as ProbeAnswer
    if (event === 'ended') ended.add(id)
    else waiting.get(id)?.(outcome)
  })
  const ask = (request: Omit<ProbeRequest, 'id'>, id = next++) => {
    const { promise, resolve } = Promise.withResolvers<ProbeOutcome>()
    waiting.set(id, resolve)
    stdin.write(`${JSON.stringify({ ...request, id })}\n`)
    return promise
  }
  return {
    ask,
    async hold(address, port) {
      const id = next++
      const outcome = await ask({ on: 'hold', address, port }, id)
      if (outcome !== 'answered') throw new Error(`${address}:${port} from ${host}: ${outcome}`)
      return { ended: () => ended.has(id) }
    },
    async stop() {
      if (child.exitCode !== null) return
      const gone = once(child, 'exit')
      child.kill()
      await gone
    },
  }
}
