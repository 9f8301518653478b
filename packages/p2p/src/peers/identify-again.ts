/**
 * Asks peers again who they are, while they have not answered. libp2p 3.3.11 runs identify once for each connection: where
 * the answer does not come in time, as on a busy machine, a peer would be connected for hours and nobody would know
 * that it is a member.
 */
import type { Connection, IdentifyResult } from '@libp2p/interface'
import type { Clock, Logger } from '@mesh/core'
import {
  IDENTIFY_AGAIN_MOST_MS,
  IDENTIFY_AGAIN_MS,
  IDENTIFY_LOOK_MS,
  MAX_IDENTIFIED_AT_ONCE,
} from './limits.ts'
import type { SpokenProtocols } from './spoken-protocols.ts'

interface IdentifyingHost {
  getConnections(): readonly Connection[]
  readonly services: {
    readonly identify: { identify(connection: Connection): Promise<IdentifyResult> }
  }
}

interface IdentifyAgainComponents {
  readonly host: IdentifyingHost
  readonly spoken: Pick<SpokenProtocols, 'of'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Begins to ask; gives the function that stops it. */
export function identifyAgain({ host, spoken, clock, logger }: IdentifyAgainComponents): () => void {
  const log = logger.child('peers')
  /** When a connection is asked next, and how long after that again; monotonic time and durations in ms. */
  const due = new WeakMap<Connection, { readonly atMs: number; readonly pauseMs: number }>()
  let cancel = () => {}

  /** One that is seen for the first time has just been asked by libp2p. */
  function isDue(connection: Connection, nowMs: number): boolean {
    if (connection.status !== 'open' || spoken.of(connection.remotePeer.toString()) !== undefined)
      return false
    const known = due.get(connection)
    if (known === undefined)
      due.set(connection, { atMs: nowMs + IDENTIFY_AGAIN_MS, pauseMs: IDENTIFY_AGAIN_MS })
    return known !== undefined && nowMs >= known.atMs
  }

  async function ask(connection: Connection, nowMs: number): Promise<void> {
    const pauseMs = Math.min(IDENTIFY_AGAIN_MOST_MS, 2 * (due.get(connection)?.pauseMs ?? IDENTIFY_AGAIN_MS))
    due.set(connection, { atMs: nowMs + pauseMs, pauseMs })
    const peer = connection.remotePeer.toString()
    try {
      await host.services.identify.identify(connection)
      log.debug('peer identified again', { peer })
    } catch (error) {
      log.debug('peer not identified', { peer, reason: String(error) })
    }
  }

  function look(): void {
    const nowMs = clock.monotonic()
    const asked = host.getConnections().filter((connection) => isDue(connection, nowMs))
    for (const connection of asked.slice(0, MAX_IDENTIFIED_AT_ONCE)) void ask(connection, nowMs)
    cancel = clock.after(IDENTIFY_LOOK_MS, look)
  }

  cancel = clock.after(IDENTIFY_LOOK_MS, look)
  return () => cancel()
}
