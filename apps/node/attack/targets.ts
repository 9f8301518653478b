/** Whom the suite attacks: a node of ours or an EdgeVPN-compatible one, with an honest member beside it. */
import type { ApiClient } from '@mesh/api-client'
import { freePort } from '@mesh/testkit'
import { runEdgevpn } from '../test/edgevpn.ts'
import { createMesh, type Mesh, type StartOptions } from '../test/harness.ts'
import { untilTrue } from './until-true.ts'

export type TargetKind = 'mesh' | 'legacy'

export interface AttackTarget {
  readonly kind: TargetKind
  readonly pid: number
  readonly id: string
  /** Where it listens, ending with `/p2p/ID`. */
  readonly address: string
  /** Where its HTTP API answers, without a slash at the end. */
  readonly url: string
  /** Path of the cheapest answer that it gives. */
  readonly healthPath: string
  /** What whoever runs the node may ask of it, over its control socket; undefined for legacy nodes. */
  readonly control?: ApiClient
}

export interface Stage {
  startVictim(args: readonly string[], hasVpn?: boolean): Promise<AttackTarget>
  /** Starts an honest member that knows one address; resolves without waiting for a connection. */
  startMember(known: AttackTarget, args?: readonly string[]): Promise<AttackTarget>
  /** A folder of its own that goes with the stage. */
  makeFolder(): string
  stop(): Promise<void>
}

/** How long a node may take to start, in ms; the machine may be busy. */
const START_MS = 60_000

export function createStage(kind: TargetKind, token: string): Stage {
  return kind === 'mesh' ? createMeshStage(token) : createLegacyStage(token)
}

/** A node with a VPN is up when its interface is; its API is another flag's. */
const VPN = { command: 'vpn', until: 'interface up' } as const
const API_ARGS = ['--api', '--api-listen=127.0.0.1:0']

function createMeshStage(token: string): Stage {
  const mesh = createMesh()
  return {
    startVictim: (args, hasVpn = false) =>
      startMesh(mesh, hasVpn ? { token, args: [...args, ...API_ARGS], ...VPN } : { token, args }),
    startMember: (known, args = []) =>
      startMesh(mesh, { token, args: [`--discovery-bootstrap-peers=${known.address}`, ...args] }),
    makeFolder: () => mesh.makeFolder(),
    stop: () => mesh.cleanUp(),
  }
}

async function startMesh(mesh: Mesh, options: StartOptions): Promise<AttackTarget> {
  const node = await mesh.start(options)
  const address = node.addresses.find((each) => !each.includes('/ws'))
  if (address === undefined) throw new Error('the node listens nowhere')
  const { pid, id, url, control } = node
  return { kind: 'mesh', pid, id, address, url, control, healthPath: '/healthz' }
}

function createLegacyStage(token: string): Stage {
  const running: { stop(): Promise<void> }[] = []
  const start = async (known: readonly string[]): Promise<AttackTarget> => {
    const [apiPort, port] = [await freePort(), await freePort()]
    const node = runEdgevpn({
      token,
      args: ['api'],
      flags: [
        '--mdns=false',
        `--listen=127.0.0.1:${apiPort}`,
        `--listen-maddrs=/ip4/127.0.0.1/tcp/${port}`,
        ...known.map((address) => `--discovery-bootstrap-peers=${address}`),
      ],
    })
    running.push(node)
    const url = `http://127.0.0.1:${apiPort}`
    const id = await untilTrue(START_MS, async () => {
      const summary = (await (await fetch(`${url}/api/summary`)).json()) as { readonly NodeID?: string }
      return summary.NodeID
    })
    const address = `/ip4/127.0.0.1/tcp/${port}/p2p/${id}`
    return { kind: 'legacy', pid: node.pid, id, address, url, healthPath: '/api/summary' }
  }
  return {
    startVictim: () => start([]),
    startMember: (known) => start([known.address]),
    makeFolder() {
      throw new Error('a legacy node keeps no ledger')
    },
    async stop() {
      await Promise.all(running.map((node) => node.stop()))
    },
  }
}
