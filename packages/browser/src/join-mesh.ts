/**
 * A whole member inside a page.
 *
 * 1. Reads the network from the token.
 * 2. Makes trust and a ledger in memory, which checks every signature itself.
 * 3. Connects to the nodes that the page names, and proves that it holds the network's key.
 * 4. Keeps the ledger equal to those of the other members.
 */
import { MeshError, type PeerId, silentLogger, systemClock, systemRandom } from '@mesh/core'
import { createLedger, createSigner, defaultPolicies, type Ledger, type Signer } from '@mesh/ledger'
import { LedgerValues } from '@mesh/ledger/values'
import { type NetworkConfig, networkId, parseToken } from '@mesh/network'
import { createP2pTab, type P2pMember } from '@mesh/p2p/browser'
import { createReplicator, type Replicator } from '@mesh/replication'
import {
  createServiceClient,
  type ServiceClient,
  type ServicesNetwork,
  serviceNameIn,
} from '@mesh/services/client'
import { createTrust, type Trust } from '@mesh/trust'
import { fetchStream } from './http/fetch-stream.ts'
import type { JoinMeshInit, Mesh } from './mesh.ts'
import { TabStatus } from './tab-status.ts'

const DEFAULT_ZONE = 'mesh'
const SEED_BYTES = 32

interface Parts {
  readonly p2p: P2pMember
  readonly trust: Trust | undefined
  readonly ledger: Ledger
  readonly replicator: Replicator
  readonly client: ServiceClient
}

/**
 * Resolves when the tab runs. It need not have met a member: `state` and `onChange` tell when it has.
 * @throws MeshError `network.bad_token`, `trust.bad_invite`, `p2p.bad_identity`, `p2p.bad_bootstrap_peer`; the signal's
 *   reason
 */
export async function joinMesh(init: JoinMeshInit): Promise<Mesh> {
  const { signal, zone = DEFAULT_ZONE } = init
  signal?.throwIfAborted()
  const closed = new AbortController()
  const parts = await startParts(init)
  const { p2p, ledger, client } = parts
  const values = new LedgerValues(ledger, { closed: closed.signal })
  const status = new TabStatus(parts)
  let closing: Promise<void> | undefined
  const onAbort = () => void close()
  const close = () => {
    signal?.removeEventListener('abort', onAbort)
    closed.abort(new MeshError('node.closed', 'this tab has left the network', { hint: 'Join again.' }))
    status.stop()
    return (closing ??= stopParts(parts))
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  if (signal?.aborted === true) {
    await close()
    signal.throwIfAborted()
  }
  return {
    id: p2p.self,
    get state() {
      return status.state
    },
    get reason() {
      return status.reason
    },
    ledger: values,
    members: () => status.members(),
    async fetch(input, options) {
      closed.signal.throwIfAborted()
      const request = new Request(input, options)
      const name = serviceNameIn(new URL(request.url), { ledger, zone })
      const waiting = AbortSignal.any([request.signal, closed.signal])
      return await fetchStream(await client.open(name, waiting), request)
    },
    watch: (...asked) => values.watch(...asked),
    onChange: (listener) => status.onChange(listener),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function startParts(init: JoinMeshInit): Promise<Parts> {
  const { token, nodes, name, logger = silentLogger } = init
  const network = parseToken(token.trim())
  const seed = init.identity ?? systemRandom.bytes(SEED_BYTES)
  const components = { clock: systemClock, random: systemRandom, logger }
  const signer = createSigner(seed)
  const trust = openTrust({ init, network, signer })
  const ledger = createLedger(
    { policies: { ...defaultPolicies, ...trust?.policies } },
    { signer, ...components, ...(trust !== undefined && { admits: (...asked) => trust.admits(...asked) }) },
  )
  // writes wait until this tab knows what others did meanwhile
  ledger.holdClaims()
  trust?.attachLedger(ledger)
  try {
    const p2p = await createP2pTab(
      {
        network,
        identity: seed,
        bootstrapPeers: nodes,
        ...(name !== undefined && { name }),
        ...(trust !== undefined && { admission: trust }),
      },
      components,
    )
    const { topic, channels } = p2p
    const replicator = createReplicator({}, { ledger, topic, channels, ...components })
    await replicator.start()
    await trust?.start({ channels, publicTopic: undefined, topicPeers: () => topic.peers() }, (entries) =>
      replicator.publish(entries),
    )
    const announce = (...asked: Parameters<Replicator['keepAnnounced']>) => replicator.keepAnnounced(...asked)
    const parts = { ledger, network: servicesNetwork(p2p), announce, ...components, log: logger }
    return { p2p, trust, ledger, replicator, client: createServiceClient(parts) }
  } catch (error) {
    trust?.stop()
    await ledger.stop()
    throw error
  }
}

/** Undefined where anyone who has the token is in. @throws MeshError `trust.bad_invite` */
function openTrust(given: {
  readonly init: JoinMeshInit
  readonly network: NetworkConfig
  readonly signer: Signer
}): Trust | undefined {
  const { init, network, signer } = given
  const { administrators = [] } = network
  if (administrators.length > 0) {
    const about = { self: signer.peerId, network: networkId(network), administrators, invite: init.invite }
    const { logger: log = silentLogger } = init
    const none = () => undefined
    return createTrust(about, {
      signer,
      readAdminSeed: none,
      checkPolicy: undefined,
      clock: systemClock,
      random: systemRandom,
      log,
    })
  }
  if (init.invite === undefined) return undefined
  throw new MeshError('trust.bad_invite', 'there is an invite, and the token names no administrators', {
    hint: 'Give the token that all machines of the network have, or leave the invite out.',
  })
}

function servicesNetwork(p2p: P2pMember): ServicesNetwork {
  return {
    self: p2p.self,
    streams: p2p.streams,
    speaks: (peer, protocol) => p2p.speaks(peer, protocol),
    connect: (peer, signal) => p2p.connect(peer, signal),
    pathOf(peer: PeerId) {
      const { path, transport, rttMs } = p2p.peer(peer) ?? {}
      return path === undefined ? undefined : { path, transport, rttMs }
    },
    addressOf: (peer) => p2p.peer(peer)?.remoteIp,
    onPath: (listener) => p2p.onPath(listener),
  }
}

async function stopParts({ p2p, trust, ledger, replicator, client }: Parts): Promise<void> {
  client.stop()
  trust?.stop()
  await ledger.stop()
  await replicator.stop()
  await p2p.stop()
}
