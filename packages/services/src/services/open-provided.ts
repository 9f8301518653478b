/** One stream to a member that offers a service now, for one connection of this process. */
import type { Logger, Random } from '@mesh/core'
import type { ServicesLedger } from '../ports.ts'
import { openService, type OpenedService, type OpenServiceComponents } from './open-service.ts'
import { ProviderWatch } from './provider.ts'

export interface OpenProvidedInit {
  readonly name: string
  /** The time since when services run, in ms of monotonic time. */
  readonly startedAt: number
  /** Ends the wait, and not the stream. */
  readonly signal: AbortSignal
}

export interface OpenProvidedComponents extends OpenServiceComponents {
  readonly ledger: ServicesLedger
  readonly random: Random
  readonly log: Logger
}

/** Waits for a provider for a few seconds. @throws MeshError `services.*`, `p2p.*`; the signal's reason */
export async function openProvided(
  { name, startedAt, signal }: OpenProvidedInit,
  components: OpenProvidedComponents,
): Promise<OpenedService> {
  components.user.announce()
  const provider = new ProviderWatch(name, { ...components, onChange: () => {} })
  try {
    return await openService({ name, kind: 'stream', provider, startedAt, signal }, components)
  } finally {
    provider.stop()
  }
}
