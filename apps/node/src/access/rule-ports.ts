/** The access rules as services and the libp2p host ask them. */
import type { PeerId } from '@mesh/core'
import type { PairRules } from '@mesh/p2p'
import type { OfferRules } from '@mesh/services'
import { type AccessRules, wordsFor } from '@mesh/trust/rules'

/** Builds what services, files and egress of this node ask; what they refuse is counted. */
export function createOfferRules(rules: AccessRules, self: PeerId): OfferRules {
  return {
    refusal(peer, offer) {
      const { allowed, sentence } = rules.judge(peer, self, offer)
      if (allowed) return undefined
      rules.noteRefusal({
        from: { kind: 'member', peer },
        to: { kind: 'member', peer: self },
        on: offer,
      })
      return sentence
    },
    mayUse(provider, service) {
      const layer = rules.layers.find(({ name }) => name === 'network')
      if (layer === undefined || provider === self) return true
      const words = wordsFor(layer, { kind: 'member', peer: self }, { kind: 'member', peer: provider })
      // the port of its target is the provider's alone to know
      return words.some(
        (word) => word === '*' || word === `service:${service}` || /^(tcp|udp)(:|$)/.test(word),
      )
    },
    onChange: (listener) => rules.onChange(listener),
  }
}

/** Builds what the host asks before it relays. */
export function createPairRules(rules: AccessRules): PairRules {
  return {
    mayTalk: (one, other) => rules.mayTalk(one as PeerId, other as PeerId),
    onChange: (listener) => rules.onChange(listener),
  }
}
