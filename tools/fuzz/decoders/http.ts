/** The HTTP API: requests as bytes on a socket. Each is answered or cut off, and none with a defect of the node. */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RouteDefinition, type RouteId, type Routes, routes } from '@mesh/api-contract'
import { createApiServer } from '@mesh/api-server'
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { createLeases, createLedger } from '@mesh/ledger'
import { createNodeSigner, createNodeVerifier } from '@mesh/ledger/node'
import { type Decoder, textSeeds } from '../decoder.ts'

/** The longest that an answer may take, in ms; the server itself waits 10 s for the rest of a request. */
const ANSWER_MS = 20_000

const PEER = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'

const request = (line: string, body?: unknown) => {
  const text = body === undefined ? '' : JSON.stringify(body)
  const sized =
    text === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`
  return `${line} HTTP/1.1\r\nHost: localhost\r\n${sized}Connection: close\r\n\r\n${text}`
}

type RouteWithBody = { [Id in RouteId]: Routes[Id] extends { readonly body: unknown } ? Id : never }[RouteId]

/** What each route with a body is sent. */
const BODIES: Readonly<Record<RouteWithBody, unknown>> = {
  putMember: { State: 'admitted' },
  putApproval: { Required: true },
  checkRules: { Text: 'allow: [{ from: [a], to: ["*"], on: [tcp:22] }]' },
  putRules: { Text: 'default: allow', Force: true, Serial: 1 },
  createInvite: { LifeSeconds: 3_600, Label: 'laptop' },
  addPeer: { Address: PEER },
  createDns: { Regex: '^a$', Records: { A: '10.1.0.5' } },
  putJson: { a: [1, { b: 'c' }], d: null },
  putLogLevel: { Level: 'info,p2p=debug', Keep: true },
  putNodeService: { Target: '127.0.0.1:8080' },
  putNodeConnection: { Listen: '127.0.0.1:9000' },
  putNodeFile: { Path: '/srv/photos' },
  putNodeDownload: { Destination: '/srv/inbox/' },
  createGuest: { Name: 'phone', Endpoint: 'vpn.example.org:51820' },
  putExitNode: { Exit: 'gate' },
  takeLease: { TTL: '15s', Wait: '0s', Number: 7 },
}

/** What stands for the variable parts of paths; `x` for others. */
const PARTS: Readonly<Record<string, string>> = {
  bucket: 'notes',
  key: 'greeting',
  state: 'enable',
  peer: PEER,
  invite: PEER,
  protocol: '%2Fmesh%2Freplication%2F1',
}

/** One request for each route of the contract, and some with what stands behind the path. */
const REQUESTS = [
  ...Object.entries<RouteDefinition>(routes).map(([id, { method, path }]) => {
    const target = path.replaceAll(/[:*](\w+)/g, (_part, name: string) => PARTS[name] ?? 'x')
    return request(`${method} ${target}`, (BODIES as Readonly<Record<string, unknown>>)[id])
  }),
  request('GET /api/ledger/notes/a%2Fb?values=json&pretty'),
  request('GET /api/ledger/notes?after=a&limit=2&values=text'),
  request('PUT /api/ledger/notes/greeting/hello?wait=0s'),
  request('GET /api/dns/resolve/a.mesh?type=A'),
  request('GET /index.html'),
]

export async function openHttpDecoder(): Promise<Decoder> {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-fuzz-'))
  const signer = createNodeSigner(new Uint8Array(32).fill(3))
  const ledger = createLedger({}, { signer, verify: createNodeVerifier(), clock: systemClock })
  const server = createApiServer(
    {},
    {
      ledger,
      leases: createLeases({ ledger, clock: systemClock, random: systemRandom }),
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      version: { version: '0.1.0', protocols: () => [] },
      health: { problems: () => [], ready: () => true },
    },
  )
  const path = join(folder, 'api.sock')
  await server.listen({ kind: 'unix', path })
  return {
    name: 'http',
    form: 'json',
    seeds: textSeeds(...REQUESTS),
    async decode(bytes) {
      const answer = await exchange(path, bytes)
      if (answer.startsWith('HTTP/1.1 500 ')) throw new Error(`answered with ${answer.slice(0, 400)}`)
    },
    async stop() {
      await server.stop()
      await ledger.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Sends the bytes, ends this side, and resolves with what came back until the other side ended too. */
function exchange(path: string, bytes: Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    let answer = ''
    const cancel = systemClock.after(ANSWER_MS, () => {
      socket.destroy()
      reject(new Error(`no end of the answer within ${ANSWER_MS} ms; so far ${answer.slice(0, 200)}`))
    })
    socket.setEncoding('latin1').on('data', (text: string) => {
      if (answer.length < 1_000) answer += text
      // a stream of events never ends by itself
      if (answer.includes('text/event-stream')) socket.destroy()
    })
    // the server may cut off what it has answered already
    socket.on('error', () => {})
    socket.on('close', () => {
      cancel()
      resolve(answer)
    })
    socket.end(bytes)
  })
}
