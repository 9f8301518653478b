/**
 * The composition root: joins the parts in this order, and stops them in the reverse one.
 *
 * 1. The instance's folder, locked, and the identity in it.
 * 2. Store and ledger.
 * 3. The API, which answers from here on.
 * 4. The libp2p host, replication, the VPN if wanted, and the slower transports.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DebugPort, DoctorPort, LogPort } from '@mesh/api-server'
import { type Clock, delay, type PeerId } from '@mesh/core'
import { openExitHost } from '@mesh/exit-node'
import { createLeases, type Leases, type Ledger } from '@mesh/ledger'
import { openKeptExit } from './kept-exit.ts'
import { nameInForce } from '../settings/node-name.ts'
import { createIdentity, identityPath, openIdentity } from '../state/identity.ts'
import { openInstanceFolder } from '../state/instance-folder.ts'
import { createJournals } from '../state/journals.ts'
import { createApi } from './create-api.ts'
import type { NodeComponents, NodeInit, StartOptions } from './node-init.ts'
import { createNodeDns } from './node-dns.ts'
import { createCleanUps, type CleanUps } from '../clean-ups.ts'
import type { Joined } from './join-network.ts'
import { openLedger } from './open-ledger.ts'
import type { SelfInit } from '../doctor/examine-self.ts'
import { settingViews } from '../settings/settings-in-force.ts'
import { openRules } from '../access/open-rules.ts'
import { openTrust } from '../access/open-trust.ts'
import { restoreResolver } from '../resolver/restore-resolver.ts'
import { createLogPort } from '../log/log-port.ts'

/** Time for the first requests between the API and the host. */
const FIRST_ANSWERS_MS = 10

export interface MeshNode extends Joined {
  readonly id: PeerId
  readonly ledger: Ledger
  readonly leases: Leases
  /** Idempotent; leaves nothing running. */
  stop(): Promise<void>
}

/** Resolves when everything stands; when it rejects, or the signal aborts, nothing of it is left. */
export async function startNode(
  init: NodeInit,
  components: NodeComponents,
  options: StartOptions,
): Promise<MeshNode> {
  const cleanUps = createCleanUps()
  try {
    return await startParts({ ...init, ...components, ...options }, cleanUps)
  } catch (error) {
    await cleanUps.run()
    throw error
  }
}

async function startParts(
  given: NodeInit & NodeComponents & StartOptions,
  cleanUps: CleanUps,
): Promise<MeshNode> {
  const { network, stateDir, listen, clock, random, log, uptimeMs, signal } = given
  const { instance, ephemeral } = given.settings
  const folder = openInstanceFolder({ stateDir, networkId: network.id, instance })
  cleanUps.add(() => folder.release({ remove: ephemeral }))
  const keptExit = openKeptExit(ephemeral ? undefined : folder.path, given.settings, log.child('exit'))
  const { settings } = keptExit
  const parts = { ...given, settings }
  const logPort = openLogPort(parts, folder.path)
  restoreResolver(stateDir, log)
  const exitLog = log.child('exit')
  const journals = createJournals(stateDir, exitLog)
  const exit = openExitHost({ settings, journals, hasVpn: parts.hasVpn, clock, log: exitLog })
  cleanUps.add(() => exit.stop())
  const identity = settings.ephemeral ? createIdentity(random) : openIdentity(folder.path, random, log)
  const trust = await openTrust({ settings, network, identity, stateDir }, { clock, random, log })
  cleanUps.add(() => trust?.stop())
  const { ledger, keeper } = openLedger({ settings, identity, folder: folder.path, trust }, { clock, log })
  cleanUps.add(() => keeper.stop())
  cleanUps.add(() => ledger.stop())
  trust?.attachLedger(ledger)
  const toldNames = () => api.toldNames()
  const rules = await openRules({ settings, ledger, trust, toldNames }, { clock, log })
  cleanUps.add(() => rules.stop())
  const leases = createLeases({ ledger, clock, random })

  const dns = createNodeDns(parts, { ledger, clock, random, log })
  cleanUps.add(() => dns.stop())
  const debug = settings.debug ? await openDebugPort(clock) : undefined
  const identityFile = settings.ephemeral ? undefined : identityPath(folder.path)
  const isStateInPlace = () =>
    folder.isInPlace() && keeper.isInPlace() && (identityFile === undefined || existsSync(identityFile))
  const doctor = createDoctor({ settings, stateDir, controlSocket: folder.controlSocket }, clock)
  const inForce = { ...parts.origin, settings, stateDir, folder: folder.path }
  const told = { debug, logPort, doctor, settings: () => settingViews(inForce) }
  const served = { ledger, leases, keeper, dns, trust, rules, isStateInPlace, identityFile, ...told }
  const api = createApi(parts, { ...served, clock, random, log })
  cleanUps.add(() => api.server.stop())
  // before the API ends, so that whoever waits for a write is told
  cleanUps.add(() => ledger.stop())
  await api.server.listen({ kind: 'unix', path: folder.controlSocket, mode: 0o600, isControl: true })
  const listener = listen === undefined ? undefined : await api.server.listen(listen)
  log.info('api listening', {
    url: listener?.url,
    socket: folder.controlSocket,
    id: identity.id,
    name: nameInForce(settings),
    network: network.id,
    instance: settings.instance,
    afterMs: Math.round(uptimeMs()),
  })
  parts.onListening(listener?.url)

  // who waited for the API is answered before the loading of libp2p keeps the processor busy
  await delay(clock, FIRST_ANSWERS_MS)
  signal.throwIfAborted()
  const { joinNetwork } = await import('./join-network.ts')
  const joined = await joinNetwork(
    {
      ...parts,
      folder: folder.path,
      identity,
      ledger,
      leases,
      trust,
      rules: rules.rules,
      api,
      exit,
      keptExit,
      dns,
    },
    cleanUps,
  )
  return { ...joined, id: identity.id, ledger, leases, stop: () => cleanUps.run() }
}

/** Loads what profiles need, which no other node does. */
async function openDebugPort(clock: Clock): Promise<DebugPort> {
  const { createDebugPort } = await import('../debug/create-debug-port.ts')
  return createDebugPort(clock)
}

/** Loads the checks when somebody asks for them. */
function createDoctor(init: SelfInit, clock: Clock): DoctorPort {
  return async () => {
    const { examineSelf } = await import('../doctor/examine-self.ts')
    return await examineSelf(init, clock)
  }
}

function openLogPort(
  { settings, levels, tail, namesLevels = false, log }: NodeInit & NodeComponents,
  folder: string,
): LogPort | undefined {
  if (levels === undefined) return undefined
  const file = settings.ephemeral ? undefined : join(folder, 'log-level')
  return createLogPort({ file, isNamed: namesLevels }, { levels, tail, log })
}
