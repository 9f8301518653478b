/**
 * Which egress node requests leave through: the same one for as long as it is alive and answers, so that origins see
 * one address. Picked at random from those that are connected, else from all.
 */
import {
  BUCKETS,
  type Clock,
  createMemo,
  machineRecord,
  type PeerId,
  type Random,
  tryParseIp,
  tryParsePeerId,
} from '@mesh/core'
import type { Entry, Snapshot } from '@mesh/ledger'
import { awaitCommit } from '../await-commit.ts'
import { EGRESS_AWAITED_MS, FAILED_EGRESS_MS, LOCAL_WAIT_MS } from '../limits.ts'
import type { ServicesLedger, ServicesNetwork } from '../ports.ts'

export interface EgressChoiceComponents {
  readonly ledger: ServicesLedger
  readonly network: ServicesNetwork
  readonly clock: Clock
  readonly random: Random
}

/** @param wanted a peer id, a machine's name or its VPN address; undefined: any */
export function createEgressChoice(wanted: string | undefined, components: EgressChoiceComponents) {
  const { ledger, network, clock, random } = components
  const failedAt = new Map<PeerId, number>()
  const startedAt = clock.monotonic()
  let current: PeerId | undefined

  /** Those that may count: a member can write a hundred thousand that do not. */
  const offering = createLook(components, (snapshot) => {
    const peers = new Set<PeerId>()
    for (const { key, entry } of snapshot.entries(BUCKETS.egress)) {
      if (entry.deleted || key === network.self) continue
      // an owner signed the entry, and so is a peer
      if (entry.owner === key) peers.add(key as PeerId)
      else if (entry.owner === '' && tryParsePeerId(key) !== undefined) peers.add(key as PeerId)
    }
    return peers
  })
  const named = createNames(wanted, components)

  function alive(): readonly PeerId[] {
    const snapshot = ledger.snapshot()
    const now = clock.now()
    return [...offering()].filter((peer) => snapshot.isOwnerLive(peer, now))
  }

  function candidates(): readonly PeerId[] {
    if (wanted === undefined) return alive()
    const names = named()
    return alive().filter((peer) => names.has(peer))
  }

  /** The same as whether the candidates include it, without a look at each of them: all requests ask. */
  function isCandidate(peer: PeerId): boolean {
    const isMeant = wanted === undefined || named().has(peer)
    return isMeant && offering().has(peer) && ledger.snapshot().isOwnerLive(peer, clock.now())
  }

  const startLeftMs = () => startedAt + EGRESS_AWAITED_MS - clock.monotonic()
  const isSound = (peer: PeerId) =>
    clock.monotonic() - (failedAt.get(peer) ?? Number.NEGATIVE_INFINITY) > FAILED_EGRESS_MS

  return {
    /** Whom to try next. */
    pick(isUsable: (peer: PeerId) => boolean = () => true): PeerId | undefined {
      if (current !== undefined && isSound(current) && isUsable(current) && isCandidate(current))
        return current
      const usable = candidates().filter(isUsable)
      const sound = usable.filter(isSound)
      const connected = sound.filter((peer) => network.pathOf(peer) !== undefined)
      const from = [connected, sound, usable].find((list) => list.length > 0) ?? []
      const picked = from[Math.floor(random.float() * from.length)]
      if (picked !== undefined) current = picked
      return picked
    },
    /** It could not be reached: others go first for a while. */
    failed(peer: PeerId) {
      failedAt.set(peer, clock.monotonic())
      // peers that are gone are forgotten with the next ones
      for (const [known, at] of failedAt)
        if (clock.monotonic() - at > FAILED_EGRESS_MS) failedAt.delete(known)
    },
    /** It was reached: what failed before does not count any more. */
    succeeded(peer: PeerId) {
      failedAt.delete(peer)
    },
    /** How long, in ms from now, a request that reaches nobody is worth further tries: longer soon after the start. */
    retryMs: () => Math.max(LOCAL_WAIT_MS, startLeftMs()),
    /** Resolves when there is somebody to pick, or nobody has come within some time after the start. */
    async awaited(signal: AbortSignal): Promise<void> {
      const hasSome = () => candidates().length > 0
      const ms = startLeftMs()
      if (ms > 0 && !hasSome()) await awaitCommit(hasSome, { ledger, clock }, { ms, signal })
    },
    /** Whom the last requests left through. */
    get current(): PeerId | undefined {
      return current
    },
    /** Why there is nobody to pick, in words. */
    whyNone(): string {
      const count = alive().length
      if (count === 0) return 'no member with --egress is alive; start one with `mesh start --egress`'
      return `${wanted ?? 'the wanted member'} is no egress node that is alive (${count} other${count === 1 ? ' is' : 's are'})`
    },
  }
}

export type EgressChoice = ReturnType<typeof createEgressChoice>

/**
 * Looks through the ledger when it has changed, and after a look that took long rests for some times as long: each request
 * asks for what it finds.
 */
function createLook<T>(
  { ledger, clock }: Pick<EgressChoiceComponents, 'ledger' | 'clock'>,
  look: (snapshot: Snapshot) => T,
): () => T {
  let last: { readonly snapshot: Snapshot; readonly found: T; readonly restUntilMs: number } | undefined
  return () => {
    const snapshot = ledger.snapshot()
    const beganMs = clock.monotonic()
    if (last !== undefined && (last.snapshot === snapshot || beganMs < last.restUntilMs)) return last.found
    const found = look(snapshot)
    const endMs = clock.monotonic()
    last = { snapshot, found, restUntilMs: endMs + LOOK_REST * (endMs - beganMs) }
    return found
  }
}

const LOOK_REST = 8

/** Whom a name stands for. */
function createNames(
  wanted: string | undefined,
  components: Pick<EgressChoiceComponents, 'ledger' | 'clock'>,
): () => ReadonlySet<string> {
  if (wanted === undefined || tryParsePeerId(wanted) !== undefined) {
    const only = new Set(wanted === undefined ? [] : [wanted])
    return () => only
  }
  const address = tryParseIp(wanted)
  const read = createMemo<Entry, MachineName | null>()
  return createLook(components, (snapshot) => {
    const peers = new Set<string>()
    for (const { key, entry } of snapshot.entries(BUCKETS.machines)) {
      if (entry.deleted) continue
      let machine = read.get(entry)
      if (machine === undefined) read.set(entry, (machine = readMachine(entry.value)))
      if (machine !== null && (machine.hostname === wanted || key === address)) peers.add(machine.peer)
    }
    return peers
  })
}

interface MachineName {
  readonly peer: string
  /** Undefined for a guest, whose name is not its peer's. */
  readonly hostname: string | undefined
}

function readMachine(value: string): MachineName | null {
  const record = machineRecord.safeParse(parseJson(value)).data
  if (record === undefined) return null
  return { peer: record.PeerID, hostname: record['Guest'] === true ? undefined : record.Hostname }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
