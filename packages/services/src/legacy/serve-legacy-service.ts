/**
 * Legacy members that connect to a service of this node (docs/WIRE.md 5.2). Their protocol has no name, so they get
 * the first TCP or unix service that this node offers; a refusal is a reset.
 */
import { toError } from '@mesh/core'
import { DIAL_MS } from '../limits.ts'
import type { ByteStream } from '../ports.ts'
import { type Endpoint, socketAddressOf } from '../streams/endpoint.ts'
import { dial, type DialInit, type Reading } from '../streams/dial.ts'
import { reset, splice, type Traffic } from '../streams/splice.ts'
import { type AcceptComponents, RequestRefused, servedBy } from '../wire/accept.ts'
import { admitLegacyUser } from './admit-legacy-user.ts'
import { takeLegacySlot } from './take-legacy-slot.ts'

/** The offered service, as far as its connections are served here. */
export interface LegacyTarget {
  readonly target: Endpoint
  readonly traffic: Traffic
  /** The functions that end connections. */
  readonly open: Set<(reason: Error) => void>
  connections: number
  lastError: string | undefined
  readonly health: { worked(): void; failed(reason: string): void }
}

/** Serves one stream; never rejects. */
export async function serveLegacyService(
  stream: ByteStream,
  service: LegacyTarget | undefined,
  components: AcceptComponents,
): Promise<void> {
  const { refusals } = components
  const { peer } = stream
  const release = takeLegacySlot(stream, components)
  if (release === undefined) return
  try {
    await join(stream, service, components)
  } catch (error) {
    if (error instanceof RequestRefused) refusals.refuse(`legacy.${error.code}`, peer, error.message)
    stream.abort(toError(error))
  } finally {
    release()
  }
}

async function join(
  stream: ByteStream,
  service: LegacyTarget | undefined,
  components: AcceptComponents,
): Promise<void> {
  if (service === undefined) throw new RequestRefused('unknown_service', 'no service for legacy members here')
  const gone = new AbortController()
  stream.onEnd((error) => gone.abort(error ?? new Error('the stream ended')))
  await admitLegacyUser(stream.peer, components)
  const { reading, shared } = servedBy(stream, components)
  const { clock } = components
  const socket = await dialTarget(service, { clock, signal: gone.signal, ...reading })
  service.connections++
  await new Promise<void>((resolve) => {
    const end = () => reset(socket)
    service.open.add(end)
    splice(socket, stream, {
      traffic: service.traffic,
      shared,
      onDone() {
        service.open.delete(end)
        resolve()
      },
    })
  })
}

async function dialTarget(
  service: LegacyTarget,
  how: Reading & Pick<DialInit, 'clock'> & { readonly signal: AbortSignal },
) {
  const { signal } = how
  try {
    const socket = await dial({ address: socketAddressOf(service.target), withinMs: DIAL_MS, ...how })
    service.health.worked()
    return socket
  } catch (error) {
    signal.throwIfAborted()
    service.lastError = toError(error).message
    service.health.failed(service.lastError)
    throw new RequestRefused('target_down', service.lastError)
  }
}
