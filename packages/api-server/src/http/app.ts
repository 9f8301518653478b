/**
 * One Express application for each listener; they share everything else. A request passes, in this order:
 *
 * 1. Host check (TCP) and Origin check (TCP, for data).
 * 2. Rate of writes.
 * 3. The token and its level (not on the control socket), and the announced size of the body.
 * 4. The route: the contract parses the input, the handler answers.
 * 5. The web page, then the error's answer.
 */
import {
  levelOf,
  MAX_BODY_BYTES,
  MAX_UPLOAD_PIECE_BYTES,
  routes,
  type RouteDefinition,
} from '@mesh/api-contract'
import { type Clock, isLoopback, type Logger, type Random } from '@mesh/core'
import type { RateLimit, Scope } from '@mesh/core/limits'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { type Authenticator, openToAll, type StillAllowed } from '../auth/authenticator.ts'
import type { EventHub } from '../events/event-hub.ts'
import { type EventsInput, serveEvents } from '../events/event-stream.ts'
import type { ReaderPlaces } from '../messages/reader-places.ts'
import type { AnsweringRouteId, Handlers, PreparedAnswer } from '../handlers/handler.ts'
import type { AssetsPort, BrowserMembersPort } from '../ports.ts'
import type { RequestCounts } from '../views/request-counts.ts'
import { checkAnnouncedSize, parseJsonBody, readBody, readBytes } from './body.ts'
import type { Guard } from './guard.ts'
import { parseInput } from './input.ts'
import { isJoinPath, serveJoinPage } from './join-page.ts'
import { servePage } from './pages.ts'
import { type Profiles, serveProfiles } from './profiles.ts'
import { Problem, toProblem } from '../messages/problem.ts'
import { createRequestId } from '../messages/request-id.ts'
import { send, sendJson, sendProblem, splitTarget } from '../messages/reply.ts'
import { emptySegment } from '../messages/target.ts'

export interface AppComponents {
  readonly handlers: Handlers
  readonly hub: EventHub
  readonly guard: Guard
  /** Asked on all listeners but the control socket; shared by them. */
  readonly authenticator: Authenticator
  /** Readers of events on all listeners. */
  readonly eventReaders: ReaderPlaces
  /** Readers of large answers on all listeners. */
  readonly largeReaders: ReaderPlaces
  /** Bytes of bodies that have not come whole, on all listeners. */
  readonly bodies: Scope
  readonly clock: Clock
  readonly writes: Pick<RateLimit, 'take'>
  readonly counts: RequestCounts
  readonly assets: AssetsPort | undefined
  readonly browserMembers: BrowserMembersPort | undefined
  /** Undefined unless the node was started for debugging: then the web page is served in place of profiles. */
  readonly profiles: Profiles | undefined
  readonly logger: Logger
  readonly random: Random
}

/** Where an application answers: of unix sockets the files' permissions guard, and the control socket's is its owner's. */
export type ListenerKind = 'tcp' | 'unix' | 'control'

export function createApp(shared: AppComponents, kind: ListenerKind): Express {
  const components = { ...shared, authenticator: kind === 'control' ? openToAll : shared.authenticator }
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('strict routing')
  app.enable('case sensitive routing')
  app.set('query parser', false)
  app.use(checkMiddleware(components, kind))
  serveRoutes(app, components, kind)
  if (components.profiles !== undefined) serveProfiles(app, components.profiles)
  app.use((req, res) => serveOther(components, req, res))
  app.use(answerProblem(components))
  return app
}

/** One middleware for steps 1 to 4: each one costs every request its time. */
function checkMiddleware(components: AppComponents, kind: ListenerKind) {
  const { counts, authenticator } = components
  return (req: Request, res: Response, next: NextFunction) => {
    res.once('finish', () => counts.add(String(res.locals['route'] ?? 'none'), res.statusCode))
    const { path } = splitTarget(req.url)
    if (kind === 'tcp') checkSender(components, req, res, path)
    // profiles are no routes of the contract
    if (/^\/debug(\/|$)/.test(path) && req.method !== 'OPTIONS') authenticator.check(req, 'admin')
    next()
  }
}

function checkSender({ guard, writes }: AppComponents, req: Request, res: Response, path: string): void {
  guard.checkHost(req)
  if (isDataPath(path)) guard.checkOrigin(req, res)
  const isWrite = req.method === 'PUT' || req.method === 'POST' || req.method === 'DELETE'
  if (!isWrite) return
  const address = req.socket.remoteAddress ?? ''
  if (!isLoopback(address) && !writes.take({ address })) throw new Problem('http.rate_limited')
}

/** True for paths that pages of others must not read or change; the web page itself may be linked to. */
function isDataPath(path: string): boolean {
  return /^\/(api|debug|metrics)(\/|$)/.test(path)
}

