/** A Node HTTP server with bounds on everything, which answers also what is not HTTP in the API's own form. */
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
import { type ErrorCode, errorCatalogue } from '@mesh/api-contract'
import { type Clock, KeyedCounts, LoopTurns, type Random } from '@mesh/core'
import { Problem, problemBody, toProblem } from '../messages/problem.ts'
import { createRequestId } from '../messages/request-id.ts'
import { API_HEADERS, JSON_TYPE, sendProblem } from '../messages/reply.ts'
import { readHead } from '../messages/target.ts'
import { Arrivals } from './arrivals.ts'
import { createPieceBounds } from './body-pieces.ts'
import { HeadTurns } from './head-turns.ts'
import { otherMachineOf } from '../messages/other-machine.ts'
import { createPipelineBounds } from './pipelined-requests.ts'
import { ReadTurns } from './read-turns.ts'
import { RequestTurns } from './request-turns.ts'
import { stopReading } from './socket-reading.ts'
import { UnreadBytes } from './unread-bytes.ts'
import {
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_TIMEOUT_MS,
  LINGER_MS,
  MAX_CONNECTIONS,
  MAX_CONNECTIONS_PER_ADDRESS,
  MAX_HEADER_LINES,
  MAX_IDLE_PARSERS,
  MAX_REQUEST_HEAD_BYTES,
  REQUEST_TIMEOUT_MS,
  REQUESTS_TURN_MS,
  SOCKET_IDLE_TIMEOUT_MS,
  TIMEOUT_CHECK_INTERVAL_MS,
} from '../limits.ts'

interface HttpTimeouts {
  readonly headersMs: number
  readonly requestMs: number
  readonly checkIntervalMs: number
}

const DEFAULT_TIMEOUTS: HttpTimeouts = {
  headersMs: HEADERS_TIMEOUT_MS,
  requestMs: REQUEST_TIMEOUT_MS,
  checkIntervalMs: TIMEOUT_CHECK_INTERVAL_MS,
}

export function createHttpServer(
  app: RequestListener,
  { clock, random }: { clock: Clock; random: Random },
  timeouts = DEFAULT_TIMEOUTS,
): Server {
  setMaxIdleHTTPParsers(MAX_IDLE_PARSERS)
  const inFlight = new WeakMap<Duplex, Set<ServerResponse>>()
  const arrivals = new Arrivals(clock)
  const turns = new RequestTurns(clock, arrivals)
  const unread = new UnreadBytes(clock)
  const heads = new HeadTurns({ onBegin: begin, beforeTurn: () => void unread.enforce() }, clock)
  const reads = new ReadTurns(clock, (socket, isLong) => heads.came(socket, isLong))
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    remember(inFlight, req.socket, res)
    unread.begins(req, res)
    heads.begins(req, res)
    res.on('finish', () => {
      if (!req.complete) cutOff(req.socket, clock)
    })
    turns.take(req, res, () => {
      try {
        readHead(req)
      } catch (error) {
        const problem = toProblem(error)
        // who sends heads of half a megabyte needs a connection for each of them
        if (TOO_LONG.has(problem.code)) res.setHeader('Connection', 'close')
        sendProblem(res, problem, createRequestId(random))
        return
      }
      app(req, res)
    })
  }
  const server = createServer(
    {
      maxHeaderSize: MAX_REQUEST_HEAD_BYTES,
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      connectionsCheckingInterval: timeouts.checkIntervalMs,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // the guard answers a missing Host in the API's form
      requireHostHeader: false,
    },
    handle,
  )
  server.maxHeadersCount = MAX_HEADER_LINES
  server.maxConnections = MAX_CONNECTIONS
  server.setTimeout(SOCKET_IDLE_TIMEOUT_MS)
  const nodesOwn = takeConnections(server)
  const hasRoom = limitConnections()
  server.on('connection', (socket: Socket) => {
    arrivals.note()
    if (hasRoom(socket)) heads.watch(socket)
    else socket.destroy()
  })
  // who expects `100-continue` gets it when the body is read; another expectation may be ignored
  server.on('checkContinue', handle)
  server.on('checkExpectation', handle)
  const answerLast = createLastAnswer(inFlight, clock, random)
  const endWith = (socket: Socket, { message, hint }: typeof TOO_MANY_AT_ONCE) => {
    stopReading(socket)
    answerLast(socket, new Problem('http.bad_request', message, { hint }))
  }
  const [boundPipelining, boundPieces] = [createPipelineBounds(), createPieceBounds()]
  function begin(socket: Socket): void {
    nodesOwn(socket)
    reads.watch(socket)
    unread.watch(socket)
    boundPipelining(socket, () => endWith(socket, TOO_MANY_AT_ONCE))
    boundPieces(socket, () => endWith(socket, TOO_MANY_PIECES))
  }
  server.on('connect', (_req, socket: Duplex) => answerLast(socket, new Problem('http.method_not_allowed')))
  // thousands of connections may end in the middle of a request at once, or have no time left
  const endTurns = new LoopTurns(REQUESTS_TURN_MS, clock)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const end = () => {
      if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
      else answerLast(socket, problemOf(error))
    }
    if (endTurns.isTimeLeft()) end()
    else endTurns.later(end)
  })
  return server
}

