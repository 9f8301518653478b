/** The shape of a handler: parsed input in, a view out. No handler knows Express. */
import type { ParsedInput, RouteId, RouteOutput, Routes } from '@mesh/api-contract'
import type { Prepared } from '../messages/reply.ts'

/** An answer that is JSON text already, or no JSON. */
export interface PreparedAnswer extends Prepared {
  readonly prepared: true
}

export function prepared(answer: Prepared): PreparedAnswer {
  return { prepared: true, ...answer }
}

/** The parts of the request that a handler may ask for beside its parsed input. */
interface RequestContext {
  /** The body's JSON text as sent; empty for routes without one. */
  readonly bodyText: string
  /** The body of a route that takes bytes; else empty. */
  readonly bytes: Uint8Array
}

type Answer<Id extends RouteId> = RouteOutput<Routes[Id]> | PreparedAnswer
type Handler<Id extends RouteId> = (
  input: ParsedInput<Routes[Id]>,
  context: RequestContext,
) => Answer<Id> | Promise<Answer<Id>>

/** Routes that answer once; the event stream is served apart. */
export type AnsweringRouteId = Exclude<RouteId, 'watchEvents'>
export type Handlers = { readonly [Id in AnsweringRouteId]: Handler<Id> }
/** A part of the handlers, by the routes that it serves. */
export type HandlersOf<Ids extends AnsweringRouteId> = Pick<Handlers, Ids>
