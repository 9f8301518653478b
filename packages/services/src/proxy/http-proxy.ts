/** The HTTP side of the proxy: requests in absolute form are forwarded, CONNECT opens a tunnel. */
import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { MeshError } from '@mesh/core'
import { asError } from '../errors.ts'
import { IDLE_TUNNEL_MS, MAX_HTTP_HEAD_BYTES, MAX_IDLE_TUNNELS, MAX_LOCAL_CONNECTIONS } from '../limits.ts'
import { StreamDuplex } from '../streams/stream-duplex.ts'
import { answerOf } from '../wire/request.ts'
import { forward } from './forward.ts'
import type { Destination, WayOut } from './open-tunnel.ts'

export interface HttpProxyInit {
  /** @throws as `openWayOut` */
  readonly open: (destination: Destination, allowLegacy: boolean) => Promise<WayOut>
  /** Joins a client and what was opened for it. @param early came from the client behind its request */
  readonly join: (socket: Socket, way: WayOut, early: Uint8Array) => void
  readonly onError: (error: Error) => void
}

export interface HttpProxy {
  /** A client's connection; what it sent must still be readable. */
  take(socket: Socket): void
  stop(): void
}

/** What a legacy egress node gave in place of a tunnel: one request goes over it. */
class LegacyWay extends Error {
  readonly way: WayOut
  constructor(way: WayOut) {
    super('not a tunnel')
    this.way = way
  }
}

/** Keeps tunnels to an origin for its next requests. */
class TunnelAgent extends Agent {
  readonly #open: HttpProxyInit['open']
  constructor(open: HttpProxyInit['open']) {
    super({ keepAlive: true, maxFreeSockets: MAX_IDLE_TUNNELS, maxTotalSockets: MAX_LOCAL_CONNECTIONS })
    this.#open = open
  }

  override createConnection(
    { host, port }: { host?: string | null; port?: string | number | null },
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const tell = callback as ((error: Error | null, stream?: Duplex) => void) | undefined
    void this.#connect({ host: host ?? '', port: Number(port) }, tell)
    return undefined
  }

  async #connect(
    destination: Destination,
    tell: ((error: Error | null, stream?: Duplex) => void) | undefined,
  ): Promise<void> {
    try {
      const way = await this.#open(destination, true)
      if (way.kind === 'legacy') throw new LegacyWay(way)
      tell?.(null, new StreamDuplex(way.stream, way.rest))
    } catch (error) {
      tell?.(asError(error))
    }
  }
}

export function createHttpProxy({ open, join, onError }: HttpProxyInit): HttpProxy {
  const agent = new TunnelAgent(open)
  const server: Server = createServer({
    maxHeaderSize: MAX_HTTP_HEAD_BYTES,
    keepAliveTimeout: IDLE_TUNNEL_MS,
  })
  server.on('request', (incoming, response) => void handleRequest(incoming, response))
  server.on('connect', (incoming, socket, head) => void handleConnect(incoming, socket as Socket, head))
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end(formatRefusal(400, 'this is no HTTP request'))
  })

  async function handleRequest(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.parse(incoming.url ?? '')
    if (url === null || url.protocol !== 'http:' || url.hostname === '') {
      return refuse(response, 400, 'this is a proxy: set it as the HTTP or SOCKS5 proxy of a program')
    }
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const port = url.port === '' ? 80 : Number(url.port)
    const path = `${url.pathname}${url.search}`
    const forwarding = { incoming, response, host: url.host, path }
    try {
      // the agent keeps tunnels by host and port
      await forward({ ...forwarding, connection: { agent, host, port } })
    } catch (error) {
      if (!(error instanceof LegacyWay)) return fail(response, error)
      const duplex = new StreamDuplex(error.way.stream, error.way.rest)
      await forward({ ...forwarding, connection: { createConnection: () => duplex } }).catch(
        (reason: unknown) => fail(response, reason),
      )
      duplex.destroy()
    }
  }

  async function handleConnect(incoming: IncomingMessage, socket: Socket, head: Uint8Array): Promise<void> {
    socket.on('error', () => {})
    const [, inBrackets, bare = '', digits] =
      /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(incoming.url ?? '') ?? []
    if (digits === undefined) return void socket.end(formatRefusal(400, 'CONNECT needs HOST:PORT'))
    try {
      const way = await open({ host: inBrackets ?? bare, port: Number(digits) }, false)
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      join(socket, way, head)
    } catch (error) {
      onError(asError(error))
      socket.end(formatRefusal(statusOf(error), asError(error).message))
    }
  }

  function fail(response: ServerResponse, error: unknown): void {
    onError(asError(error))
    if (response.headersSent) response.destroy()
    else refuse(response, statusOf(error), asError(error).message)
  }

  return {
    take: (socket) => void server.emit('connection', socket),
    stop() {
      agent.destroy()
      server.closeAllConnections()
    },
  }
}

function refuse(response: ServerResponse, status: number, reason: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
  response.end(`mesh proxy: ${reason}\n`)
}

function formatRefusal(status: number, reason: string): string {
  const body = `mesh proxy: ${reason}\n`
  return `HTTP/1.1 ${status} ${STATUS.get(status) ?? 'Refused'}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
}

const STATUS: ReadonlyMap<number, string> = new Map([
  [400, 'Bad Request'],
  [403, 'Forbidden'],
  [502, 'Bad Gateway'],
  [503, 'Service Unavailable'],
  [504, 'Gateway Timeout'],
])

function statusOf(error: unknown): number {
  const answer = answerOf(error)
  if (answer === 'forbidden') return 403
  if (answer === 'bad_request') return 400
  const code = error instanceof MeshError ? error.code : undefined
  if (code === 'services.no_provider') return 503
  return code === 'services.timeout' ? 504 : 502
}
