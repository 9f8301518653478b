/**
 * What Node's own sockets cost: two processes that do nothing but copy between TCP and TLS, with the cipher and the
 * ready connections of ours, and no frames, names, admission or counts. No forwarding that copies in JavaScript is
 * faster than this, so that a service is held against it beside `ssh -L`.
 *
 * As a program: `bare-relay.ts serve TARGET` prints the port of its TLS listener, `bare-relay.ts connect TLS_PORT` the
 * port of its plain one, `bare-relay.ts proxy TLS_PORT` that of an HTTP proxy whose every request goes to the target.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, createServer as createHttpServer, request } from 'node:http'
import { type AddressInfo, connect as connectPlain, createServer, type Socket } from 'node:net'
import {
  connect as connectTls,
  createSecureContext,
  createServer as createTlsServer,
  type SecureContextOptions,
  type TLSSocket,
} from 'node:tls'

/** More than one round of the measure opens, so that none of its connections waits for a handshake. */
const READY_CONNECTIONS = 256
/** The pool is filled again when nothing was opened for so long, in ms. */
const CALM_MS = 300
const PSK = { psk: Buffer.alloc(32, 7), identity: 'bench' }
const TLS: SecureContextOptions = {
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
  ciphers: 'TLS_AES_128_GCM_SHA256',
  ecdhCurve: 'X25519',
  ca: [],
}

export interface BareRelay {
  /** The plain port, on loopback, that leads to the target. */
  readonly port: number
  stop(): void
}

type Role = 'connect' | 'proxy'

/** Starts both processes. @param target a port on loopback @param role of the one that programs connect to */
export async function startBareRelay(target: number, role: Role = 'connect'): Promise<BareRelay> {
  const serve = spawnRelay('serve', target)
  const connecting = spawnRelay(role, await portOf(serve))
  return {
    port: await portOf(connecting),
    stop() {
      connecting.kill('SIGKILL')
      serve.kill('SIGKILL')
    },
  }
}

function spawnRelay(role: 'serve' | Role, port: number): ChildProcess {
  return spawn(process.execPath, [import.meta.filename, role, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function portOf(child: ChildProcess): Promise<number> {
  if (child.stdout === null) throw new Error('the relay has no output')
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return Number(line.toString())
}

function serve(target: number): void {
  const settings = { ...TLS, secureContext: createSecureContext(TLS), pskCallback: () => PSK.psk }
  const server = createTlsServer({ ...settings, noDelay: true }, (outer) => {
    outer.once('data', (first: Buffer) => {
      const inner = connectPlain({ host: '127.0.0.1', port: target, noDelay: true })
      inner.write(first)
      copy(inner, outer)
    })
    outer.on('error', () => {})
  })
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
}

function createDialler(port: number): () => TLSSocket {
  const settings = { ...TLS, secureContext: createSecureContext(TLS), pskCallback: () => PSK }
  const checkServerIdentity = () => undefined
  return () => connectTls({ host: '127.0.0.1', port, ...settings, checkServerIdentity }).setNoDelay(true)
}

function proxy(port: number): void {
  const agent = new Agent({ keepAlive: true })
  agent.createConnection = createDialler(port)
  const server = createHttpServer((incoming, response) => {
    const { method, headers, url = '' } = incoming
    const outgoing = request({ agent, method, headers, path: new URL(url).pathname }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(outgoing)
  })
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
}

function listen(port: number): void {
  const dial = createDialler(port)
  const ready: TLSSocket[] = []
  const fill = () => {
    while (ready.length < READY_CONNECTIONS) ready.push(dial())
  }
  fill()
  let refill: NodeJS.Timeout | undefined
  const server = createServer({ noDelay: true }, (inner) => {
    clearTimeout(refill)
    refill = setTimeout(fill, CALM_MS)
    copy(inner, ready.shift() ?? dial())
  })
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
}

function copy(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('data', (bytes: Buffer) => {
      if (!to.write(bytes)) from.pause()
    })
    to.on('drain', () => from.resume())
    from.on('error', () => {})
    from.on('close', () => to.destroy())
  }
}

const [, program, role, port] = process.argv
if (program === import.meta.filename) {
  if (role === 'serve') serve(Number(port))
  else if (role === 'proxy') proxy(Number(port))
  else listen(Number(port))
}
