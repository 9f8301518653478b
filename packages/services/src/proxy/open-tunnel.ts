/** Ways out: a connection to a host and port through an egress node, and for HTTP also through a legacy one. */
import { type Clock, type PeerId, toError } from '@mesh/core'
import { servicesError } from '../errors.ts'
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

/** Answers about the destination: another egress node would say the same, or should not be asked instead. */
const ABOUT_DESTINATION: readonly unknown[] = ['target_down', 'forbidden', 'bad_request']

/** @throws MeshError `services.no_provider`, `services.refused`, ...; the signal's reason */
export async function openTunnel(
  { host, port }: Destination,
  signal: AbortSignal,
  components: TunnelComponents,
): Promise<OpenedStream> {
  const { user, choice } = components
  await beReady(signal, components)
  const tried = new Set<PeerId>()
  let last: unknown
  let skippedLegacy = false
  while (tried.size < MAX_EGRESS_TRIES) {
    const peer = choice.pick((each) => !tried.has(each))
    if (peer === undefined) break
    tried.add(peer)
    try {
      if (await connectsToLegacy(peer, signal, components)) skippedLegacy = true
      else {
        const request = encodeEgressRequest({ host, port, entries: user.entries() })
        return await openRequest({ peer, protocol: EGRESS_PROTOCOL, request, signal }, components)
      }
    } catch (error) {
      signal.throwIfAborted()
      if (ABOUT_DESTINATION.includes(answerOf(error))) throw error
      choice.failed(peer)
      last = error
    }
  }
  throw servicesError('services.no_provider', whyNone(choice, skippedLegacy, last), { cause: last })
}

/**
 * A stream to a legacy egress node, which takes one HTTP request and is no tunnel; undefined while one of our own kind
 * can be reached, or nobody can.
 * @throws MeshError `services.broken`, `p2p.*`; the signal's reason
 */
export async function openLegacyEgress(
  signal: AbortSignal,
  components: TunnelComponents,
): Promise<OpenedStream | undefined> {
  const { choice, legacy, network } = components
  await beReady(signal, components)
  const found: PeerId[] = []
  const tried = new Set<PeerId>()
  while (tried.size < MAX_EGRESS_TRIES) {
    // beside the one in use only those that cost nothing to ask
    const isNear = (each: PeerId) => tried.size === 0 || network.pathOf(each) !== undefined
    const peer = choice.pick((each) => !tried.has(each) && isNear(each))
    if (peer === undefined) break
    tried.add(peer)
    try {
      if (!(await connectsToLegacy(peer, signal, components))) return undefined
      found.push(peer)
    } catch {
      signal.throwIfAborted()
      choice.failed(peer)
    }
  }
  const [peer] = found
  return peer === undefined ? undefined : legacy.open(peer, LEGACY_EGRESS_PROTOCOL, signal)
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

function whyNone(choice: EgressChoice, skippedLegacy: boolean, last: unknown): string {
  if (last !== undefined) return `no egress node could be reached: ${toError(last).message}`
  if (skippedLegacy) return 'only EdgeVPN-compatible egress nodes are alive, and they carry plain HTTP alone'
  return choice.whyNone()
}
