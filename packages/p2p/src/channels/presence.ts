import type { PeerId } from '@mesh/core'
import type { ProvenView } from '../membership/proven-peers.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'

export interface Presence {
  peersWith(protocol: string): readonly PeerId[]
  onPeerWith(protocol: string, listener: (peer: PeerId, present: boolean) => void): () => void
  stop(): void
}

/** Which proven members speak what, now and as it changes. */
export function createPresence(components: {
  readonly membership: ProvenView
  readonly spoken: SpokenProtocols
}): Presence {
  const { membership, spoken } = components
  interface Watch {
    readonly present: Set<PeerId>
    readonly listeners: Set<(peer: PeerId, present: boolean) => void>
  }
  const watches = new Map<string, Watch>()

  const peersWith = (protocol: string) => membership.members().filter((peer) => spoken.speaks(peer, protocol))

  const update = (peer: PeerId) => {
    for (const [protocol, { present, listeners }] of watches) {
      const is = membership.isProven(peer) && spoken.speaks(peer, protocol)
      if (is === present.has(peer)) continue
      if (is) present.add(peer)
      else present.delete(peer)
      for (const listener of listeners) listener(peer, is)
    }
  }
  const stopMembership = membership.onChange(update)
  // an id that is no PeerId is never proven
  const stopSpoken = spoken.onChange((peer) => update(peer as PeerId))

  return {
    peersWith,
    onPeerWith(protocol, listener) {
      let watch = watches.get(protocol)
      if (watch === undefined) {
        watch = { present: new Set(peersWith(protocol)), listeners: new Set() }
        watches.set(protocol, watch)
      }
      const { listeners } = watch
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0 && watches.get(protocol)?.listeners === listeners) watches.delete(protocol)
      }
    },
    stop() {
      stopMembership()
      stopSpoken()
      watches.clear()
    },
  }
}
