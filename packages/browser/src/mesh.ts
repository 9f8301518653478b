/** A tab in its network, as a page sees it. */
import type { Logger, PeerId } from '@mesh/core'
import type { MeshChange, MeshLedger, WatchInit } from '@mesh/ledger/values'

/** The options of a page that joins a network. */
export interface JoinMeshInit {
  /** The network to join, as `mesh -g -b` makes it. It stays in the tab. */
  readonly token: string
  /** The code of an invite (`mesh admin invite`), for a network with administrators. */
  readonly invite?: string | undefined
  /**
   * The nodes to join by, at least one: WebSocket addresses such as `/ip4/192.0.2.7/tcp/4002/ws/p2p/12D3KooW...`. From
   * a page over HTTPS a browser connects to `/wss` alone.
   */
  readonly nodes: readonly string[]
  /** The name that members see: 1 to 63 letters, digits and hyphens. Default: none. */
  readonly name?: string | undefined
  /** The Ed25519 seed of this member, 32 bytes: keep it to be the same member later. Default: a new one. */
  readonly identity?: Uint8Array | undefined
  /** The zone of the network's names, without a dot at the end. Default `mesh`. */
  readonly zone?: string | undefined
  /** Aborts the joining; afterwards it leaves the network. */
  readonly signal?: AbortSignal | undefined
  /** Takes the log. Default: nothing is logged. */
  readonly logger?: Logger | undefined
}

/**
 * `connecting`: no member is connected. `waiting`: members are, and no administrator has let this tab in yet. `joined`:
 * it may use the network. `removed`: an administrator shut it out.
 */
export type MeshState = 'connecting' | 'waiting' | 'joined' | 'removed'

/** One member whose heartbeat is fresh. */
export interface MeshMember {
  readonly id: PeerId
  /** The name that it gives itself, where this tab is connected to it. */
  readonly name: string | undefined
  /** How this tab is connected to it now; undefined: over others, by the ledger. */
  readonly path: 'direct' | 'relayed' | undefined
}

export interface Mesh extends AsyncDisposable {
  /** The peer id of this tab. */
  readonly id: PeerId
  readonly state: MeshState
  /** Says why this tab is not let in, where it knows. */
  readonly reason: string | undefined
  readonly ledger: MeshLedger
  /** Gives the members that are alive, this tab first. */
  members(): readonly MeshMember[]
  /**
   * Sends an HTTP request to the member that offers a service, as `fetch` does. Nodes on the way carry bytes that they
   * cannot read. It follows no redirects, and the signal of the request ends it.
   * @param input `http://NAME.svc.mesh/PATH`
   * @throws MeshError `services.no_provider`, `services.refused`, `services.broken`, `services.bad_address`
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>
  /** Gives the changes of a bucket, from the call on, until the loop ends or the tab leaves. */
  watch(bucket: string, init?: WatchInit): AsyncIterableIterator<MeshChange>
  /** Calls the listener when the state or the members changed; the returned function ends it. */
  onChange(listener: () => void): () => void
  /** Leaves the network and ends everything that was opened. Idempotent. */
  close(): Promise<void>
}
