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
import { type Clock, MeshError, toError } from '@mesh/core'
import { loopBudget, Scope } from '@mesh/core/limits'
import {
  IDLE_TUNNEL_MS,
  CLIENT_UNREAD_BYTES,
  MAX_HTTP_HEAD_BYTES,
  MAX_IDLE_TUNNELS,
  LOCAL_CONNECTIONS,
} from '../limits.ts'
import type { Traffic } from '../streams/splice.ts'
import { StreamDuplex } from '../streams/stream-duplex.ts'
import { answerOf, type OpenedStream } from '../wire/request.ts'
import { forward } from '../http/forward.ts'
import { HttpClient } from '../http/http-client.ts'
import type { Destination } from './open-tunnel.ts'

export interface HttpProxyInit {
  /** @throws as `openTunnel` */
  readonly open: (destination: Destination, signal: AbortSignal) => Promise<OpenedStream>
  /** Undefined: a tunnel is to be used. @throws as `openLegacyEgress` */
  readonly openLegacy: (signal: AbortSignal) => Promise<OpenedStream | undefined>
  /**
   * Joins a client with a tunnel, and says so with `answer`.
   * @param early came from the client behind its request
   * @throws as `openTunnel`
   */
  readonly join: (
    socket: Socket,
    destination: Destination,
    how: { readonly answer: string; readonly early: Uint8Array },
  ) => Promise<void>
  readonly onError: (error: Error) => void
  /** Counts what goes through tunnels of forwarded requests. */
  readonly traffic: Traffic
  readonly clock: Clock
}

type TunnelAgentInit = Pick<HttpProxyInit, 'open' | 'traffic' | 'clock'>

/** Where a request goes to, as Node's HTTP hands it on to its agent. */
interface RequestPlace {
  host?: string | null
  port?: string | number | null
  /** Aborts when the client has left: no tunnel is opened for it any more. */
  gone?: AbortSignal | undefined
}

const NEVER = new AbortController().signal

/** Keeps tunnels to an origin for its next requests. */
class TunnelAgent extends Agent {
  readonly #init: TunnelAgentInit
  /** Keeps a tunnel that is idle from being ended. */
  readonly #cancels = new WeakMap<Duplex, () => void>()

  constructor(init: TunnelAgentInit) {
    super({ keepAlive: true, maxFreeSockets: MAX_IDLE_TUNNELS, maxTotalSockets: LOCAL_CONNECTIONS.all })
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
    { host, port, gone }: RequestPlace,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const tell = callback as ((error: Error | null, stream?: Duplex) => void) | undefined
    void this.#connect({ host: host ?? '', port: Number(port) }, { gone, tell })
    return undefined
  }

  async #connect(
    destination: Destination,
    {
      gone = NEVER,
      tell,
    }: Pick<RequestPlace, 'gone'> & { tell: ((error: Error | null, stream?: Duplex) => void) | undefined },
  ): Promise<void> {
    try {
      const { open, traffic, clock } = this.#init
      const { stream, rest } = await open(destination, gone)
      tell?.(null, new StreamDuplex(stream, { head: rest, traffic, budget: loopBudget(clock) }))
    } catch (error) {
      tell?.(toError(error))
    }
  }
}

export function createHttpProxy(init: HttpProxyInit) {
  const { openLegacy, join, onError, traffic, clock } = init
  const budget = loopBudget(clock)
  const agent = new TunnelAgent(init)
  const server: Server = createServer({
    maxHeaderSize: MAX_HTTP_HEAD_BYTES,
    keepAliveTimeout: IDLE_TUNNEL_MS,
  })
  const shared = { server, clock, unread: new Scope(CLIENT_UNREAD_BYTES) }
  const clients = new WeakMap<object, HttpClient>()
  server.on('request', (incoming, response) => {
    clients.get(incoming.socket)?.take(incoming, response, () => void handleRequest(incoming, response))
  })
  server.on('connect', (incoming, duplex: Duplex, head) => {
    const client = clients.get(duplex)
    // what would take the connection over has no place behind others
    if (client === undefined || client.isBusy) duplex.destroy(new Error('a tunnel behind other requests'))
    else void handleConnect(incoming, client, head)
  })
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
    const left = new AbortController()
    const gone = left.signal
    response.once('close', () => left.abort(new Error('the client left')))
    try {
      // whom a tunnel leads through was chosen when it was opened
      const legacy = agent.hasIdle({ host, port }) ? undefined : await openLegacy(gone)
      const duplex = legacy && new StreamDuplex(legacy.stream, { head: legacy.rest, traffic, budget })
      // the agent keeps tunnels by host and port
      const connection =
        duplex === undefined ? { agent, host, port, gone } : { createConnection: () => duplex }
      const isLegacy = duplex !== undefined
      const to = { host: url.host, path, connection, isLegacy }
      await forward({ incoming, response, ...to, isHeldBehind: true }).finally(() => duplex?.destroy())
    } catch (error) {
      fail(response, error)
    }
  }

  async function handleConnect(
    incoming: IncomingMessage,
    client: HttpClient,
    head: Uint8Array,
  ): Promise<void> {
    const { socket, rest } = client.detach()
    const [, inBrackets, bare = '', digits] =
      /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(incoming.url ?? '') ?? []
    if (digits === undefined) return void socket.end(formatRefusal(400, 'CONNECT needs HOST:PORT'))
    try {
      const destination = { host: inBrackets ?? bare, port: Number(digits) }
      const answer = 'HTTP/1.1 200 Connection established\r\n\r\n'
      await join(socket, destination, { answer, early: Buffer.concat([head, rest]) })
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
    /** @param socket a client's, paused @param first what it sent first */
    take(socket: Socket, first: Uint8Array) {
      const client = new HttpClient(socket, first, shared)
      clients.set(client.duplex, client)
      client.read()
    },
    stop: () => agent.destroy(),
  }
}

export type HttpProxy = ReturnType<typeof createHttpProxy>

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
