/**
 * Kairos on our nodes: its own packages assign the roles of three machines, each over the unix socket of its node. Runs
 * where Go and a copy of provider-kairos are at hand.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { buildGoProgram, type GoProgram, whyNoGoProgram } from './go-programs.ts'
import { createMesh, makeToken } from './harness.ts'
import { createCleanUps, suiteName } from './suite.ts'

const ROLES: GoProgram = {
  name: 'kairos-roles',
  variable: 'KAIROS_REPOSITORY',
  folder: 'provider-kairos',
  commit: '547c23a',
  main: 'kairos-roles.go',
  // the version that it names cannot be had from the proxy
  replaced: ['github.com/kube-vip/kube-vip=github.com/kube-vip/kube-vip@v1.2.2'],
}
const MACHINES = ['first', 'second', 'third']
const why = whyNoGoProgram(ROLES)
const cleanUps = createCleanUps()

describe.skipIf(why !== undefined)(suiteName('Kairos', why), () => {
  test('assigns one master and two workers over unix sockets', { timeout: 900_000 }, async () => {
    const mesh = createMesh()
    cleanUps.push(() => mesh.cleanUp())
    const program = buildGoProgram(ROLES)
    const token = makeToken(9_223_372_036_854_775_807n)
    const sockets: string[] = []
    let bootstrap = ''
    for (const name of MACHINES) {
      const socket = join(mesh.folder, `${name}.sock`)
      const node = await mesh.start({
        token,
        environment: { APILISTENUNIXMODE: '0600' },
        args: ['--api-values=text', `--listen=unix://${socket}`, ...(bootstrap === '' ? [] : [bootstrap])],
      })
      bootstrap ||= `--discovery-bootstrap-peers=${node.addresses[0]}`
      expect(statSync(socket).mode & 0o777).toBe(0o600)
      sockets.push(`unix://${socket}`)
    }
    const done = await Promise.all(
      MACHINES.map((name, at) => {
        const child = spawn(program, [name, sockets[at] ?? ''], {
          env: { PATH: process.env['PATH'], HOME: mesh.folder, TMPDIR: mesh.folder },
          stdio: ['ignore', 'pipe', 'ignore'],
        })
        cleanUps.push(() => end(child))
        return firstLine(child.stdout)
      }),
    )
    expect(done.map(({ Role }) => Role).toSorted()).toEqual(['master', 'worker', 'worker'])
    const told = done.flatMap(({ MasterIP, Token }) => (MasterIP === undefined ? [] : [[MasterIP, Token]]))
    expect(told).toEqual(Array.from({ length: 2 }, () => ['10.1.0.1', 'K10::server:secret']))
  })
})

interface Done {
  readonly Role: string
  readonly MasterIP?: string
  readonly Token?: string
}

async function firstLine(output: Readable): Promise<Done> {
  for await (const line of createInterface({ input: output })) return JSON.parse(line) as Done
  throw new Error('the program ended')
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
