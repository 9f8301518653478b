/** Two hosts in network namespaces, each with an engine and its interface, joined by one stream. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createLab, type Lab } from '@mesh/testkit'
import type { HostInit } from './host.ts'

export interface Host {
  readonly pid: number
  /** Sends a command and gives the answer. */
  ask(command: string): Promise<Record<string, unknown>>
  /** The next line that the host says by itself. */
  next(): Promise<Record<string, unknown>>
  kill(signal?: NodeJS.Signals): Promise<void>
}

export interface Pair {
  readonly lab: Lab
  readonly left: Host
  readonly right: Host
  close(): Promise<void>
}

const program = join(import.meta.dirname, 'host.ts')

/**
 * Left has 10.9.0.1 and fd09::1, right has 10.9.0.2 and fd09::2. The stream is a unix socket, and there is no other
 * wire between them, or TCP over one (`tcp`), as in life.
 */
export async function createPair(mtu = 1280, wire: 'unix' | 'tcp' = 'unix'): Promise<Pair> {
  const lab = createLab(['left', 'right'])
  const folder = mkdtempSync(join(tmpdir(), 'mesh-engine-'))
  const hosts: Host[] = []
  const close = async () => {
    await Promise.all(hosts.map((host) => host.kill()))
    lab.close()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    if (wire === 'tcp') {
      const end = (host: string, address: string) => ({ host, device: 'eth0', addresses: [address] })
      lab.wire(end('left', '192.168.9.1/24'), end('right', '192.168.9.2/24'))
    }
    const path = wire === 'tcp' ? '192.168.9.2:7000' : join(folder, 'wire.sock')
    const right = startHost(lab, 'right', {
      name: 'mesh0',
      mtu,
      listen: path,
      addresses: ['10.9.0.2/24', 'fd09::2/64'],
      allowed: ['10.9.0.1/32', 'fd09::1/128'],
    })
    hosts.push(right)
    await expectLine(right, 'listening')
    const left = startHost(lab, 'left', {
      name: 'mesh0',
      mtu,
      connect: path,
      addresses: ['10.9.0.1/24', 'fd09::1/64'],
      allowed: ['10.9.0.2/32', 'fd09::2/128'],
    })
    hosts.push(left)
    await Promise.all([expectLine(left, 'joined'), expectLine(right, 'joined')])
    return { lab, left, right, close }
  } catch (error) {
    await close()
    throw error
  }
}

export function startHost(lab: Lab, host: string, init: HostInit): Host {
  const argv = [process.execPath, '--conditions=mesh-source', program, JSON.stringify(init)]
  const [command, ...args] = lab.inside(host, argv)
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  return fromChild(child)
}

/** Any program that says lines of JSON and ends with its standard input. */
export function startProgram(lab: Lab, host: string, argv: readonly string[]): Host {
  const [command, ...args] = lab.inside(host, [process.execPath, '--conditions=mesh-source', ...argv])
  return fromChild(spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] }))
}

function fromChild(child: ChildProcessWithoutNullStreams): Host {
  const waiting: ((line: Record<string, unknown>) => void)[] = []
  const lines: Record<string, unknown>[] = []
  let noise = ''
  let ended = false
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      ended = true
      resolve()
      for (const give of waiting.splice(0)) give({ exited: true, noise })
    })
  })
  child.stderr.on('data', (bytes: Buffer) => (noise = `${noise}${bytes}`.slice(-4000)))
  child.stdin.on('error', () => {})
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text) as Record<string, unknown>
    const give = waiting.shift()
    if (give === undefined) lines.push(line)
    else give(line)
  })
  const next = () =>
    new Promise<Record<string, unknown>>((resolve) => {
      const line = lines.shift()
      if (line !== undefined) resolve(line)
      else if (ended) resolve({ exited: true, noise })
      else waiting.push(resolve)
    })
  return {
    pid: child.pid ?? 0,
    next,
    ask(command) {
      child.stdin.write(`${command}\n`)
      return next()
    },
    async kill(signal = 'SIGTERM') {
      if (!ended) child.kill(signal)
      await exited
    },
  }
}

async function expectLine(host: Host, key: string): Promise<void> {
  const line = await host.next()
  if (line[key] === undefined) throw new Error(`expected ${key}, got ${JSON.stringify(line)}`)
}
