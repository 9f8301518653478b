/** Node's HTTP server with bounds on everything. Answers what is not HTTP in the API's own form, too. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  setMaxIdleHTTPParsers,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ErrorCode, MAX_HEAD_BYTES, routes } from '@mesh/api-contract'
import { addressGroup, type Clock, type Random } from '@mesh/core'
import { createRate, type Lane, loopBudget, Scope } from '@mesh/core/limits'
import { Problem, toProblem } from '../messages/problem.ts'
import { createRequestId } from '../messages/request-id.ts'
import { rawProblem, sendProblem } from '../messages/reply.ts'
import { readHead } from '../messages/target.ts'
import {
  HEADERS_TIMEOUT_MS,
  HEALTH_CHECKS,
  KEEP_ALIVE_TIMEOUT_MS,
  LINGER_MS,
  MAX_CONNECTIONS,
  MAX_HEADER_LINES,
  MAX_IDLE_PARSERS,
  REMOTE_CONNECTIONS,
  REQUEST_TIMEOUT_MS,
  SOCKET_IDLE_TIMEOUT_MS,
  TIMEOUT_CHECK_INTERVAL_MS,
} from '../limits.ts'
import { ClientConnection } from './client-connection.ts'
import { otherMachineOf } from '../messages/other-machine.ts'

const TIMEOUTS = {
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
}

export function createHttpServer(
  app: RequestListener,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  timeouts = TIMEOUTS,
): Server {
  setMaxIdleHTTPParsers(MAX_IDLE_PARSERS)
  const server = createServer({
    maxHeaderSize: MAX_HEAD_BYTES,
    ...timeouts,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // the guard answers a missing Host in the API's form
    requireHostHeader: false,
  })
  server.maxHeadersCount = MAX_HEADER_LINES
  server.maxConnections = MAX_CONNECTIONS
  server.setTimeout(SOCKET_IDLE_TIMEOUT_MS)
  passConnections(server, clock)
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    res.once('finish', () => {
      if (!req.complete) cutOff(req.socket, clock)
    })
    connectionOf(req.socket)?.queue(res, () => {
      try {
        readHead(req)
      } catch (error) {
        sendProblem(res, toProblem(error), createRequestId(random))
        return
      }
      app(req, res)
    })
  }
  server.on('request', handle)
  // a client that expects `100-continue` gets it when the body is read; another expectation may be ignored
  server.on('checkContinue', handle)
  server.on('checkExpectation', handle)
  const answered = new WeakSet<Duplex>()
  /** Answers once and ends the connection; without an answer where another one has begun. */
  const answerLast = (socket: Duplex, problem: Problem) => {
    if (answered.has(socket)) return
    answered.add(socket)
    const last = connectionOf(socket)?.unanswered
    const finish = () => {
      if (last?.headersSent === true && !last.writableFinished) socket.destroy()
      else socket.end(rawProblem(problem, createRequestId(random)))
      cutOff(socket, clock)
    }
    if (last?.req.complete === true) last.once('close', finish)
    else finish()
  }
  server.on('connect', (_req, socket) => answerLast(socket, new Problem('http.method_not_allowed')))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (socket.writable) answerLast(socket, problemOf(error, connectionOf(socket)))
    else socket.destroy()
  })
  return server
}

/** Hands connections to Node's HTTP, those that have a place. */
function passConnections(server: Server, clock: Clock): void {
  const budget = loopBudget(clock)
  const healthChecks = createRate({ perAddress: HEALTH_CHECKS }, clock)
  const remote = new Scope(REMOTE_CONNECTIONS)
  const passOn = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const address = otherMachineOf(socket.remoteAddress)
    if (address !== undefined) {
      const place = remote.reserve({ address, end: () => socket.destroy() })
      if (place === undefined) return socket.destroy()
      socket.once('close', () => place.release())
    }
    const key = addressGroup(socket.remoteAddress ?? '')
    const lane: Lane = address === undefined ? 'members' : 'strangers'
    const laneOf = (piece: Buffer) =>
      isHealthCheck(piece) && healthChecks.take({ address: key }) ? 'health' : lane
    const connection = new ClientConnection(socket, { budget, laneOf, key })
    for (const listener of passOn) listener.call(server, connection)
  })
}

const HEALTH_CHECK_STARTS = [routes.getLiveness, routes.getReadiness].map(({ path }) =>
  Buffer.from(`GET ${path} `),
)

function isHealthCheck(piece: Buffer): boolean {
  return HEALTH_CHECK_STARTS.some((start) => piece.subarray(0, start.length).equals(start))
}

function connectionOf(socket: Duplex): ClientConnection | undefined {
  return socket instanceof ClientConnection ? socket : undefined
}

/** Tells what is wrong with bytes that are no request. */
function problemOf(error: NodeJS.ErrnoException, connection: ClientConnection | undefined): Problem {
  const isPath = error.code === 'HPE_HEADER_OVERFLOW' && connection?.isPastPath === false
  const code = isPath ? 'http.path_too_long' : (CODES[error.code ?? ''] ?? 'http.bad_request')
  return new Problem(code, undefined, { cause: error })
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'http.headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'http.body_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'http.timeout',
}

/** The connections that will be cut. */
const leaving = new WeakSet<Duplex>()

/** Lets the client send on for a moment after its answer, so that it reads the answer instead of a reset. */
function cutOff(socket: Duplex, clock: Clock): void {
  if (leaving.has(socket)) return
  leaving.add(socket)
  const cancel = clock.after(LINGER_MS, () => socket.destroy())
  socket.once('close', cancel)
}
