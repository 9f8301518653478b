/**
 * The asking side: a connection to a provider of the name. A provider that fails gives way to another one at once; where
 * there is no other one, it is tried again while that may help.
 */
import { type Clock, delay, MeshError, type PeerId, toError } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import { servicesError } from '../errors.ts'
import type { LegacyStreams } from '../legacy/open-legacy-stream.ts'
import { LOCAL_WAIT_MS, RETRY_MS, START_WAIT_MS } from '../limits.ts'
import type { ServicesNetwork } from '../ports.ts'
import type { EarlyBytes } from '../streams/early-bytes.ts'
import { LEGACY_SERVICE_PROTOCOL, SERVICE_PROTOCOL } from '../protocols.ts'
import { within } from '../timeout.ts'
import type { OwnUser } from '../users/own-user.ts'
import type { ServiceKind } from '../streams/endpoint.ts'
import { encodeServiceRequest } from '../wire/messages.ts'
import { answerOf, type OpenedStream, openRequest } from '../wire/request.ts'
import type { Provider } from './choose-provider.ts'
import type { ProviderWatch } from './provider.ts'
import type { ProviderBook, ProviderUse } from './provider-book.ts'

export interface OpenServiceComponents {
  readonly network: ServicesNetwork
  readonly user: OwnUser
  readonly legacy: LegacyStreams
  readonly providers: ProviderBook
  readonly clock: Clock
}

/** A stream that a provider accepted. */
export interface OpenedService extends OpenedStream {
  /** Counts the connection; its caller closes it when the connection is over. */
  readonly use: ProviderUse
}

export interface OpenServiceInit {
  readonly name: string
  readonly kind: ServiceKind
  readonly provider: ProviderWatch
  /** The time since when the service is connected to, in ms of monotonic time. */
  readonly startedAt: number
  /**
   * The bytes that the local client sends before the answer. Once a provider may have acted on it, no other
   * one is asked: so they go along only to one that has served before.
   */
  readonly early?: EarlyBytes
  /** False: over libp2p, where it shares a connection with others. */
  readonly bulk?: boolean
  /** The providers that have served a connection before. */
  readonly servedBy?: ReadonlySet<PeerId>
  readonly signal: AbortSignal
}

/** Answers after which another try at the same provider would bring the same one. */
const FINAL: readonly unknown[] = ['wrong_kind', 'bad_request', 'forbidden']
/** An answer that passes: the provider does not know this node yet. */
const PASSING = 'not_user'

/**
 * Within `LOCAL_WAIT_MS`, and soon after the start `START_WAIT_MS`; what is under way then is not counted.
 * @throws MeshError `services.no_provider`, `services.refused`, ...: the last reason; the signal's reason
 */
export async function openService(
  init: OpenServiceInit,
  components: OpenServiceComponents,
): Promise<OpenedService> {
  const { clock } = components
  const { provider: watch, signal } = init
  const until = Math.max(clock.monotonic() + LOCAL_WAIT_MS, init.startedAt + START_WAIT_MS)
  for (let tries = 1; ; tries++) {
    const turn = loopBudget(clock).turn('members', { signal })
    if (turn !== undefined) await turn
    signal.throwIfAborted()
    const ready = components.user.since === undefined ? undefined : watch.pick()
    const provider = ready ?? (await findPeer(init, components, until - clock.monotonic()))
    try {
      const opened = await openInUse(provider, init, components)
      watch.worked(provider)
      return opened
    } catch (error) {
      signal.throwIfAborted()
      if (answerOf(error) !== PASSING) watch.failed(provider)
      const isMoving = answerOf(error) !== PASSING && watch.hasOther(provider)
      const waitMs = isMoving ? 0 : RETRY_MS * tries
      const isFinal = !isMoving && FINAL.includes(answerOf(error))
      if (isFinal || init.early?.isSent === true || clock.monotonic() + waitMs > until) throw error
      if (waitMs > 0) await delay(clock, waitMs, signal)
    }
  }
}

/** Opens a stream that counts as a connection to the provider from its first try on. */
async function openInUse(
  provider: Provider,
  init: OpenServiceInit,
  components: OpenServiceComponents,
): Promise<OpenedService> {
  const ended = new AbortController()
  let end = (reason: Error) => ended.abort(reason)
  const use = components.providers.use(provider, {
    end: (reason) => end(reason),
    hasOther: () => init.provider.hasOther(provider),
  })
  try {
    const signal = AbortSignal.any([init.signal, ended.signal])
    const opened = await openAt(provider, { ...init, signal }, components)
    end = (reason) => opened.stream.abort(reason)
    return { ...opened, use }
  } catch (error) {
    use.close()
    throw toError(error)
  }
}

async function findPeer(
  { name, provider, signal: outer }: OpenServiceInit,
  { user, clock }: OpenServiceComponents,
  waitMs: number,
): Promise<Provider> {
  try {
    return await within({ clock, ms: Math.max(0, waitMs), signal: outer }, async (signal) => {
      await user.announced(signal)
      return provider.connected(signal)
    })
  } catch (error) {
    outer.throwIfAborted()
    if (user.since === undefined || answerOf(error) !== undefined) throw error
    const why =
      provider.provider === undefined
        ? `nobody who is alive offers "${name}"`
        : `the provider cannot be reached: ${provider.lastError ?? 'no connection'}`
    throw servicesError('services.no_provider', why, { cause: error })
  }
}

async function openAt(
  { peer, service: name }: Provider,
  { kind, early, bulk, servedBy, signal }: OpenServiceInit,
  components: OpenServiceComponents,
): Promise<OpenedStream> {
  const { network, user, legacy } = components
  if (isLegacyProvider(network, peer)) {
    if (kind === 'stream') {
      const opened = await legacy.open(peer, LEGACY_SERVICE_PROTOCOL, signal)
      early?.sendTo(opened.stream)
      return opened
    }
    throw new MeshError(
      'services.refused',
      'the provider is an EdgeVPN-compatible node, which knows no UDP',
      {
        details: { answer: 'wrong_kind' },
      },
    )
  }
  const request = encodeServiceRequest({ name, kind, entries: user.entries() })
  if (servedBy?.has(peer) === true) {
    return openRequest({ peer, protocol: SERVICE_PROTOCOL, request, early, bulk, signal }, components)
  }
  // the first request may come before the other side knows who asks, and is made again then
  const opened = await openRequest({ peer, protocol: SERVICE_PROTOCOL, request, bulk, signal }, components)
  early?.sendTo(opened.stream)
  return opened
}

/** A node that speaks both is one of ours. */
export function isLegacyProvider(network: ServicesNetwork, peer: PeerId): boolean {
  return (
    network.speaks(peer, SERVICE_PROTOCOL) !== true && network.speaks(peer, LEGACY_SERVICE_PROTOCOL) === true
  )
}
