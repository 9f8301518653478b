/** The API of this node, plugged into what it serves; the network joins later. */
import { hostname } from 'node:os'
import {
  type ApiServer,
  createApiServer,
  type DebugPort,
  type DoctorPort,
  type LogPort,
  type PeerProbe,
  type SettingsPort,
} from '@mesh/api-server'
import type { ReachabilityView } from '@mesh/api-contract'
import type { Clock, Logger, PeerId, Random } from '@mesh/core'
import type { Leases, Ledger } from '@mesh/ledger'
import type { P2pMember } from '@mesh/p2p/node'
import type { Replicator } from '@mesh/replication'
import type { Egress, FileSharing, Proxy, Services } from '@mesh/services'
import type { Trust } from '@mesh/trust'
import type { Vpn } from '@mesh/vpn'
import { nameInForce } from '../settings/node-name.ts'
import type { Settings } from '../settings/options.ts'
import { version } from '../version.ts'
import { createAccessPort } from '../access/access-port.ts'
import type { NodeRules } from '../access/open-rules.ts'
import { createRulesPort } from '../access/rules-port.ts'
import { rulesMetrics, rulesProblems } from '../access/rules-status.ts'
import { createAssets } from './assets.ts'
import { createBrowserMembers } from './browser-members.ts'
import { createDnsPort } from './dns-port.ts'
import { type ApiTokens, openApiTokens } from '../state/api-tokens.ts'
import type { NodeInit } from './node-init.ts'
import { findProblems } from '../health/health.ts'
import type { LedgerKeeper } from '../health/ledger-keeper.ts'
import { readMetrics } from '../metrics/metrics.ts'
import type { NodeDns } from './node-dns.ts'
import { readOpenFiles } from '../machine/open-files.ts'
import { trustMetrics, trustProblems } from '../access/trust-status.ts'
import { createVpnPort } from './vpn-port.ts'

export interface NodeApiComponents {
  readonly ledger: Ledger
  readonly leases: Leases
  /** Says what is wrong with the ledger's file. */
  readonly keeper: LedgerKeeper
  readonly dns: NodeDns
  /** Undefined where anyone who has the token is in. */
  readonly trust: Trust | undefined
  readonly rules: NodeRules
  /** Undefined unless the node runs with `--debug`. */
  readonly debug: DebugPort | undefined
  /** The lines and the levels of the log, where these can be changed. */
  readonly logPort: LogPort | undefined
  readonly doctor: DoctorPort
  readonly settings: SettingsPort
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** False when the files that this node keeps were removed underneath. */
  readonly isStateInPlace: () => boolean
  /** The file of this node's identity; undefined where it keeps none. */
  readonly identityFile: string | undefined
}

export interface NodeApi {
  readonly server: Pick<ApiServer, 'listen' | 'attachOffers' | 'endKeptWrites' | 'stop'>
  /** The host listens: peers, traffic and their events are served from now on. */
  attach(p2p: P2pMember): void
  /** This node has a VPN, which may not stand yet. */
  attachVpn(vpn: Vpn, setExitNode: (wanted: string | undefined) => void): void
  /** Gives the names that peers told on connections, and this node's own, by peer id. */
  toldNames(): ReadonlyMap<string, string>
  /** Shows parts in health and metrics, which may not run yet; with a replicator `/readyz` says that it runs. */
  show(parts: Shown): void
}

type NodeApiInit = Pick<NodeInit, 'settings' | 'network' | 'hasVpn'>

export function createApi(init: NodeApiInit, components: NodeApiComponents): NodeApi {
  return new AttachedApi(init, components)
}

interface Shown {
  readonly replicator?: Replicator
  readonly services?: Services
  readonly files?: FileSharing
  readonly egress?: Egress
  readonly proxy?: Proxy
}

class AttachedApi implements NodeApi {
  readonly #init: NodeApiInit
  readonly #components: NodeApiComponents
  readonly #startedAt: number
  readonly server: ApiServer
  readonly #attached: Shown & { p2p?: P2pMember; vpn?: Vpn } = {}
  readonly #tokens: ApiTokens | undefined

