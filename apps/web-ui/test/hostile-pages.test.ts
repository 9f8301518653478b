/**
 * What pages of others can do to a node through the browser of its user: one of another origin, and one whose name comes to
 * mean loopback after it was opened (DNS rebinding). Both are real pages in a real browser, on real listeners.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPath, launchBrowser } from './support/browser.ts'
import { type ServedPage, servePage } from './support/served-page.ts'

const EVIL = 'evil.example'
const REBOUND = 'rebound.example'
const skipped = browserPath === undefined ? ' (skipped: no Chromium is installed)' : ''
const SECRET = 'only-for-members'

/** Tries everything that a page can send without asking, and gives what it could read of each, by what was tried. */
async function attack(target: string): Promise<Record<string, string>> {
  const api = `${target}/api/ledger/notes`
  const read = async (url: string, init?: RequestInit) => {
    try {
      const answer = await fetch(url, init)
      return `${answer.type} ${answer.status} ${(await answer.text()).slice(0, 2_000)}`
    } catch {
      return 'refused by the browser'
    }
  }
  const body = '{"Regex":"evil","Records":{"A":"10.6.6.6"}}'
  const typed = (type: string, mode: RequestMode) => ({
    method: 'POST',
    headers: { 'content-type': type },
    mode,
    body,
  })
  const opened = (begin: (done: (what: string) => void) => void) =>
    new Promise<string>((resolve) => begin(resolve))
  const loaded = (tag: 'img' | 'script' | 'iframe', url: string) =>
    opened((done) => {
      const element = document.createElement(tag)
      element.onload = () =>
        done(tag === 'iframe' ? `loaded ${frameText(element as HTMLIFrameElement)}` : 'loaded')
      element.onerror = () => done('refused by the browser')
      element.src = url
      document.body.append(element)
    })
  const frameText = (frame: HTMLIFrameElement) => frame.contentDocument?.body?.textContent ?? 'another origin'
  const sendForm = (enctype: string, method: string) => {
    const form = document.createElement('form')
    const frame = document.createElement('iframe')
    const field = document.createElement('input')
    frame.name = `sink ${enctype} ${method}`
    Object.assign(form, { action: `${target}/api/dns`, method, enctype, target: frame.name })
    Object.assign(field, { name: body, value: '' })
    form.append(field)
    document.body.append(frame, form)
    return opened((done) => {
      frame.onload = () => done('sent')
      form.submit()
    })
  }
  return {
    get: await read(api),
    events: await read(`${target}/api/events?last=200`, { signal: AbortSignal.timeout(2_000) }),
    metrics: await read(`${target}/metrics`),
    'get without cors': await read(api, { mode: 'no-cors' }),
    'post json': await read(`${target}/api/dns`, typed('application/json', 'cors')),
    'post text': await read(`${target}/api/dns`, typed('text/plain', 'no-cors')),
    'post form': await read(`${target}/api/dns`, typed('application/x-www-form-urlencoded', 'no-cors')),
    'post multipart': await read(`${target}/api/dns`, typed('multipart/form-data; boundary=x', 'no-cors')),
    put: await read(`${api}/evil/1`, { method: 'PUT' }),
    delete: await read(`${api}/secret`, { method: 'DELETE' }),
    gate: await read(`${target}/api/peergate/disable`, { method: 'PUT' }),
    beacon: String(navigator.sendBeacon(`${target}/api/dns`, body)),
    'form text': await sendForm('text/plain', 'post'),
    'form url': await sendForm('application/x-www-form-urlencoded', 'post'),
    'form get': await sendForm('application/x-www-form-urlencoded', 'get'),
    'event source': await opened((done) => {
      const source = new EventSource(`${target}/api/events`)
      source.onopen = () => done('open')
      source.onmessage = () => done('open')
      source.onerror = () => done('refused by the browser')
    }),
    'web socket': await opened((done) => {
      const socket = new WebSocket(`${target.replace('http', 'ws')}/api/events`)
      socket.onopen = () => done('open')
      socket.onerror = () => done('refused by the browser')
    }),
    script: await loaded('script', api),
    image: await loaded('img', `${target}/api/ledger`),
    frame: await loaded('iframe', `${target}/api/ledger`),
    page: await loaded('iframe', `${target}/`),
  }
}

