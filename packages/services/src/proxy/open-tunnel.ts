/** Ways out: a connection to a host and port through an egress node, and for HTTP also through a legacy one. */
import { type Clock, delay, MeshError, type PeerId, toError } from '@mesh/core'
import { servicesError } from '../errors.ts'
import type { LegacyStreams } from '../legacy/open-legacy-stream.ts'
import { LOCAL_WAIT_MS, MAX_EGRESS_TRIES, RETRY_MS } from '../limits.ts'
import type { ServicesNetwork } from '../ports.ts'
import { EGRESS_PROTOCOL, LEGACY_EGRESS_PROTOCOL } from '../protocols.ts'
import { within } from '../timeout.ts'
import type { OwnUser } from '../users/own-user.ts'
import { encodeEgressRequest } from '../wire/messages.ts'
import { answerOf, type OpenedStream, openRequest } from '../wire/request.ts'
import type { EgressChoice } from './choose-egress.ts'

export interface Destination {
  readonly host: string
  readonly port: number
}

export interface TunnelComponents {
  readonly network: ServicesNetwork
  readonly user: OwnUser
  readonly choice: EgressChoice
  readonly legacy: LegacyStreams
  readonly clock: Clock
}

/** Answers about the destination: another egress node would say the same, or should not be asked instead. */
const ABOUT_DESTINATION: readonly unknown[] = ['target_down', 'forbidden', 'bad_request']

/**
 * A tunnel to the destination through an egress node.
 * @throws MeshError `services.no_provider`, `services.refused`, ...; the signal's reason
 */
export async function openTunnel(
  { host, port }: Destination,
  signal: AbortSignal,
  components: TunnelComponents,
): Promise<OpenedStream> {
  return await untilReached(signal, components, async () => {
    const { user, choice } = components
    const tried = new Tried(choice)
    while (tried.mayGoOn) {
      const peer = tried.pick()
      if (peer === undefined) break
      try {
        if (await connectsToLegacy(peer, signal, components)) tried.skippedLegacy = true
        else {
          const request = encodeEgressRequest({ host, port, entries: user.entries() })
          const opened = await openRequest({ peer, protocol: EGRESS_PROTOCOL, request, signal }, components)
          choice.succeeded(peer)
          return opened
        }
      } catch (error) {
        signal.throwIfAborted()
        if (ABOUT_DESTINATION.includes(answerOf(error))) throw error
        tried.failed(peer, error)
      }
    }
    throw tried.reasons()
  })
}

/**
 * A stream to a legacy egress node, which takes one HTTP request and is no tunnel; undefined when one of our own kind
 * can be reached.
 * @throws MeshError `services.no_provider`, `services.broken`, `p2p.*`; the signal's reason
 */
export async function openLegacyEgress(
  signal: AbortSignal,
  components: TunnelComponents,
): Promise<OpenedStream | undefined> {
  const { choice, legacy } = components
  const found = await untilReached(signal, components, () => findLegacy(signal, components))
  if (found === undefined) return undefined
  const opened = await legacy.open(found, LEGACY_EGRESS_PROTOCOL, signal)
  choice.succeeded(found)
  return opened
}

/** Undefined: one of our own kind can be reached. @throws MeshError `services.no_provider`; the signal's reason */
async function findLegacy(signal: AbortSignal, components: TunnelComponents): Promise<PeerId | undefined> {
  const { choice, network } = components
  const tried = new Tried(choice)
  let found: PeerId | undefined
  while (tried.mayGoOn) {
    // beside the one in use only those that cost nothing to ask
    const isNear = (each: PeerId) => found === undefined || network.pathOf(each) !== undefined
    const peer = tried.pick(isNear)
    if (peer === undefined) break
    try {
      if (!(await connectsToLegacy(peer, signal, components))) return undefined
      found ??= peer
    } catch (error) {
      signal.throwIfAborted()
      tried.failed(peer, error)
    }
  }
  if (found === undefined) throw tried.reasons()
  return found
}

/** The egress nodes that were tried in one go, and what came of it. */
class Tried {
  skippedLegacy = false
  readonly #choice: EgressChoice
  readonly #peers = new Set<PeerId>()
  #last: unknown

  constructor(choice: EgressChoice) {
    this.#choice = choice
  }

  get mayGoOn(): boolean {
    return this.#peers.size < MAX_EGRESS_TRIES
  }

  /** Whom to try next, of those that were not tried. */
  pick(isUsable: (peer: PeerId) => boolean = () => true): PeerId | undefined {
    const peer = this.#choice.pick((each) => !this.#peers.has(each) && isUsable(each))
    if (peer !== undefined) this.#peers.add(peer)
    return peer
  }

  failed(peer: PeerId, error: unknown): void {
    this.#choice.failed(peer)
    this.#last = error
  }

  /** Gives the reason for people; it has a cause where somebody is there who could not be reached. */
  reasons(): MeshError {
    if (this.#last !== undefined) {
      const reason = `no egress node could be reached: ${toError(this.#last).message}`
      return servicesError('services.no_provider', reason, { cause: this.#last })
    }
    const reason = this.skippedLegacy
      ? 'only EdgeVPN-compatible egress nodes are alive, and they carry plain HTTP alone'
      : this.#choice.whyNone()
    return servicesError('services.no_provider', reason)
  }
}

/**
 * Goes on trying while a provider is known but not reachable. Its addresses may not have arrived yet, or it may not know this
 * node yet.
 *
 * @param attempt rejects with `services.no_provider` and a cause for what may pass
 */
async function untilReached<T>(
  signal: AbortSignal,
  components: TunnelComponents,
  attempt: () => Promise<T>,
): Promise<T> {
  const { clock, choice } = components
  await beReady(signal, components)
  const until = clock.monotonic() + choice.retryMs()
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      const mayPass =
        error instanceof MeshError && error.code === 'services.no_provider' && error.cause !== undefined
      const waitMs = RETRY_MS * tries
      if (!mayPass || clock.monotonic() + waitMs > until) throw error
      await delay(clock, waitMs, signal)
    }
  }
}

/** This node's own entry is known, and so are egress nodes, as far as they are about. */
async function beReady(signal: AbortSignal, { user, choice, clock }: TunnelComponents): Promise<void> {
  if (user.since === undefined) {
    await within({ clock, ms: LOCAL_WAIT_MS, signal }, (limited) => user.announced(limited))
  }
  await choice.awaited(signal)
}

/** Is it a legacy member? Known when it is connected. */
async function connectsToLegacy(
  peer: PeerId,
  signal: AbortSignal,
  { network, clock }: TunnelComponents,
): Promise<boolean> {
  if (network.pathOf(peer) === undefined) {
    await within({ clock, ms: LOCAL_WAIT_MS, signal }, (limited) => network.connect(peer, limited))
  }
  return (
    network.speaks(peer, EGRESS_PROTOCOL) !== true && network.speaks(peer, LEGACY_EGRESS_PROTOCOL) === true
  )
}
