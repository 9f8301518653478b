/** A node's API with a real ledger and a network that the test plays. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ApiClient, createClient } from '@mesh/api-client'
import { createNodeClient } from '@mesh/api-client/node'
import { type Clock, silentLogger, systemClock, systemRandom } from '@mesh/core'
import { createLedger, type Ledger } from '@mesh/ledger'
import { createNodeSigner, createNodeVerifier } from '@mesh/ledger/node'
import {
  type ApiListener,
  type ApiServer,
  type ApiServerComponents,
  type ApiServerInit,
  createApiServer,
  type NetworkEvent,
  type NetworkPort,
  type PeerState,
  type TrafficStats,
} from '../src/index.ts'

export const PEER = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
export const PAGE = '<!doctype html><title>mesh</title>'

export interface TestNode {
  readonly server: ApiServer
  readonly ledger: Ledger
  readonly listener: ApiListener
  readonly unix: ApiListener
  readonly client: ApiClient
  readonly unixClient: ApiClient
  readonly socketPath: string
  /** Tells the API what happened in the network. */
  emit(event: NetworkEvent): void
  stop(): Promise<void>
}

export interface TestNodeInit extends ApiServerInit {
  readonly components?: Partial<ApiServerComponents>
  readonly withoutNetwork?: boolean
  readonly clock?: Clock
}

export async function startTestNode(init: TestNodeInit = {}): Promise<TestNode> {
  const clock = init.clock ?? systemClock
  const ledger = createLedger({}, { signer: newSigner(), verify: createNodeVerifier(), clock })
  const listenersOfNetwork = new Set<(event: NetworkEvent) => void>()
  const server = createApiServer(init, {
    ledger,
    clock,
    random: systemRandom,
    logger: silentLogger,
    version: { version: '0.1.0', protocols: () => ['/mesh/replication/1'] },
    health: { problems: () => [], ready: () => true },
    assets: {
      get: (path) => (path === '/index.html' ? { bytes: Buffer.from(PAGE), type: 'text/html' } : undefined),
    },
    ...(init.withoutNetwork !== true && { network: fakeNetwork(listenersOfNetwork) }),
    ...init.components,
  })
  const folder = mkdtempSync(join(tmpdir(), 'mesh-api-'))
  const socketPath = join(folder, 'api.sock')
  const listener = await server.listen({ kind: 'tcp', host: '127.0.0.1', port: 0 })
  const unix = await server.listen({ kind: 'unix', path: socketPath })
  return {
    server,
    ledger,
    listener,
    unix,
    socketPath,
    client: createClient({ baseUrl: listener.url }),
    unixClient: createNodeClient({ baseUrl: unix.url }),
    emit(event) {
      for (const tell of listenersOfNetwork) tell(event)
    },
    async stop() {
      await server.stop()
      await ledger.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

export function newSigner() {
  return createNodeSigner(crypto.getRandomValues(new Uint8Array(32)))
}

export const STATS: TrafficStats = { totalIn: 5462, totalOut: 95_348, rateIn: 0, rateOut: 4808.5 }

function fakeNetwork(listeners: Set<(event: NetworkEvent) => void>): NetworkPort {
  const peer: PeerState = {
    id: PEER,
    connected: true,
    member: true,
    path: 'direct',
    transport: 'tcp',
    addresses: ['/ip4/127.0.0.1/tcp/4001'],
    rttMs: 4,
    lastSeen: Date.UTC(2026, 0, 1),
    lastError: undefined,
    agent: 'mesh/0.1.0',
  }
  return {
    members: () => [PEER],
    peers: () => [peer],
    traffic: {
      total: () => STATS,
      byProtocol: () => new Map([['/meshsub/1.2.0', STATS]]),
      byPeer: () => new Map([[PEER, STATS]]),
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
