import type { z } from 'zod'
import type { ErrorCode } from './errors.ts'

/** How a route answers: JSON by a schema, plain text, or server-sent events. */
export type Answer =
  | { readonly kind: 'json'; readonly schema: () => z.ZodType; readonly description: string }
  | { readonly kind: 'text'; readonly description: string }
  | { readonly kind: 'events'; readonly description: string }

/**
 * The level of token that a route needs, where the node asks for tokens. Each level includes those before it. `open` needs
 * none. `read` sees everything. `write` changes the ledger. `admin` changes members, offers and the node itself.
 */
export type AccessLevel = 'open' | 'read' | 'write' | 'admin'

/** One endpoint, defined once for server, client and documents. */
export interface RouteDefinition {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Express 5 form: `:name` is one segment, `*name` the rest of the path, slashes included. */
  readonly path: `/${string}`
  readonly summary: string
  readonly tag: 'network' | 'vpn' | 'ledger' | 'dns' | 'services' | 'access' | 'traffic' | 'node'
  /** The level that a token must have; `read` for a GET and `write` for others where it is left out (`levelOf`). */
  readonly level?: AccessLevel
  /** It reaches into the machine: served on unix sockets and loopback addresses only. */
  readonly isLocal?: true
  /** It does what its own user may do on the machine: served on the control socket only, which is that user's file. */
  readonly isOwnerOnly?: true
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  /** The schema of the JSON body, which is checked. */
  readonly body?: z.ZodType
  /** The body is bytes of a file, MAX_UPLOAD_PIECE_BYTES at most. */
  readonly takesBytes?: true
  readonly answer: Answer
  /** The codes that the route may answer with beside `http.*`, with which any route may. */
  readonly errors: readonly ErrorCode[]
}

/** Gives the level that a token must have to ask this route. */
export function levelOf({ level, method }: Pick<RouteDefinition, 'level' | 'method'>): AccessLevel {
  return level ?? (method === 'GET' ? 'read' : 'write')
}

type Subject = RouteDefinition['tag']
type Method = RouteDefinition['method']
type Path = RouteDefinition['path']

/** Gives what defines the routes of one subject, each by its method and path: `GET /api/dns`. Keeps literal types. */
export function routesOf<const Tag extends Subject>(tag: Tag) {
  return <
    const M extends Method,
    const P extends Path,
    const Rest extends Omit<RouteDefinition, 'method' | 'path' | 'tag'>,
  >(
    line: `${M} ${P}`,
    rest: Rest,
  ) => {
    const [method, path] = line.split(' ') as [M, P]
    return { method, path, tag, ...rest }
  }
}

type Inputs<Schema> = Schema extends z.ZodType ? z.input<Schema> : unknown
type Outputs<Schema> = Schema extends z.ZodType ? z.output<Schema> : unknown
type Part<Route, Name extends string> = Name extends keyof Route ? Route[Name] : undefined
type Flat<T> = { readonly [Key in keyof T]: T[Key] }

/**
 * The input as a caller gives it: parameters and query side by side, and `body` where the route takes one.
 */
export type RouteInput<Route extends RouteDefinition> = Flat<
  Inputs<Part<Route, 'params'>> &
    Inputs<Part<Route, 'query'>> &
    (Route extends { readonly takesBytes: true } ? { readonly body: Uint8Array<ArrayBuffer> } : unknown) &
    (Route extends { readonly body: infer Body extends z.ZodType }
      ? { readonly body: z.input<Body> }
      : unknown)
>

/** The input as a handler gets it, parsed; bytes come in its context. */
export type ParsedInput<Route extends RouteDefinition> = Flat<
  Outputs<Part<Route, 'params'>> &
    Outputs<Part<Route, 'query'>> &
    (Route extends { readonly body: infer Body extends z.ZodType }
      ? { readonly body: z.output<Body> }
      : unknown)
>

/** The output as the client returns it: parsed JSON, or text. */
export type RouteOutput<Route extends RouteDefinition> = Route['answer'] extends {
  readonly kind: 'json'
  readonly schema: () => infer Schema extends z.ZodType
}
  ? z.output<Schema>
  : string
