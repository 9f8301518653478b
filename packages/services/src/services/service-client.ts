/** Connects to services of members, and offers none: all that a browser tab does with services. */
import type { Clock, Logger, Random } from '@mesh/core'
import { createLegacyStreams } from '../legacy/open-legacy-stream.ts'
import type { Announcer, ServicesLedger, ServicesNetwork } from '../ports.ts'
import { createOwnUser } from '../users/own-user.ts'
import type { OpenedStream } from '../wire/request.ts'
import { openProvided } from './open-provided.ts'
import { ProviderBook } from './provider-book.ts'
import { checkServiceName } from './service-name.ts'

export interface ServiceClientComponents {
  readonly ledger: ServicesLedger
  readonly network: ServicesNetwork
  readonly announce: Announcer
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export interface ServiceClient {
  /**
   * Connects to the member that offers the name now. Waits for a provider for a few seconds.
   * @throws MeshError `services.bad_name`, `services.no_provider`, `services.refused`, `p2p.*`; the signal's reason
   */
  open(name: string, signal: AbortSignal): Promise<OpenedStream>
  /** Withdraws this member from `users`; streams that are open go on. */
  stop(): void
}

export function createServiceClient(components: ServiceClientComponents): ServiceClient {
  const user = createOwnUser(components)
  const legacy = createLegacyStreams(components)
  const providers = new ProviderBook({ isSticky: true }, components)
  const parts = { ...components, user, legacy, providers, log: components.log.child('services') }
  return {
    async open(name, signal) {
      checkServiceName(name)
      signal.throwIfAborted()
      // the nodes on the way may have to meet the provider first
      const startedAt = components.clock.monotonic()
      const { use, ...opened } = await openProvided({ name, startedAt, signal }, parts)
      // the next request asks anew, so that nothing is gained by counting this one
      use.close()
      return opened
    },
    stop() {
      providers.stop()
      legacy.stop()
      user.stop()
    },
  }
}
