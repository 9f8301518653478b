/**
 * Legacy members that connect to a service of this node (docs/WIRE.md 5.2). Their protocol has no name, so they get
 * the first TCP or unix service that this node offers; a refusal is a reset.
 */
import { toError } from '@mesh/core'
import { admitLegacyUser, takeLegacyPlace } from '../legacy/admit-legacy.ts'
import type { ByteStream } from '../ports.ts'
import { spliceToEnd } from '../streams/splice.ts'
import { sharedBy } from '../streams/unwritten.ts'
import { offerOfService } from './target.ts'
import { type AcceptComponents, holdToRules, RequestRefused } from '../wire/accept.ts'
import type { ExposedService } from './exposed-service.ts'
import { acceptStream } from './serve-program.ts'
import { dialTarget } from './serve-services.ts'

/** Serves one stream; never rejects. */
export async function serveLegacyService(
  stream: ByteStream,
  service: ExposedService | undefined,
  components: AcceptComponents,
): Promise<void> {
  const release = takeLegacyPlace(stream, components)
  if (release === undefined) return
  const held = holdToRules(stream, components)
  try {
    if (service === undefined)
      throw new RequestRefused('unknown_service', 'no service for legacy members here')
    held.requireAllowed(offerOfService(service.name, service.target))
    await join(stream, service, components)
  } catch (error) {
    const { peer } = stream
    if (error instanceof RequestRefused)
      components.refusals.refuse(`legacy.${error.code}`, peer, error.message)
    stream.abort(toError(error))
  } finally {
    held.stop()
    release()
  }
}

async function join(
  stream: ByteStream,
  service: ExposedService,
  components: AcceptComponents,
): Promise<void> {
  const { clock, network, unwritten } = components
  const gone = new AbortController()
  stream.onEnd((error) => gone.abort(error ?? new Error('the stream ended')))
  await admitLegacyUser(stream.peer, components)
  const { target, traffic, open } = service
  if (target.type === 'program') {
    service.connections++
    return await acceptStream(stream, { service, target, clock })
  }
  const socket = await dialTarget(service, target, { clock, signal: gone.signal })
  service.connections++
  await spliceToEnd(socket, stream, { traffic, open, shared: sharedBy(unwritten.served, stream, network) })
}
