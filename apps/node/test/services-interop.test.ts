/**
 * Services, egress and files with EdgeVPN nodes, both ways: theirs offered to us and ours to them. Runs where
 * EDGEVPN_BIN names the binary.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createLab, eventually, freePort, whyNoNamespaces } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { runEdgevpn, whyNoEdgevpn } from './edgevpn.ts'
import { createMesh, makeToken, type NodeProcess } from './harness.ts'
import { echoes, portOf, startEcho, startHttp } from './service-lab.ts'
import { createCleanUps, suiteName } from './suite.ts'

const why = whyNoEdgevpn()
const whyNotEgress = why ?? whyNoNamespaces(['ip', 'curl'])
const cleanUps = createCleanUps()

function ourMesh() {
  const mesh = createMesh()
  cleanUps.push(() => mesh.cleanUp())
  return mesh
}

/** Runs one command of EdgeVPN that knows our node, until the end of the test. */
function runTheirs(token: string, hub: NodeProcess, args: readonly string[], prefix: readonly string[] = []) {
  const flags = ['--mdns=false', '--discovery-bootstrap-peers', hub.addresses[0] ?? '']
  const theirs = runEdgevpn({ token, args, flags, prefix })
  cleanUps.push(() => theirs.stop())
}

describe.skipIf(why !== undefined)(suiteName('with EdgeVPN', why), () => {
  test('our node connects to a service of theirs, from the first connection on', async () => {
    const [token, mesh, echo] = [makeToken(), ourMesh(), await startEcho()]
    cleanUps.push(() => echo.close())
    const hub = await mesh.start({ token })
    runTheirs(token, hub, ['service-add', 'theirs', `127.0.0.1:${echo.port}`])
    await eventually(
      async () => expect(await hub.client.getBucket({ bucket: 'services' })).toHaveProperty('theirs'),
      { withinMs: 60_000 },
    )
    const client = await mesh.start({
      command: 'service-connect',
      token,
      args: [`--discovery-bootstrap-peers=${hub.addresses[0]}`, 'theirs', '127.0.0.1:0'],
      until: 'service provider',
    })
    await echoes(await portOf(client, 'theirs'), 1_000_000)
    await Promise.all(
      Array.from({ length: 20 }, () => portOf(client, 'theirs').then((port) => echoes(port, 20_000))),
    )
  })

  test('their node connects to a service of ours', async () => {
    const [token, mesh, echo] = [makeToken(), ourMesh(), await startEcho()]
    cleanUps.push(() => echo.close())
    const ours = await mesh.start({ token, args: [`--service-add=ours=127.0.0.1:${echo.port}`] })
    const port = await freePort()
    runTheirs(token, ours, ['service-connect', 'ours', `127.0.0.1:${port}`])
    await eventually(() => echoes(port, 200_000), { withinMs: 90_000, everyMs: 1_000 })
    await echoes(port, 1_000_000)
    expect(echo.connections()).toBeGreaterThan(1)
  })

  test('their proxy leaves through our egress, and is refused what we do not serve', async () => {
    const [token, mesh, origin] = [makeToken(), ourMesh(), await startHttp()]
    cleanUps.push(() => origin.close())
    const ours = await mesh.start({ token, args: ['--egress', '--egress-allow=127.0.0.0/8'] })
    const port = await freePort()
    runTheirs(token, ours, ['proxy', '--listen', `127.0.0.1:${port}`])
    const get = (url: string) => proxied(port, url)
    const answer = await eventually(
      async () => {
        const got = await get(`http://localhost:${origin.port}/there?x=1`)
        expect(got.status).toBe(200)
        return got
      },
      { withinMs: 90_000, everyMs: 1_000 },
    )
    expect(JSON.parse(answer.body)).toMatchObject({ method: 'GET', path: '/there?x=1' })
    expect((await get(`http://localhost:${origin.port}/big`)).body).toHaveLength(2 ** 20)
    expect((await get('http://10.1.2.3/')).status).not.toBe(200)
  })
})

