/** The Internet through another member: curl by HTTP, HTTPS and SOCKS5 to an origin on loopback, and what is refused. */
import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer as createHttpsServer } from 'node:https'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { eventually } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMesh, makeToken, type Mesh, type NodeProcess } from './harness.ts'
import { proxyOf, startHttp, type Target } from './service-lab.ts'

const token = makeToken()
let mesh: Mesh
let origin: Target
beforeAll(async () => {
  mesh = createMesh()
  origin = await startHttp()
})
afterAll(async () => {
  await mesh.cleanUp()
  await origin.close()
})

const bootstrap = (node: NodeProcess) => `--discovery-bootstrap-peers=${node.addresses[0]}`

interface Curled {
  readonly status: number
  readonly body: string
  readonly code: number | null
}

async function curl(...args: readonly string[]): Promise<Curled> {
  const child = spawn('curl', ['-sS', '-m', '20', '-w', '\n%{http_code}', ...args], {
    env: { PATH: process.env['PATH'] },
  })
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [out, code] = [await text(child.stdout), await exit]
  const cut = out.lastIndexOf('\n')
  return { code, status: Number(out.slice(cut + 1)), body: out.slice(0, cut) }
}

/** An origin with a certificate that it signed itself. */
async function startSecure(): Promise<{ readonly port: number; readonly close: () => void }> {
  const folder = mesh.makeFolder()
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-days', '2']
  const ways = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', ['req', '-x509', ...ways, '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  })
  const server = createHttpsServer(
    { key: readFileSync(key), cert: readFileSync(cert) },
    (_request, response) => response.end('secret'),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}

describe('mesh proxy through a node with --egress --egress-allow 127.0.0.0/8', () => {
  let egress: NodeProcess
  let proxy: string
  beforeAll(async () => {
    egress = await mesh.start({
      command: 'start',
      token,
      args: ['--egress', '--egress-allow=127.0.0.0/8'],
      until: 'egress offered',
    })
    const node = await mesh.start({
      command: 'proxy',
      token,
      args: ['--listen=127.0.0.1:0', bootstrap(egress)],
      until: 'proxy listening',
    })
    proxy = await proxyOf(node)
  })

  test.each([
    ['HTTP', () => ['-x', `http://${proxy}`]],
    ['CONNECT', () => ['-p', '-x', `http://${proxy}`]],
    ['SOCKS5 with names resolved there', () => ['-x', `socks5h://${proxy}`]],
    ['SOCKS5 with addresses', () => ['-x', `socks5://${proxy}`]],
  ])('curl by %s, at once after the start', async (_name, args) => {
    const { status, body } = await curl(...args(), `http://localhost:${origin.port}/path?query=1`)
    expect([status, JSON.parse(body)]).toMatchObject([200, { method: 'GET', path: '/path?query=1' }])
  })

  test('curl by HTTPS to an origin with its own certificate', async () => {
    const secure = await startSecure()
    const { status, body } = await curl('-k', '-x', `http://${proxy}`, `https://localhost:${secure.port}/`)
    secure.close()
    expect([status, body]).toEqual([200, 'secret'])
  })

  test('bodies go both ways, whole and chunked', async () => {
    const url = `http://localhost:${origin.port}/post`
    const whole = await curl('-x', `http://${proxy}`, '--data', 'x'.repeat(100_000), url)
    expect(JSON.parse(whole.body)).toMatchObject({ method: 'POST', body: 'x'.repeat(100_000) })
    const chunked = await curl(
      '-x',
      `http://${proxy}`,
      '-H',
      'Transfer-Encoding: chunked',
      '--data',
      'abc',
      url,
    )
    expect(JSON.parse(chunked.body)).toMatchObject({
      body: 'abc',
      headers: { 'transfer-encoding': 'chunked' },
    })
    const big = await curl('-x', `http://${proxy}`, `http://localhost:${origin.port}/big`)
    expect(big.body).toHaveLength(2 ** 20)
  })

  test('what is between a client and its proxy does not reach the origin', async () => {
    const sent = ['Connection: close, X-Hop', 'X-Hop: 1', 'Keep-Alive: 5', 'TE: trailers', 'X-Kept: 2']
    const args = sent.flatMap((header) => ['-H', header])
    const { body } = await curl(
      '-x',
      `http://user:secret@${proxy}`,
      ...args,
      `http://localhost:${origin.port}/`,
    )
    const { headers } = JSON.parse(body) as { headers: Record<string, string> }
    expect(headers).toMatchObject({ 'x-kept': '2', host: `localhost:${origin.port}` })
    for (const name of ['proxy-authorization', 'proxy-connection', 'x-hop', 'keep-alive', 'te']) {
      expect(headers).not.toHaveProperty(name)
    }
  })

  test('addresses that are not served, and what does not answer, are told in words', async () => {
    const forbidden = await curl('-x', `http://${proxy}`, 'http://10.1.2.3/')
    expect([forbidden.status, forbidden.body]).toEqual([403, expect.stringContaining('a private address')])
    const metadata = await curl('-x', `http://${proxy}`, 'http://[::ffff:169.254.169.254]/')
    expect([metadata.status, metadata.body]).toEqual([403, expect.stringContaining('a link-local address')])
    const closed = await curl('-x', `http://${proxy}`, 'http://127.0.0.1:1/')
    expect([closed.status, closed.body]).toEqual([502, expect.stringContaining('connection refused')])
    expect((await curl('-x', `socks5h://${proxy}`, 'http://10.1.2.3/')).code).not.toBe(0)
  })

  test('a browser that is sent to the proxy itself gets a sentence', async () => {
    const { status, body } = await curl(`http://${proxy}/`)
    expect([status, body]).toEqual([400, expect.stringContaining('this is a proxy')])
  })

  test.each([
    ['no protocol at all', Buffer.from('\x16\x03\x01\x02\x00garbage')],
    ['a SOCKS5 client that wants a password only', Buffer.of(5, 1, 2)],
    ['SOCKS5 BIND', Buffer.of(5, 1, 0, 5, 2, 0, 1, 127, 0, 0, 1, 0, 80)],
    ['a head that never ends', Buffer.from(`GET http://a/ HTTP/1.1\r\nX: ${'x'.repeat(200_000)}`)],
  ])('%s: the connection ends, and the proxy goes on', async (_name, bytes) => {
    const port = Number(/:(\d+)$/.exec(proxy)?.[1])
    const socket = connect({ host: '127.0.0.1', port })
    socket.on('error', () => {})
    socket.write(bytes)
    socket.resume()
    await new Promise((resolve) => socket.once('close', resolve))
    expect((await curl('-x', `http://${proxy}`, `http://localhost:${origin.port}/`)).status).toBe(200)
  })
})

