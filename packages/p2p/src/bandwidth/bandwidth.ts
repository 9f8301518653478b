/** Counts what streams carry, in all and by protocol and peer. The meters that are silent longest go first. */
import { BoundedMap, type Clock } from '@mesh/core'
import { MAX_METERED_PEERS, MAX_METERED_PROTOCOLS } from './limits.ts'
import type { Bandwidth, BandwidthStats } from '../p2p-node.ts'
import { createRateMeter, type RateMeter } from './rate-meter.ts'

/** The counting side of `Bandwidth`. */
export interface BandwidthCounter extends Bandwidth {
  /** A counter for one stream; `relayed` bytes are already in the total as bytes to the relay. */
  meter(stream: {
    readonly protocol: string
    readonly peer: string | undefined
    readonly relayed: boolean
  }): {
    add(bytesIn: number, bytesOut: number): void
  }
}

export function createBandwidth({ clock }: { readonly clock: Clock }): BandwidthCounter {
  const total = createRateMeter()
  const protocols = createMeterMap(MAX_METERED_PROTOCOLS)
  const peers = createMeterMap(MAX_METERED_PEERS)
  return {
    meter({ protocol, peer, relayed }) {
      return {
        add(bytesIn, bytesOut) {
          const now = clock.monotonic()
          if (!relayed) total.add(now, bytesIn, bytesOut)
          protocols.get(protocol).add(now, bytesIn, bytesOut)
          if (peer !== undefined) peers.get(peer).add(now, bytesIn, bytesOut)
        },
      }
    },
    total: () => total.read(clock.monotonic()),
    byProtocol: () => protocols.read(clock.monotonic()),
    byPeer: () => peers.read(clock.monotonic()),
  }
}

function createMeterMap(limit: number) {
  const meters = new BoundedMap<string, RateMeter>(limit)
  return {
    get(key: string): RateMeter {
      const meter = meters.get(key) ?? createRateMeter()
      // makes it the newest
      meters.set(key, meter)
      return meter
    },
    read: (now: number): ReadonlyMap<string, BandwidthStats> =>
      new Map([...meters].map(([key, meter]) => [key, meter.read(now)])),
  }
}
