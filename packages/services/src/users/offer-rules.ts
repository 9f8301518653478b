/** Access rules for what this node offers to members: services, files and egress. */
import type { PeerId } from '@mesh/core'

/** An offer that a member asks another one for, as access rules name it. */
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
  /**
   * May this node use the service of that member? A member that no rule lets it reach there is no provider, whatever it
   * announces.
   */
  mayUse(provider: PeerId, service: string): boolean
  /** Calls the listener after each change of the rules. @returns stops that */
  onChange(listener: () => void): () => void
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