/** Keeps Node from reading a new connection and parsing it at once; gives what has it do so. */
function takeConnections(server: Server): (socket: Socket) => void {
  ;(server as { pauseOnConnect?: boolean }).pauseOnConnect = true
  const nodesOwn = server.listeners('connection')
  server.removeAllListeners('connection')
  return (socket) => {
    for (const listener of nodesOwn) listener.call(server, socket)
  }
}

/** No other machine takes all the connections. */
function limitConnections() {
  const counts = new KeyedCounts<string>()
  return (socket: Socket): boolean => {
    const group = otherMachineOf(socket.remoteAddress)
    if (group === undefined) return true
    const count = counts.add(group)
    socket.on('close', () => counts.remove(group))
    return count <= MAX_CONNECTIONS_PER_ADDRESS
  }
}

function remember(inFlight: WeakMap<Duplex, Set<ServerResponse>>, socket: Socket, res: ServerResponse): void {
  const responses = inFlight.get(socket) ?? new Set()
  inFlight.set(socket, responses.add(res))
  res.on('close', () => responses.delete(res))
}

/** Tells what is wrong with bytes that are no request. */
function problemOf(error: NodeJS.ErrnoException): Problem {
  const code = CODES.get(error.code ?? '') ?? 'http.bad_request'
  return new Problem(code, undefined, { cause: error })
}

const TOO_MANY_AT_ONCE = {
  message: 'Too many requests with bodies at once on one connection',
  hint: 'Wait for the answers first.',
}
const TOO_MANY_PIECES = {
  message: 'A body in too many pieces at once',
  hint: 'Send it in larger chunks.',
}

const TOO_LONG: ReadonlySet<ErrorCode> = new Set(['http.headers_too_large', 'http.path_too_long'])

const CODES = new Map<string, ErrorCode>([
  ['HPE_HEADER_OVERFLOW', 'http.headers_too_large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'http.body_too_large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'http.timeout'],
])

/**
 * Answers once and ends the connection: after the answers to the requests before, unless the error lies in the body
 * of one of them.
 */
function createLastAnswer(inFlight: WeakMap<Duplex, Set<ServerResponse>>, clock: Clock, random: Random) {
  const answered = new WeakSet<Duplex>()
  return (socket: Duplex, problem: Problem) => {
    if (answered.has(socket)) return
    answered.add(socket)
    const waiting = [...(inFlight.get(socket) ?? [])]
    const finish = () => {
      if (waiting.some((res) => res.headersSent && !res.writableFinished)) socket.destroy()
      else socket.end(rawAnswer(problem, createRequestId(random)))
      cutOff(socket, clock)
    }
    const last = waiting.at(-1)
    if (last === undefined || waiting.some((res) => !res.req.complete)) finish()
    else last.once('close', finish)
  }
}

/** The connections that will be cut. */
const leaving = new WeakSet<Duplex>()

/** Answered already: its sender may go on for a moment, so that it reads the answer instead of a reset. */
function cutOff(socket: Duplex, clock: Clock): void {
  if (leaving.has(socket)) return
  leaving.add(socket)
  const cancel = clock.after(LINGER_MS, () => socket.destroy())
  socket.once('close', cancel)
}

function rawAnswer(problem: Problem, requestId: string): string {
  const { status } = errorCatalogue[problem.code]
  const body = `${JSON.stringify(problemBody(problem, requestId))}\n`
  const headers = Object.entries({
    ...API_HEADERS,
    'Content-Type': JSON_TYPE,
    'Content-Length': Buffer.byteLength(body),
    'X-Request-ID': requestId,
    Connection: 'close',
  })
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `HTTP/1.1 ${status} ${problem.code}\r\n${lines}\r\n${body}`
}