describe('egress that is not there, or not the wanted one', () => {
  test('loopback is refused without --egress-allow, and 503 says why when nobody offers egress', async () => {
    const own = makeToken()
    const egress = await mesh.start({
      command: 'start',
      token: own,
      args: ['--egress'],
      until: 'egress offered',
    })
    const node = await mesh.start({
      token: own,
      args: ['--proxy=127.0.0.1:0', bootstrap(egress)],
      until: 'proxy listening',
    })
    const proxy = await proxyOf(node)
    const refused = await curl('-x', `http://${proxy}`, `http://localhost:${origin.port}/`)
    expect([refused.status, refused.body]).toEqual([403, expect.stringContaining('a loopback address')])
    await egress.stop()
    const none = await eventually(
      async () => {
        const answer = await curl('-x', `http://${proxy}`, 'http://192.0.2.1/')
        expect(answer.status).toBe(503)
        return answer
      },
      { withinMs: 20_000 },
    )
    expect(none.body).toContain('no member with --egress is alive')
  })

  test('--egress-peer leaves through that member alone', async () => {
    const own = makeToken()
    const first = await mesh.start({
      command: 'start',
      token: own,
      args: ['--egress', '--egress-allow=127.0.0.1'],
      until: 'egress offered',
    })
    const second = await mesh.start({
      command: 'start',
      token: own,
      args: ['--egress', bootstrap(first)],
      until: 'egress offered',
    })
    const through = async (peer: NodeProcess) => {
      const args = ['--listen=127.0.0.1:0', bootstrap(first), `--egress-peer=${peer.id}`]
      const node = await mesh.start({ command: 'proxy', token: own, args, until: 'proxy listening' })
      const { status } = await curl('-x', `http://${await proxyOf(node)}`, `http://127.0.0.1:${origin.port}/`)
      await node.stop()
      return status
    }
    expect([await through(first), await through(second)]).toEqual([200, 403])
  })
})