/** Routes that share a path, so that other methods are answered with what it takes. */
function serveRoutes(app: Express, components: AppComponents, kind: ListenerKind): void {
  const byPath = Map.groupBy(Object.entries<RouteDefinition>(routes), ([, route]) => route.path)
  // Express tries one route after the other: those of the ledger are asked for most
  const paths = [...byPath].sort(([a], [b]) => Number(isLedgerPath(b)) - Number(isLedgerPath(a)))
  for (const [path, entries] of paths) {
    const methods = entries.flatMap(([, { method }]) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    const allow = [...methods, 'OPTIONS'].join(', ')
    const served = app.route(path)
    for (const [id, route] of entries) {
      const serve = (req: Request, res: Response) => {
        const stillAllowed = components.authenticator.check(req, levelOf(route))
        checkPlace(route, kind, req)
        checkAnnouncedSize(req, maxBodyBytes(route))
        return serveRoute(components, { id, route, stillAllowed }, req, res)
      }
      served[route.method.toLowerCase() as 'get' | 'put' | 'post' | 'delete'](serve)
    }
    served.options((_req, res) => answerOptions(res, allow))
    served.all(() => {
      throw new Problem('http.method_not_allowed', `this address takes ${allow}`, {
        headers: { Allow: allow },
      })
    })
  }
}

const isLedgerPath = (path: string): boolean => path.startsWith('/api/ledger')

/** @throws Problem `node.local_only`, `node.owner_only` */
function checkPlace({ isLocal, isOwnerOnly }: RouteDefinition, kind: ListenerKind, req: Request): void {
  const isHere = kind !== 'tcp' || isLoopback(req.socket.remoteAddress ?? '')
  if (isLocal === true && !isHere) throw new Problem('node.local_only')
  if (isOwnerOnly === true && kind !== 'control') throw new Problem('node.owner_only')
}

const NO_BYTES = new Uint8Array()

const maxBodyBytes = ({ takesBytes }: RouteDefinition): number =>
  takesBytes === true ? MAX_UPLOAD_PIECE_BYTES : MAX_BODY_BYTES

interface Served {
  readonly id: string
  readonly route: RouteDefinition
  readonly stillAllowed: StillAllowed
}

async function serveRoute(
  { handlers, hub, eventReaders, largeReaders, bodies, clock }: AppComponents,
  { id, route, stillAllowed }: Served,
  req: Request,
  res: Response,
): Promise<void> {
  res.locals['route'] = id
  const body = route.body === undefined ? undefined : parseJsonBody(await readBody(req, res, bodies))
  const bytes = route.takesBytes === true ? await readBytes(req, res, bodies, maxBodyBytes(route)) : NO_BYTES
  const input = parseInput(route, req, body)
  if (route.answer.kind === 'events') {
    return serveEvents({ hub, readers: eventReaders, stillAllowed }, req, res, input as EventsInput)
  }
  // the table of handlers has one for each route, by the same ids
  const handler = handlers[id as AnsweringRouteId] as (input: object, context: object) => unknown
  const answer = await handler(input, { bodyText: body?.text ?? '', bytes })
  if (isPrepared(answer)) await send(req, res, answer, { readers: largeReaders, clock })
  else sendJson(req, res, answer)
}

function isPrepared(answer: unknown): answer is PreparedAnswer {
  return typeof answer === 'object' && answer !== null && 'prepared' in answer
}

/** @throws Problem `http.not_found`, `http.bad_path` */
async function serveOther(components: AppComponents, req: Request, res: Response): Promise<void> {
  const { assets, browserMembers } = components
  const { path } = splitTarget(req.url)
  const problem = emptySegment(path)
  if (problem !== undefined) throw problem
  const isApi = path === '/api' || path.startsWith('/api/')
  if (isApi) throw new Problem('http.not_found', `nothing is served at ${JSON.stringify(path.slice(0, 200))}`)
  if (req.method === 'OPTIONS') return answerOptions(res, 'GET, HEAD, OPTIONS')
  if (browserMembers !== undefined && isJoinPath(path)) await serveJoinPage(browserMembers, req, res)
  else await servePage(assets, req, res)
}

function answerOptions(res: Response, allow: string): void {
  res.writeHead(204, { Allow: allow, 'Cache-Control': 'no-store' }).end()
}

function answerProblem({ logger, random }: AppComponents) {
  // Express knows an error handler by its four parameters
  return (error: unknown, req: Request, res: Response, _next: NextFunction) => {
    const problem = toProblem(error)
    const requestId = createRequestId(random)
    if (problem.code === 'http.internal') {
      logger.error('request failed', { requestId, method: req.method, path: req.path, error: problem.cause })
    }
    sendProblem(res, problem, requestId)
  }
}