  constructor(init: NodeApiInit, components: NodeApiComponents) {
    const { settings, network, hasVpn } = init
    const { ledger, dns, trust, debug, logPort, doctor, clock, random, log } = components
    this.#init = init
    this.#components = components
    this.#startedAt = clock.monotonic()
    const { apiTokenFile } = settings
    this.#tokens = apiTokenFile === undefined ? undefined : openApiTokens(apiTokenFile, { clock, log })
    this.server = createApiServer(
      {
        allowedHosts: settings.apiAllowedHost,
        corsOrigins: settings.apiCors,
        ownNames: [hostname()],
        values: settings.apiValues,
        isReadOnly: settings.apiReadOnly,
      },
      {
        ledger,
        leases: components.leases,
        clock,
        random,
        dns: createDnsPort(dns),
        logger: log,
        version: { version, protocols: () => this.#attached.p2p?.protocols() ?? [] },
        node: { name: nameInForce(settings), networkId: network.id, instance: settings.instance, hasVpn },
        health: {
          ready: () => this.#isReady(),
          problems: () => this.#problems(),
        },
        metrics: () => this.#metrics(),
        ...(this.#tokens !== undefined && { tokens: this.#tokens }),
        ...(trust !== undefined && { access: this.#accessOf(trust) }),
        rules: createRulesPort(components.rules),
        ...(debug !== undefined && { debug }),
        ...(logPort !== undefined && { log: logPort }),
        doctor,
        settings: components.settings,
        reachability: () => this.#reachability(),
        ...pagesOf({ settings, addresses: () => this.#attached.p2p?.addresses() ?? [] }),
      },
    )
  }

  attach(node: P2pMember): void {
    this.#attached.p2p = node
    this.server.attachNetwork({
      members: () => node.topic.peers(),
      peers: () => node.peers(),
      probe: (peer, signal) => probePeer(node, peer, signal),
      addPeer: (address) => node.addPeer(address),
      forget: (peer) => node.forget(peer),
      pathReports: () => node.pathReports(),
      traffic: node.bandwidth,
      subscribe: (listener) => node.subscribe(listener),
    })
  }

  attachVpn(vpn: Vpn, setExitNode: (wanted: string | undefined) => void): void {
    this.#attached.vpn = vpn
    this.server.attachVpn(createVpnPort(vpn, setExitNode))
  }

  show(parts: Shown): void {
    Object.assign(this.#attached, parts)
  }

  toldNames(): ReadonlyMap<string, string> {
    const told = this.#attached.p2p?.peers() ?? []
    return new Map([
      ...told.flatMap(({ id, name = '' }) => (name === '' ? [] : [[id, name] as const])),
      [this.#components.ledger.self, nameInForce(this.#init.settings)],
    ])
  }

  #accessOf(trust: Trust) {
    const { ledger, clock } = this.#components
    const toldNames = () => this.toldNames()
    return createAccessPort({ trust, ledger, toldNames, now: () => clock.now() })
  }

  #isReady(): boolean {
    const { ledger, isStateInPlace } = this.#components
    const isStored = ledger.storeFailure() === undefined && isStateInPlace()
    return this.#attached.replicator !== undefined && isStored
  }

  #reachability(): ReachabilityView | undefined {
    const { p2p } = this.#attached
    if (p2p === undefined) return undefined
    const clock = this.#components.ledger.clockOffset()
    return {
      Addresses: [...p2p.addresses()],
      Ways: p2p.discovery().map(({ method, enabled, found = null, lastError = null }) => ({
        Name: method,
        Enabled: enabled,
        Found: found,
        LastError: lastError,
      })),
      Clock: clock === undefined ? null : { AheadMs: clock.aheadMs, Members: clock.members },
    }
  }

  #problems() {
    const { ledger, keeper, dns, clock, isStateInPlace, identityFile } = this.#components
    const { p2p, replicator, vpn, services, files } = this.#attached
    const bootstrapPeers = this.#init.settings.discoveryBootstrapPeers.length
    const times = { now: clock.now(), upMs: clock.monotonic() - this.#startedAt }
    const own = [
      ...(this.#tokens?.problems() ?? []),
      ...trustProblems(this.#components.trust, ledger),
      ...rulesProblems(this.#components.rules),
    ]
    return [
      ...own,
      ...findProblems({
        ...times,
        openFiles: readOpenFiles(),
        isStateInPlace: isStateInPlace(),
        replication: replicator?.status(),
        identityFile,
        ledger,
        keeper,
        p2p,
        vpn,
        services,
        files,
        dns,
        bootstrapPeers,
      }),
    ]
  }

  #metrics() {
    const { p2p, replicator, vpn, services, files, egress, proxy } = this.#attached
    const { trust, rules, ledger } = this.#components
    const common = readMetrics({
      p2p,
      replication: replicator?.status(),
      vpn: vpn?.status(),
      services: services?.status(),
      files: files?.offers(),
      egress: egress?.status(),
      proxy: proxy?.status(),
      dns: this.#components.dns.status(),
      version,
      uptimeSeconds: (this.#components.clock.monotonic() - this.#startedAt) / 1_000,
      memory: process.memoryUsage(),
    })
    return [...common, ...trustMetrics(trust, ledger), ...rulesMetrics(rules)]
  }
}

/** @throws MeshError `p2p.unreachable` */
async function probePeer(node: P2pMember, peer: PeerId, signal: AbortSignal): Promise<PeerProbe> {
  await node.connect(peer, signal)
  const rttMs = await node.ping(peer, signal)
  const status = node.peer(peer)
  return { path: status?.path ?? 'direct', transport: status?.transport, rttMs }
}

function pagesOf(init: { readonly settings: Settings; readonly addresses: () => readonly string[] }) {
  const assets = createAssets('ui')
  const browserMembers = createBrowserMembers(init)
  return {
    ...(assets !== undefined && { assets }),
    ...(browserMembers !== undefined && { browserMembers }),
  }
}
