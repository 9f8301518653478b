/**
 * Which egress node requests leave through: the same one for as long as it is alive and answers, so that origins see
 * one address. Picked at random from those that are connected, else from all.
 */
import {
  BUCKETS,
  type Clock,
  machineRecord,
  type PeerId,
  type Random,
  tryParseIp,
  tryParsePeerId,
} from '@mesh/core'
import { EGRESS_AWAITED_MS, FAILED_EGRESS_MS, LOCAL_WAIT_MS } from '../limits.ts'
import type { ServicesLedger, ServicesNetwork } from '../ports.ts'

export interface EgressChoice {
  /** Whom to try next. */
  pick(isUsable?: (peer: PeerId) => boolean): PeerId | undefined
  /** It could not be reached: others go first for a while. */
  failed(peer: PeerId): void
  /** It was reached: what failed before does not count any more. */
  succeeded(peer: PeerId): void
  /** Whom the last requests left through. */
  readonly current: PeerId | undefined
  /** Resolves when there is somebody to pick, or nobody has come within some time after the start. */
  awaited(signal: AbortSignal): Promise<void>
  /** How long, in ms from now, a request that reaches nobody is worth further tries: longer soon after the start. */
  retryMs(): number
  /** Why there is nobody to pick, in words. */
  whyNone(): string
}

export interface EgressChoiceComponents {
  readonly ledger: ServicesLedger
  readonly network: ServicesNetwork
  readonly clock: Clock
  readonly random: Random
}

/** @param wanted a peer id, a machine's name or its VPN address; undefined: any */
export function createEgressChoice(
  wanted: string | undefined,
  components: EgressChoiceComponents,
): EgressChoice {
  const { ledger, network, clock, random } = components
  const failedAt = new Map<PeerId, number>()
  const startedAt = clock.monotonic()
  let current: PeerId | undefined

  function alive(): readonly PeerId[] {
    const snapshot = ledger.snapshot()
    const now = clock.now()
    return [...snapshot.entries(BUCKETS.egress)].flatMap(({ key, entry }) => {
      const peer = tryParsePeerId(key)
      const isOwn = entry.owner === key || entry.owner === ''
      const counts = peer !== undefined && peer !== network.self && !entry.deleted && isOwn
      return counts && snapshot.isOwnerLive(key, now) ? [peer] : []
    })
  }

  function candidates(): readonly PeerId[] {
    if (wanted === undefined) return alive()
    const named = peersNamed(wanted, ledger)
    return alive().filter((peer) => named.has(peer))
  }

  const startLeftMs = () => startedAt + EGRESS_AWAITED_MS - clock.monotonic()
  const isSound = (peer: PeerId) =>
    clock.monotonic() - (failedAt.get(peer) ?? Number.NEGATIVE_INFINITY) > FAILED_EGRESS_MS

  return {
    pick(isUsable = () => true) {
      const usable = candidates().filter(isUsable)
      if (current !== undefined && usable.includes(current) && isSound(current)) return current
      const sound = usable.filter(isSound)
      const connected = sound.filter((peer) => network.pathOf(peer) !== undefined)
      const from = [connected, sound, usable].find((list) => list.length > 0) ?? []
      const picked = from[Math.floor(random.float() * from.length)]
      if (picked !== undefined) current = picked
      return picked
    },
    failed(peer) {
      failedAt.set(peer, clock.monotonic())
      // peers that are gone are forgotten with the next ones
      for (const [known, at] of failedAt)
        if (clock.monotonic() - at > FAILED_EGRESS_MS) failedAt.delete(known)
    },
    succeeded(peer) {
      failedAt.delete(peer)
    },
    retryMs: () => Math.max(LOCAL_WAIT_MS, startLeftMs()),
    awaited(signal) {
      const leftMs = startLeftMs()
      if (leftMs <= 0 || candidates().length > 0) return Promise.resolve()
      return new Promise((resolve, reject) => {
        const finish = (act: () => void) => {
          cancel()
          unsubscribe()
          signal.removeEventListener('abort', onAbort)
          act()
        }
        const onAbort = () => finish(() => reject(signal.reason))
        const cancel = clock.after(leftMs, () => finish(resolve))
        const unsubscribe = ledger.subscribe(({ type }) => {
          if (type === 'committed' && candidates().length > 0) finish(resolve)
        })
        signal.addEventListener('abort', onAbort, { once: true })
      })
    },
    get current() {
      return current
    },
    whyNone() {
      const count = alive().length
      if (count === 0) return 'no member with --egress is alive; start one with `mesh start --egress`'
      return `${wanted ?? 'the wanted member'} is no egress node that is alive (${count} other${count === 1 ? ' is' : 's are'})`
    },
  }
}

function peersNamed(wanted: string, ledger: ServicesLedger): ReadonlySet<string> {
  if (tryParsePeerId(wanted) !== undefined) return new Set([wanted])
  const address = tryParseIp(wanted)
  const found = new Set<string>()
  for (const { key, entry } of ledger.snapshot().entries(BUCKETS.machines)) {
    if (entry.deleted) continue
    const record = machineRecord.safeParse(parseJson(entry.value)).data
    if (record !== undefined && ((record.Hostname === wanted && record['Guest'] !== true) || key === address))
      found.add(record.PeerID)
  }
  return found
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
