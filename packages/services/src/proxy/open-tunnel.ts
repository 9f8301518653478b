/** Ways out: a connection to a host and port through an egress node, and for HTTP also through a legacy one. */
import type { Clock, PeerId } from '@mesh/core'
import { asError, servicesError } from '../errors.ts'
import type { LegacyStreams } from '../legacy/open-legacy-stream.ts'
import { LOCAL_WAIT_MS, MAX_EGRESS_TRIES } from '../limits.ts'
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

/** How a request leaves. */
export type WayOut = OpenedStream & { readonly kind: 'tunnel' | 'legacy'; readonly peer: PeerId }

/** Answers about the destination: another egress node would say the same, or should not be asked instead. */
const ABOUT_DESTINATION: readonly unknown[] = ['target_down', 'forbidden', 'bad_request']

/**
 * @param allowLegacy a stream of a legacy egress node will do, which takes one HTTP request and is no tunnel
 * @throws MeshError `services.no_provider`, `services.refused`, ...; the signal's reason
 */
export async function openWayOut(
  destination: Destination,
  { allowLegacy, signal }: { readonly allowLegacy: boolean; readonly signal: AbortSignal },
  components: TunnelComponents,
): Promise<WayOut> {
  const { network, user, choice, clock } = components
  await within({ clock, ms: LOCAL_WAIT_MS, signal }, (limited) => user.announced(limited))
  await choice.awaited(signal)
  const tried = new Set<PeerId>()
  let skippedLegacy = false
  let last: unknown
  while (tried.size < MAX_EGRESS_TRIES) {
    const peer = choice.pick((each) => !tried.has(each))
    if (peer === undefined) break
    tried.add(peer)
    try {
      if (network.pathOf(peer) === undefined) {
        await within({ clock, ms: LOCAL_WAIT_MS, signal }, (limited) => network.connect(peer, limited))
      }
      if (!isLegacy(network, peer)) return await openTunnel(destination, peer, signal, components)
      if (allowLegacy) return await openLegacy(peer, signal, components)
      skippedLegacy = true
    } catch (error) {
      signal.throwIfAborted()
      if (ABOUT_DESTINATION.includes(answerOf(error))) throw error
      choice.failed(peer)
      last = error
    }
  }
  throw servicesError('services.no_provider', whyNone(choice, skippedLegacy, last), { cause: last })
}

function whyNone(choice: EgressChoice, skippedLegacy: boolean, last: unknown): string {
  if (last !== undefined) return `no egress node could be reached: ${asError(last).message}`
  if (skippedLegacy) return 'only EdgeVPN-compatible egress nodes are alive, and they carry plain HTTP alone'
  return choice.whyNone()
}

async function openTunnel(
  { host, port }: Destination,
  peer: PeerId,
  signal: AbortSignal,
  components: TunnelComponents,
): Promise<WayOut> {
  const request = encodeEgressRequest({ host, port, entries: components.user.entries() })
  const opened = await openRequest({ peer, protocol: EGRESS_PROTOCOL, request, signal }, components)
  return { ...opened, kind: 'tunnel', peer }
}

async function openLegacy(peer: PeerId, signal: AbortSignal, { legacy }: TunnelComponents): Promise<WayOut> {
  const opened = await legacy.open(peer, LEGACY_EGRESS_PROTOCOL, signal)
  return { ...opened, kind: 'legacy', peer }
}

function isLegacy(network: ServicesNetwork, peer: PeerId): boolean {
  return (
    network.speaks(peer, EGRESS_PROTOCOL) !== true && network.speaks(peer, LEGACY_EGRESS_PROTOCOL) === true
  )
}