describe.skipIf(browserPath === undefined)(`pages of others in a browser${skipped}`, () => {
  const changed: string[] = []
  let rounds = 0
  let node: ServedPage
  let browser: Browser
  let elsewhere: Server
  let page: Page
  beforeAll(async () => {
    node = await servePage({ get: (path) => (path === '/index.html' ? PAGE : undefined) })
    await node.ledger.put('notes', 'secret', JSON.stringify(SECRET)).settled
    node.ledger.subscribe(
      (event) => event.type === 'committed' && changed.push(...event.changes.map(({ key }) => key)),
    )
    elsewhere = createServer((_req: IncomingMessage, res) => {
      res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>elsewhere</title>')
    })
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    const { port } = elsewhere.address() as AddressInfo
    browser = await launchBrowser(browserPath ?? '', [
      `--host-resolver-rules=MAP ${EVIL}:80 127.0.0.1:${port},MAP ${REBOUND} 127.0.0.1`,
      // the browser's own guard would hide whether ours works
      '--disable-features=LocalNetworkAccessChecks,PrivateNetworkAccessRespectPreflightResults,BlockInsecurePrivateNetworkRequests',
    ])
    page = await browser.newPage()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await node?.stop()
    elsewhere?.close()
  })

  test('a page of another origin reads nothing and changes nothing', async () => {
    await page.goto(`http://${EVIL}/`)
    const outcome = await page.evaluate(attack, node.url)
    expect(JSON.stringify(outcome)).not.toContain(SECRET)
    const readable = Object.entries(outcome).filter(([, what]) => /^(cors|basic|default) |^open/.test(what))
    expect(readable).toEqual([])
    await expectUnchanged()
  }, 60_000)

  test('a name that comes to mean this machine opens neither the page nor the API', async () => {
    const { port } = new URL(node.url)
    // the page came from the same name and port before the name changed its meaning: the same origin, for the browser
    const rebound = await servedThen(Number(port))
    try {
      await page.goto(`http://${REBOUND}:${rebound.port}/`)
      rebound.switchOver()
      const own = `http://${REBOUND}:${rebound.port}`
      const outcome = await page.evaluate(attack, own)
      expect(outcome['get']).toMatch(/^basic 421 .*--api-allowed-host rebound\.example/)
      expect(outcome['delete']).toMatch(/^basic 421 /)
      expect(outcome['put']).toMatch(/^basic 421 /)
      expect(outcome['events']).toMatch(/^basic 421 /)
      expect(outcome['metrics']).toMatch(/^basic 421 /)
      expect(outcome['event source']).toBe('refused by the browser')
      expect(outcome['web socket']).toBe('refused by the browser')
      expect(JSON.stringify(outcome)).not.toContain(SECRET)
      const answer = await page.goto(`${own}/`)
      expect(answer?.status()).toBe(421)
      await expectUnchanged()
    } finally {
      await rebound.stop()
    }
  }, 60_000)

  test("the node's own page goes on to read and write", async () => {
    await page.goto(`${node.url}/`)
    const outcome = await page.evaluate(attack, node.url)
    expect(outcome['get']).toContain(SECRET)
    expect(outcome['put']).toMatch(/^basic 200 /)
    expect(outcome['event source']).toBe('open')
  }, 60_000)

  /** What the attack wrote or deleted would have been committed by now: a write of ours was, after it. */
  async function expectUnchanged(): Promise<void> {
    const own = `after ${++rounds}`
    await node.ledger.put('notes', own, '1').settled
    expect(changed.splice(0)).toEqual([own])
    expect(node.ledger.snapshot().getLive('notes', 'secret')?.value).toBe(JSON.stringify(SECRET))
  }
})

const PAGE = { bytes: Buffer.from('<!doctype html><title>mesh</title>'), type: 'text/html' }

/** A port that serves a page first, and after `switchOver` is the node's: as when a name's address changes. */
async function servedThen(nodePort: number) {
  let isNode = false
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    if (isNode) {
      const onward = connect(nodePort, '127.0.0.1')
      onward.on('error', () => socket.destroy())
      socket.pipe(onward).pipe(socket)
      return
    }
    const text = '<!doctype html><title>harmless</title>'
    socket.once('data', () =>
      socket.end(
        `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`,
      ),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    switchOver() {
      isNode = true
      for (const socket of sockets) socket.destroy()
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