describe.skipIf(whyNotEgress !== undefined)(suiteName('the egress of EdgeVPN', whyNotEgress), () => {
  test('our proxy leaves through it by HTTP, and says why it cannot by CONNECT', async () => {
    // theirs is a part of their VPN, which needs an interface: all in one namespace, over its loopback
    const lab = createLab(['all'])
    cleanUps.push(() => lab.close())
    const [token, mesh] = [makeToken(), ourMesh()]
    const prefix = lab.inside('all', [])
    const origin = runInside(prefix, [process.execPath, '-e', ORIGIN])
    cleanUps.push(() => void origin.kill('SIGKILL'))
    const ours = await mesh.start({
      token,
      prefix,
      args: ['--proxy=127.0.0.1:18099'],
      until: 'proxy listening',
    })
    runTheirs(token, ours, ['--egress', '--address', '10.97.0.9/24', '--interface', 'edgevpn0'], prefix)
    const get = async (...args: readonly string[]) => {
      const child = runInside(prefix, ['curl', '-sS', '-m', '20', '-x', 'http://127.0.0.1:18099', ...args])
      return await text(child.stdout as Readable)
    }
    await eventually(async () => expect(await get('http://127.0.0.1:18098/out?x=1')).toBe('GET /out?x=1'), {
      withinMs: 90_000,
      everyMs: 1_000,
    })
    expect(await get('--data', 'body', 'http://127.0.0.1:18098/post')).toBe('POST /post body')
    expect(await get('http://127.0.0.1:18098/big')).toHaveLength(300_000)
    const refused = await get('-p', '-v', '--stderr', '-', 'http://127.0.0.1:18098/')
    expect(refused).toContain('503')
  })
})

describe.skipIf(why !== undefined)(suiteName('files with EdgeVPN', why), () => {
  test('their file is received by us, whole, and said not to be verified', async () => {
    const [token, mesh] = [makeToken(), ourMesh()]
    const hub = await mesh.start({ token })
    const source = join(mesh.makeFolder(), 'theirs.bin')
    writeFileSync(source, randomBytes(3_000_000))
    runTheirs(token, hub, ['file-send', '--name', 'theirs', '--path', source])
    const target = join(mesh.makeFolder(), 'copy.bin')
    const receiver = await mesh.start({
      command: 'file-receive',
      token,
      args: ['theirs', target, '--json', `--discovery-bootstrap-peers=${hub.addresses[0]}`],
    })
    expect(await receiver.exited).toMatchObject({ code: 0 })
    expect(readFileSync(target).equals(readFileSync(source))).toBe(true)
    expect(receiver.lines.find((line) => line['State'] === 'received')).toMatchObject({ Verified: false })
  })

  test('our file is received by them, whole', async () => {
    const [token, mesh] = [makeToken(), ourMesh()]
    const source = join(mesh.makeFolder(), 'ours.bin')
    writeFileSync(source, randomBytes(3_000_000))
    const sender = await mesh.start({ token, args: [`--file-send=ours=${source}`] })
    const target = join(mesh.makeFolder(), 'copy.bin')
    runTheirs(token, sender, ['file-receive', '--name', 'ours', '--path', target])
    await eventually(() => expect(readFileSync(target).equals(readFileSync(source))).toBe(true), {
      withinMs: 90_000,
      everyMs: 500,
    })
  })
})

const ORIGIN = `require('http').createServer(async (q, r) => {
  let body = ''
  for await (const part of q) body += part
  r.end(q.url === '/big' ? 'x'.repeat(300000) : [q.method, q.url, body].join(' ').trim())
}).listen(18098, '127.0.0.1')`

function runInside([file = '', ...wrapping]: readonly string[], words: readonly string[]): ChildProcess {
  return spawn(file, [...wrapping, ...words], {
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

async function proxied(
  port: number,
  url: string,
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: '127.0.0.1',
        port,
        path: url,
        headers: { host: new URL(url).host },
        agent: false,
        timeout: 20_000,
      },
      (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (part: string) => (body += part))
        response.once('end', () => resolve({ status: response.statusCode ?? 0, body }))
        response.once('error', reject)
      },
    )
    asked.once('timeout', () => asked.destroy(new Error('no answer in time')))
    asked.once('error', reject)
    asked.end()
  })
}
