/** The HTTP side of the proxy: requests in absolute form are forwarded, CONNECT opens a tunnel. */
import {
  Agent,
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Clock, LoopTurns, MeshError, toError } from '@mesh/core'
import {
  IDLE_TUNNEL_MS,
  MAX_HTTP_HEAD_BYTES,
  MAX_IDLE_TUNNELS,
  MAX_LOCAL_CONNECTIONS,
  PARSING_TURN_MS,
} from '../limits.ts'
import type { Traffic } from '../streams/splice.ts'
import { StreamDuplex } from '../streams/stream-duplex.ts'
import { answerOf, type OpenedStream } from '../wire/request.ts'
import { forward } from './forward.ts'
import type { Destination } from './open-tunnel.ts'

export interface HttpProxyInit {
  /** @throws as `openTunnel` */
  readonly open: (destination: Destination) => Promise<OpenedStream>
  /** Undefined: a tunnel is to be used. @throws as `openLegacyEgress` */
  readonly openLegacy: () => Promise<OpenedStream | undefined>
  /** Joins a client and what was opened for it. @param early came from the client behind its request */
  readonly join: (socket: Socket, tunnel: OpenedStream, early: Uint8Array) => void
  readonly onError: (error: Error) => void
  /** Counts what goes through tunnels of forwarded requests. */
  readonly traffic: Traffic
  readonly clock: Clock
}

export interface HttpProxy {
  /** A client's connection; what it sent must still be readable. */
  take(socket: Socket): void
  stop(): void
}

interface TunnelAgentInit extends Pick<HttpProxyInit, 'open' | 'traffic' | 'clock'> {
  /** The turns in which the answers of origins are parsed. */
  readonly turns: LoopTurns
}

/** Keeps tunnels to an origin for its next requests. */
class TunnelAgent extends Agent {
  readonly #init: TunnelAgentInit
  /** Keeps a tunnel that is idle from being ended. */
  readonly #cancels = new WeakMap<Duplex, () => void>()

  constructor(init: TunnelAgentInit) {
    super({ keepAlive: true, maxFreeSockets: MAX_IDLE_TUNNELS, maxTotalSockets: MAX_LOCAL_CONNECTIONS })
    this.#init = init
  }

  /** Is there a tunnel that the next request can go through at once? */
  hasIdle(destination: Destination): boolean {
    return this.freeSockets[this.getName(destination)]?.some(({ destroyed }) => !destroyed) === true
  }

  override keepSocketAlive(tunnel: Duplex): boolean {
    this.#cancels.set(
      tunnel,
      this.#init.clock.after(IDLE_TUNNEL_MS, () => tunnel.destroy()),
    )
    return true
  }

  override reuseSocket(tunnel: Duplex, request: ClientRequest): void {
    request.reusedSocket = true
    this.#cancels.get(tunnel)?.()
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
      const { open, traffic, turns } = this.#init
      const { stream, rest } = await open(destination)
      tell?.(null, new StreamDuplex(stream, { head: rest, traffic, turns }))
    } catch (error) {
      tell?.(toError(error))
    }
  }
}

export function createHttpProxy(init: HttpProxyInit): HttpProxy {
  const { open, openLegacy, join, onError, traffic } = init
  const turns = new LoopTurns(PARSING_TURN_MS, init.clock)
  const agent = new TunnelAgent({ ...init, turns })
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
    try {
      // whom a tunnel leads through was chosen when it was opened
      const legacy = agent.hasIdle({ host, port }) ? undefined : await openLegacy()
      const duplex = legacy && new StreamDuplex(legacy.stream, { head: legacy.rest, traffic, turns })
      // the agent keeps tunnels by host and port
      const connection = duplex === undefined ? { agent, host, port } : { createConnection: () => duplex }
      const isLegacy = duplex !== undefined
      await forward({ incoming, response, host: url.host, path, connection, isLegacy })
      duplex?.destroy()
    } catch (error) {
      fail(response, error)
    }
  }

  async function handleConnect(incoming: IncomingMessage, socket: Socket, head: Uint8Array): Promise<void> {
    socket.on('error', () => {})
    const [, inBrackets, bare = '', digits] =
      /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(incoming.url ?? '') ?? []
    if (digits === undefined) return void socket.end(formatRefusal(400, 'CONNECT needs HOST:PORT'))
    try {
      const tunnel = await open({ host: inBrackets ?? bare, port: Number(digits) })
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      join(socket, tunnel, head)
    } catch (error) {
      onError(toError(error))
      socket.end(formatRefusal(statusOf(error), toError(error).message))
    }
  }

  function fail(response: ServerResponse, error: unknown): void {
    onError(toError(error))
    if (response.headersSent) response.destroy()
    else refuse(response, statusOf(error), toError(error).message)
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
