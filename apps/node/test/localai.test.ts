/**
 * Pools of LocalAI, by its own package: its workers and federated servers are used by ours, and ours by its. Runs where
 * LOCALAI_POOL_BIN names a build of `go/localai-pool.go`. EdgeVPN 0.34, which LocalAI is built on, signs nothing.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { bridge, createLab, eventually, type Lab, whyNoNamespaces } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { createMesh, makeToken, type NodeProcess } from './harness.ts'
import { createCleanUps, suiteName } from './suite.ts'
import { runIn } from './vpn-lab.ts'

const PROGRAM = process.env['LOCALAI_POOL_BIN'] ?? ''
const OWN_WORKER = 'meshworker'
const SOON = { withinMs: 90_000, everyMs: 1_000 }
const why = existsSync(PROGRAM)
  ? whyNoNamespaces(['ip', 'curl'])
  : 'LOCALAI_POOL_BIN names no build of test/go/localai-pool.go'
const cleanUps = createCleanUps()

function serve(lab: Lab, host: string, port: number, answer: string) {
  const code = `require('http').createServer((q, r) => r.end('${answer}')).listen(${port}, '127.0.0.1')`
  track(spawnIn(lab, host, [process.execPath, '-e', code]))
}

function spawnIn(lab: Lab, host: string, words: readonly string[], environment: Record<string, string> = {}) {
  const [file, ...rest] = lab.inside(host, words)
  return spawn(file, rest, {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

function track(child: ChildProcess) {
  cleanUps.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  })
}

/** Runs one side of LocalAI's pool beside our node, and gives what it sees by the names of services. */
function startLocalai(
  lab: Lab,
  host: string,
  { token, node }: { token: string; node: NodeProcess },
  words: readonly string[],
) {
  const child = spawnIn(lab, host, [PROGRAM, ...words], {
    TOKEN: token,
    LOCALAI_P2P_DISABLE_DHT: 'true',
    LOCALAI_P2P_BOOTSTRAP_PEERS_MADDRS: node.addresses.find((address) => address.includes('192.168.')) ?? '',
  })
  track(child)
  const seen = new Map<string, string>()
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (!line.startsWith('{')) return
      const { ServiceID, TunnelAddress } = JSON.parse(line) as { ServiceID: string; TunnelAddress: string }
      seen.set(ServiceID, TunnelAddress)
    })
  }
  return seen
}

describe.skipIf(why !== undefined)(suiteName('LocalAI', why), () => {
  test.each(['worker', 'federated'])('the pool %s works both ways', { timeout: 240_000 }, async (bucket) => {
    const lab = createLab(['switch', 'ours', 'theirs'])
    cleanUps.push(() => lab.close())
    bridge(lab, 'switch', { ours: ['192.168.94.1/24'], theirs: ['192.168.94.2/24'] })
    const [mesh, token] = [createMesh(), makeToken()]
    cleanUps.push(() => mesh.cleanUp())
    const node = await mesh.start({
      token,
      prefix: lab.inside('ours', []),
      baseArgs: ['--private', '--dht=false', '--ownership=off', '--listen-maddrs=/ip4/0.0.0.0/tcp/4400'],
    })
    serve(lab, 'theirs', 9101, 'theirs')
    serve(lab, 'ours', 9102, 'ours')
    startLocalai(lab, 'theirs', { token, node }, ['expose', bucket, '127.0.0.1', '9101'])

    // any live worker of theirs is reached, whatever its name
    await node.control.putNodeConnection({ name: `${bucket}/*`, body: { Listen: '127.0.0.1:9103' } })
    await eventually(
      async () =>
        expect(await runIn(lab, 'ours', ['curl', '-sSm5', 'http://127.0.0.1:9103/'])).toBe('theirs'),
      SOON,
    )

    // ours is one of the pool while its node runs
    await node.control.putNodeService({ name: OWN_WORKER, body: { Target: '127.0.0.1:9102' } })
    const words = ['ledger', 'put', bucket, OWN_WORKER, JSON.stringify({ Name: OWN_WORKER, ID: OWN_WORKER })]
    const put = await mesh.run([...words, '--keep', '20s', '--field', 'LastSeen=now'], {
      environment: { MESHSTATEDIR: node.stateDir },
    })
    expect(put).toMatchObject({ code: 0, stderr: '' })
    const seen = startLocalai(lab, 'theirs', { token, node }, ['discover', bucket])
    await eventually(async () => {
      const tunnel = seen.get(OWN_WORKER) ?? ''
      expect(await runIn(lab, 'theirs', ['curl', '-sSm5', `http://${tunnel}/`])).toBe('ours')
    }, SOON)
  })
})
