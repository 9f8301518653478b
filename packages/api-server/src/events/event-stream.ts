import type { EventType } from '@mesh/api-contract'
import type { Request, Response } from 'express'
import type { StillAllowed } from '../auth/authenticator.ts'
import { Problem } from '../messages/problem.ts'
import { API_HEADERS } from '../messages/reply.ts'
import type { EventHub } from './event-hub.ts'
import type { ReaderPlaces } from '../messages/reader-places.ts'

/** The parts that a stream is made of. */
export interface EventStreamComponents {
  readonly hub: EventHub
  readonly readers: ReaderPlaces
  /** False as soon as the reader's token is revoked, which ends the stream with what would come next. */
  readonly stillAllowed: StillAllowed
}

/** The query of the request, parsed. */
export interface EventsInput {
  readonly types?: readonly EventType[] | undefined
  readonly last?: number | undefined
}

/**
 * Answers with the stream; it ends with the connection.
 * @throws Problem `events.too_many_readers`
 */
export function serveEvents(
  { hub, readers, stillAllowed }: EventStreamComponents,
  req: Request,
  res: Response,
  { types, last }: EventsInput,
): void {
  const headers = { ...API_HEADERS, 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' }
  if (req.method === 'HEAD') {
    res.writeHead(200, headers).end()
    return
  }
  const place = readers.reserve(req.socket.remoteAddress, () => res.destroy())
  if (place === undefined) throw new Problem('events.too_many_readers')
  res.writeHead(200, headers)
  const lastEventId = req.get('Last-Event-ID')
  const leave = hub.read({
    types: types === undefined ? undefined : new Set(types),
    ...(last !== undefined && { last }),
    lastEventId: lastEventId === '' ? undefined : lastEventId,
    write: (text) => {
      if (stillAllowed()) return res.write(text)
      res.end()
      return true
    },
    onReady: (callback) => res.once('drain', callback),
    end: () => res.end(),
  })
  res.on('close', () => {
    leave()
    place.release()
  })
}
