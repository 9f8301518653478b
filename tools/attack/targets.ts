/** Whom the suite attacks: a node of ours or an EdgeVPN-compatible one, with an honest member beside it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKeyPair, privateKeyToProtobuf } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { freePort } from '@mesh/testkit'
import { runEdgevpn } from '../../apps/node/test/edgevpn.ts'
import { createMesh, type Mesh, type StartOptions } from '../../apps/node/test/harness.ts'
import { isGreeted } from './health.ts'
import type { AttackTarget, Scenario, TargetKind } from './scenario.ts'
import { untilTrue } from './until-true.ts'

/** What the victim of an attack is started with. */
type Victim = Partial<Pick<Scenario, 'needs' | 'victimArgs' | 'hasVpn' | 'legacy' | 'prepareLedger'>>

export interface Stage {
  startVictim(victim: Victim): Promise<AttackTarget>
  /** Starts an honest member that knows one address; resolves without waiting for a connection. */
  startMember(known: AttackTarget, args?: readonly string[]): Promise<AttackTarget>
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
/** Of all legacy nodes: whom they know is said. */
const OF_LOOPBACK = ['--mdns=false']

function createMeshStage(token: string): Stage {
  const mesh = createMesh()
  return {
    async startVictim(victim) {
      const { needs = [], victimArgs = [], hasVpn = false } = victim
      const args = [...needs, ...victimArgs, ...(await preparedLedger(victim, mesh))]
      return await startMesh(mesh, hasVpn ? { token, args: [...args, ...API_ARGS], ...VPN } : { token, args })
    },
    startMember: (known, args = []) =>
      startMesh(mesh, { token, args: [`--discovery-bootstrap-peers=${known.address}`, ...args] }),
    stop: () => mesh.cleanUp(),
  }
}

/** The arguments by which the victim starts with the ledger that the attack wants. */
async function preparedLedger({ prepareLedger }: Victim, mesh: Mesh): Promise<readonly string[]> {
  if (prepareLedger === undefined) return []
  const folder = mesh.makeFolder()
  await prepareLedger(folder)
  return [`--ledger-state=${folder}`]
}

async function startMesh(mesh: Mesh, options: StartOptions): Promise<AttackTarget> {
  const node = await mesh.start(options)
  const address = node.addresses.find((each) => !each.includes('/ws'))
  if (address === undefined) throw new Error('the node listens nowhere')
  const { pid, id, url, control } = node
  return { kind: 'mesh', pid, id, address, url, control, healthUrl: `${url}/healthz` }
}

function createLegacyStage(token: string): Stage {
  const running: { stop(): Promise<void> }[] = []
  const startApi = async (flags: readonly string[], isVpn = false): Promise<AttackTarget> => {
    const [apiPort, port] = [await freePort(), await freePort()]
    const listen = `127.0.0.1:${apiPort}`
    const args = isVpn ? ['--api', `--api-listen=${listen}`, '--address=10.1.0.1/24'] : ['api']
    const ports = [`--listen-maddrs=/ip4/127.0.0.1/tcp/${port}`, ...(isVpn ? [] : [`--listen=${listen}`])]
    const node = runEdgevpn({ token, args, flags: [...OF_LOOPBACK, ...ports, ...flags] })
    running.push(node)
    const url = `http://${listen}`
    const id = await untilTrue(START_MS, async () => {
      const summary = (await (await fetch(`${url}/api/summary`)).json()) as { readonly NodeID?: string }
      return summary.NodeID
    })
    const address = `/ip4/127.0.0.1/tcp/${port}/p2p/${id}`
    return { kind: 'legacy', pid: node.pid, id, address, url, healthUrl: `${url}/api/summary` }
  }
  const startMember = (known: AttackTarget, args: readonly string[] = []) =>
    startApi([`--discovery-bootstrap-peers=${known.address}`, ...args])
  /** Starts a command that has no API, under a key that is known beforehand, and somebody who tells what its ledger has. */
  const startCommand = async (command: readonly string[], flags: readonly string[]) => {
    const [port, folder] = [await freePort(), mkdtempSync(join(tmpdir(), 'mesh-attack-key-'))]
    const key = await generateKeyPair('Ed25519')
    writeFileSync(join(folder, 'privkey'), privateKeyToProtobuf(key), { mode: 0o600 })
    const own = [
      '--privkey-cache',
      `--privkey-cache-dir=${folder}`,
      `--listen-maddrs=/ip4/127.0.0.1/tcp/${port}`,
    ]
    const node = runEdgevpn({ token, args: command, flags: [...OF_LOOPBACK, ...own, ...flags] })
    running.push(node, { stop: async () => rmSync(folder, { recursive: true, force: true }) })
    const healthUrl = `tcp://127.0.0.1:${port}`
    await untilTrue(START_MS, () => isGreeted(healthUrl))
    const id = peerIdFromPrivateKey(key).toString()
    const victim = { kind: 'legacy', pid: node.pid, id, url: '', healthUrl } as const
    const address = `/ip4/127.0.0.1/tcp/${port}/p2p/${id}`
    const { url } = await startMember({ ...victim, address })
    return { ...victim, address, url }
  }
  return {
    async startVictim({ legacy = {} }) {
      if ('meaningless' in legacy) throw new Error(legacy.meaningless)
      const { command, flags = [], hasVpn } = legacy
      return await (command === undefined ? startApi(flags, hasVpn) : startCommand(command, flags))
    },
    startMember,
    async stop() {
      await Promise.all(running.map((node) => node.stop()))
    },
  }
}
