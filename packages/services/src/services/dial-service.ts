/**
 * One connection of this process to a service, as a stream of Node.
 *
 * 1. A service that this node offers itself, and whose target answers, is connected to here.
 * 2. Otherwise waits for a provider, and opens a stream to it.
 */
import type { Duplex } from 'node:stream'
import { loopBudget } from '@mesh/core/limits'
import { servicesError } from '../errors.ts'
import { findProviders } from '../find-provider.ts'
import { StreamDuplex } from '../streams/stream-duplex.ts'
import type { ExposedService } from './exposed-service.ts'
import { openProvided, type OpenProvidedComponents } from './open-provided.ts'
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

/** @throws MeshError `services.*`, `p2p.*`; the signal's reason */
export async function dialService(
  { opened, ...init }: DialServiceInit,
  components: OpenProvidedComponents,
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
function hasOther(name: string, components: OpenProvidedComponents): boolean {
  return findProviders(name, components).allowed.some((peer) => peer !== components.ledger.self)
}

async function dialOwn(
  service: ExposedService,
  { signal }: Pick<DialServiceInit, 'signal'>,
  { clock, network }: OpenProvidedComponents,
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
  components: OpenProvidedComponents,
): Promise<Duplex> {
  const { stream, rest, use } = await openProvided(init, components)
  const { traffic } = use
  const duplex = new StreamDuplex(stream, { head: rest, traffic, budget: loopBudget(components.clock) })
  return duplex.once('close', () => use.close())
}
