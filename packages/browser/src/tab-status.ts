/** Where a tab stands: connected or not, let in or not, and who else is alive. */
import { BUCKETS, systemClock, tryParsePeerId } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import type { P2pMember } from '@mesh/p2p/browser'
import type { Trust } from '@mesh/trust'
import type { MeshMember, MeshState } from './mesh.ts'

interface TabStatusInit {
  readonly p2p: P2pMember
  readonly trust: Trust | undefined
  readonly ledger: Ledger
}

export class TabStatus {
  readonly #init: TabStatusInit
  readonly #listeners = new Set<() => void>()
  readonly #ends: readonly (() => void)[]

  constructor(init: TabStatusInit) {
    this.#init = init
    const { p2p, trust, ledger } = init
    const tell = () => {
      for (const listener of this.#listeners) listener()
    }
    const isTold = (bucket: string) => bucket === BUCKETS.healthcheck || bucket === BUCKETS.admission
    this.#ends = [
      p2p.onPath(tell),
      p2p.topic.onPeer(tell),
      trust?.onChange(tell) ?? (() => {}),
      ledger.subscribe((event) => {
        if (event.type === 'committed' && event.changes.some(({ bucket }) => isTold(bucket))) tell()
      }),
    ]
  }

  get state(): MeshState {
    const { p2p, trust } = this.#init
    const { administration } = trust ?? {}
    if (administration?.isRevoked(p2p.self) === true) return 'removed'
    const connected = p2p.peers().filter((peer) => peer.connected && peer.member)
    if (connected.length === 0) return 'connecting'
    return administration?.mayUse(p2p.self) === false ? 'waiting' : 'joined'
  }

  get reason(): string | undefined {
    return this.#init.trust?.administration?.whyNoInvite
  }

  members(): readonly MeshMember[] {
    const { p2p, ledger } = this.#init
    const snapshot = ledger.snapshot()
    const now = systemClock.now()
    const ids = [...snapshot.entries(BUCKETS.healthcheck)].flatMap(({ key, entry }) => {
      const id = tryParsePeerId(key)
      return id === undefined || entry.deleted || !snapshot.isOwnerLive(id, now) ? [] : [id]
    })
    const others = ids.filter((id) => id !== p2p.self)
    return [p2p.self, ...others].map((id) => {
      const { name, path } = p2p.peer(id) ?? {}
      return { id, name, path }
    })
  }

  onChange(listener: () => void): () => void {
    const own = () => listener()
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  stop(): void {
    for (const end of this.#ends) end()
    this.#listeners.clear()
  }
}
