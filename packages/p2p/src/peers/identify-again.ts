/**
 * Asks peers again who they are, while they have not answered. libp2p 3.3.11 runs identify once for each connection: where
 * the answer does not come in time, as on a busy machine, a peer would be connected for hours and nobody would know
 * that it is a member.
 */
import type { Connection, IdentifyResult } from '@libp2p/interface'
import type { Clock, Logger } from '@mesh/core'
import { backoffMs } from '@mesh/core/limits'
import { IDENTIFY_AGAIN, IDENTIFY_LOOK_MS, MAX_IDENTIFIED_AT_ONCE } from './limits.ts'
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
  /** How often a connection was asked, and when it is asked next in ms of monotonic time. */
  const asked = new WeakMap<Connection, { readonly times: number; readonly nextMs: number }>()
  let cancel = () => {}

  /** Notes a question; libp2p itself has just asked the first one. */
  function noteAsked(connection: Connection, times: number): void {
    asked.set(connection, { times, nextMs: clock.monotonic() + backoffMs(IDENTIFY_AGAIN, times) })
  }

  function isDue(connection: Connection): boolean {
    if (connection.status !== 'open' || spoken.of(connection.remotePeer.toString()) !== undefined)
      return false
    const known = asked.get(connection)
    if (known === undefined) noteAsked(connection, 0)
    return known !== undefined && clock.monotonic() >= known.nextMs
  }

  async function ask(connection: Connection): Promise<void> {
    noteAsked(connection, (asked.get(connection)?.times ?? 0) + 1)
    const peer = connection.remotePeer.toString()
    try {
      await host.services.identify.identify(connection)
      log.debug('peer identified again', { peer })
    } catch (error) {
      log.debug('peer not identified', { peer, reason: String(error) })
    }
  }

  function look(): void {
    const due = host.getConnections().filter(isDue)
    for (const connection of due.slice(0, MAX_IDENTIFIED_AT_ONCE)) void ask(connection)
    cancel = clock.after(IDENTIFY_LOOK_MS, look)
  }

  cancel = clock.after(IDENTIFY_LOOK_MS, look)
  return () => cancel()
}
