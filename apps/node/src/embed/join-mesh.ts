/**
 * A whole node inside another program: no interface, no root, no port but those by which members connect.
 *
 * 1. Reads the options as settings, and the network from the token.
 * 2. Starts the node, as `mesh start` does.
 * 3. Gives its ledger and services in the forms of programs.
 */
import { randomBytes } from 'node:crypto'
import type { Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { delay, MeshError, silentLogger, systemClock, systemRandom } from '@mesh/core'
import { endOfTurn } from '@mesh/core/limits'
import {
  LedgerValues,
  type MeshChange,
  type MeshLedger,
  type Waiting,
  type WatchInit,
} from '@mesh/ledger/values'
import { type MeshNode, startNode } from '../compose/create-node.ts'
import { createLogger } from '../log/create-logger.ts'
import { createLogTail } from '../log/log-tail.ts'
import { stateFolder } from '../settings/load-settings.ts'
import type { Settings } from '../settings/options.ts'
import { type Network, readNetwork } from '../state/network.ts'
import { type LeaseOptions, type MeshLease, takeLease } from './embedded-leases.ts'
import { EmbeddedServices, type MeshService } from './embedded-services.ts'
import { EMBEDDED_COMMAND, embeddedSettings } from './embed-settings.ts'
import { withHint } from './error-hints.ts'
import type { JoinMeshInit } from './join-init.ts'

/** A node of this program in its network. */
export interface Mesh extends AsyncDisposable {
  /** The peer id of this node. */
  readonly id: string
  /** The addresses by which others reach this node now, with its id: their `bootstrapPeers`. */
  readonly addresses: readonly string[]
  readonly ledger: MeshLedger
  /**
   * Offers a service that this program serves, and resolves when members can find it. Connections come to the server's
   * listeners without a port. The server need not listen, and may.
   * @param server one of `node:http` or `node:net`
   * @throws MeshError `services.bad_name`, `services.name_in_use` when this program offers the name already
   */
  listen(name: string, server: Server, waiting?: Waiting): Promise<MeshService>
  /**
   * Sends an HTTP request to the member that offers a service, this node included, as `fetch` does. It follows no
   * redirects, and the signal of the request ends it.
   * @param input `http://NAME.svc.mesh/PATH`
   * @throws MeshError `services.no_provider`, `services.refused`, `services.broken`, `services.bad_address`
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>
  /**
   * Connects to the member that offers a service, this node included.
   * @throws MeshError `services.no_provider`, `services.refused`, `p2p.unreachable`
   */
  dial(name: string, waiting?: Waiting): Promise<Duplex>
  /** Tells which member a connection of `listen` comes from: the `socket` of a request, or what a server got. */
  peerOf(connection: object): string | undefined
  /**
   * Gives the changes of a bucket, from the call on, until the loop or the node ends. A slow reader gets the last
   * change of each key.
   */
  watch(bucket: string, init?: WatchInit): AsyncIterableIterator<MeshChange>
  /**
   * Waits until the lease is this program's, and renews it until it is given back. Among members that reach each other one
   * holds it at a time; in a partition each side may have a holder, and only the fencing number tells them apart.
   * @throws MeshError `lease.held` when this program holds or waits for it already, `lease.bad_name`, `lease.bad_ttl`
   */
  lease(name: string, options?: LeaseOptions): Promise<MeshLease>
  /** Leaves the network and ends everything that was opened. Idempotent. */
  close(): Promise<void>
}

/**
 * Resolves when the node runs. It need not have met another member: a ledger that is written to before that waits a few
 * seconds for what others know. Several nodes of one process do not share anything.
 * @throws MeshError `node.bad_input`, `node.no_network`, `node.locked` when another process has the state, `network.*`;
 *   the signal's reason
 */
export async function joinMesh(init: JoinMeshInit): Promise<Mesh> {
  const { signal, log: write } = init
  signal?.throwIfAborted()
  const base = process.cwd()
  const { settings, sources } = embeddedSettings(init, base)
  const network = requireNetwork(settings)
  const surroundings = { environment: process.env, workingDirectory: base }
  const origin = { command: EMBEDDED_COMMAND, sources, surroundings, isErrorTerminal: false }
  const tail = createLogTail()
  const log =
    write === undefined
      ? silentLogger
      : createLogger(
          { format: 'json', levels: settings.logLevel, color: false, debug: settings.debug },
          { clock: systemClock, write, tail },
        )
  const closed = new AbortController()
  const node = await startNode(
    {
      settings,
      origin,
      network,
      base,
      stateDir: stateFolder(settings, surroundings),
      listen: undefined,
      hasVpn: false,
      needsDns: false,
      announcements: [],
    },
    { clock: systemClock, random: nodeRandom, log, tail, uptimeMs: () => performance.now() },
    { ...IGNORED, signal: signal === undefined ? closed.signal : AbortSignal.any([signal, closed.signal]) },
  )
  const { id, services } = node
  const ledger = new LedgerValues(node.ledger, { closed: closed.signal, explain: withHint })
  const served = new EmbeddedServices({
    services,
    ledger: node.ledger,
    zone: settings.dnsZone.replace(/\.$/, ''),
    closed: closed.signal,
  })
  let closing: Promise<void> | undefined
  const onAbort = () => void close().catch((error: unknown) => log.error('could not stop cleanly', { error }))
  const close = () => {
    signal?.removeEventListener('abort', onAbort)
    closed.abort(isClosed())
    return (closing ??= stopWhole(node))
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  return {
    id,
    get addresses() {
      return node.addresses()
    },
    ledger,
    listen: (...asked) => served.listen(...asked),
    fetch: (...asked) => served.fetch(...asked),
    dial: (...asked) => served.dial(...asked),
    peerOf: (connection) => served.peerOf(connection),
    watch: (...asked) => ledger.watch(...asked),
    async lease(name, options = {}) {
      closed.signal.throwIfAborted()
      const ended =
        options.signal === undefined ? closed.signal : AbortSignal.any([options.signal, closed.signal])
      return await takeLease(node.leases, name, { ...options, signal: ended })
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Time for the last timers of libp2p's queues, in ms. */
const LAST_TIMERS_MS = 10
/** Turns of the event loop until Node has closed the handles that it was told to close. */
const CLOSING_TURNS = 2

/** Resolves when the node has stopped and its handles are closed. */
async function stopWhole(node: MeshNode): Promise<void> {
  try {
    await node.stop()
  } finally {
    await delay(systemClock, LAST_TIMERS_MS)
    for (let turn = 0; turn < CLOSING_TURNS; turn++) await new Promise<void>((resolve) => endOfTurn(resolve))
  }
}

/** Randomness without WebCrypto, which takes long to load. */
const nodeRandom = { ...systemRandom, bytes: (length: number) => new Uint8Array(randomBytes(length)) }

/** A program that has a node learns of these by asking for them. */
const IGNORED = { onListening: () => {}, onInterface: () => {}, onService: () => {}, onDns: () => {} }

/** @throws MeshError `node.no_network`, `node.unreadable`, `network.bad_token` */
function requireNetwork(settings: Settings): Network {
  try {
    const network = readNetwork(settings)
    if (network !== undefined) return network
  } catch (error) {
    if (!(error instanceof MeshError) || error.hint !== undefined) throw error
    const { code, message, cause } = error
    throw new MeshError(code, message, { cause, hint: 'Name a file that this user can read as `tokenFile`.' })
  }
  throw new MeshError('node.no_network', 'joinMesh needs to know which network to join', {
    hint: 'Give `token` or `tokenFile`; `generateToken()` or `mesh -g -b` makes a new network.',
  })
}

function isClosed(): MeshError {
  return new MeshError('node.closed', 'this node was closed', { hint: 'Join again with `joinMesh`.' })
}
