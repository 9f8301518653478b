/** Access rules for what this node offers to members: services, files and egress. */
import type { PeerId } from '@mesh/core'
import type { ServiceTarget } from '../services/target.ts'

/** What a member asks another one for, as access rules name it. */
export type RuledOffer =
  | {
      readonly kind: 'service'
      readonly name: string
      readonly protocol: 'tcp' | 'udp'
      /** The port of the target; undefined: it has none. */
      readonly port: number | undefined
    }
  | { readonly kind: 'files' }
  | { readonly kind: 'egress' }

/** The rules in force on this node. */
export interface OfferRules {
  /** Returns why the rules refuse the peer what this node offers, in words for people; undefined: they allow it. */
  refusal(peer: PeerId, offer: RuledOffer): string | undefined
  /** Calls the listener after each change of the rules. @returns stops that */
  onChange(listener: () => void): () => void
}

/** Builds what rules are asked for a service. */
export function offerOfService(name: string, target: ServiceTarget): RuledOffer {
  const isUdp = target.type === 'udp'
  const port = isUdp || target.type === 'tcp' ? target.port : undefined
  return { kind: 'service', name, protocol: isUdp ? 'udp' : 'tcp', port }
}

/**
 * Calls `end`, once, when a change of the rules refuses the peer an offer that it uses.
 *
 * @returns stops that
 */
export function endWhenRefused(
  rules: OfferRules | undefined,
  { peer, offer }: { readonly peer: PeerId; readonly offer: RuledOffer },
  end: (reason: Error) => void,
): () => void {
  if (rules === undefined) return () => {}
  const stop = rules.onChange(() => {
    const reason = rules.refusal(peer, offer)
    if (reason === undefined) return
    stop()
    end(new Error(reason))
  })
  return stop
}
