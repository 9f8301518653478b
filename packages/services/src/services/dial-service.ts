/**
 * One connection of this process to a service, as a stream of Node.
 *
 * 1. A service that this node offers itself, and whose target answers, is connected to here.
 * 2. Otherwise waits for a provider, and opens a stream to it.
 */
import type { Duplex } from 'node:stream'
import type { Logger, Random } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import { servicesError } from '../errors.ts'
import { findProviders } from '../find-provider.ts'
import type { ServicesLedger } from '../ports.ts'
import { StreamDuplex } from '../streams/stream-duplex.ts'
import type { ExposedService } from './exposed-service.ts'
import { openService, type OpenServiceComponents } from './open-service.ts'
import { ProviderWatch } from './provider.ts'
import { acceptOwn } from './serve-program.ts'
import { dialTarget } from './serve-services.ts'

interface DialServiceInit {
  readonly name: string
  /** The service of this name that this node offers. */
  readonly own: ExposedService | undefined
  /** The time since when services run, in ms of monotonic time. */
  readonly startedAt: number
  /** Holds what ends the connection while it is open. */
  readonly opened: Set<(reason: Error) => void>
  /** Ends the wait, and not the connection. */
  readonly signal: AbortSignal
}

interface DialServiceComponents extends OpenServiceComponents {
  readonly ledger: ServicesLedger
  readonly random: Random
  readonly log: Logger
}

/** @throws MeshError `services.*`, `p2p.*`; the signal's reason */
export async function dialService(
  { opened, ...init }: DialServiceInit,
  components: DialServiceComponents,
): Promise<Duplex> {
  const { name, own, signal } = init
  signal.throwIfAborted()
  const isOwn = own !== undefined && (own.health.isUp === true || !hasOther(name, components))
  const duplex = isOwn ? await dialOwn(own, init, components) : await dialProvider(init, components)
  const end = (reason: Error) => void duplex.destroy(reason)
  opened.add(end)
  // what breaks it before somebody listens shows when it is used
  duplex.on('error', () => {}).once('close', () => opened.delete(end))
  return duplex
}

/** Does another member that is alive offer the name? */
function hasOther(name: string, components: DialServiceComponents): boolean {
  return findProviders(name, components).some((peer) => peer !== components.ledger.self)
}

async function dialOwn(
  service: ExposedService,
  { signal }: Pick<DialServiceInit, 'signal'>,
  { clock, network }: DialServiceComponents,
): Promise<Duplex> {
  const { target } = service
  if (target.type === 'program') return acceptOwn(network.self, { service, target })
  if (target.type === 'udp') throw servicesError('services.refused', 'this service is UDP')
  service.connections++
  const socket = await dialTarget(service, target, { clock, signal, isPaused: false })
  socket.allowHalfOpen = false
  return socket
}

async function dialProvider(
  init: Omit<DialServiceInit, 'opened'>,
  components: DialServiceComponents,
): Promise<Duplex> {
  const { name, startedAt, signal } = init
  const { user, clock } = components
  user.announce()
  const provider = new ProviderWatch(name, { ...components, onChange: () => {} })
  try {
    const { stream, rest, use } = await openService(
      { name, kind: 'stream', provider, startedAt, signal },
      components,
    )
    const { traffic } = use
    const duplex = new StreamDuplex(stream, { head: rest, traffic, budget: loopBudget(clock) })
    return duplex.once('close', () => use.close())
  } finally {
    provider.stop()
  }
}
