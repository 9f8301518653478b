import type { NodeFactsView, StatsView } from '@mesh/api-contract'
import { type Clock, tryParsePeerId } from '@mesh/core'
import type { TrafficHistory } from '../history/traffic-history.ts'
import type { ApiListener } from '../listen/open-listener.ts'
import { issue, Problem } from '../messages/problem.ts'
import type {
  HealthPort,
  HealthProblem,
  NetworkPort,
  TrafficPort,
  TrafficStats,
  VersionPort,
} from '../ports.ts'
import { createHealthView } from '../views/health.ts'
import { statsView } from '../views/members.ts'
import { type HandlersOf, prepared } from './handler.ts'

type NodeIds =
  | 'getTrafficHistory'
  | 'getTraffic'
  | 'listProtocolTraffic'
  | 'getProtocolTraffic'
  | 'listPeerTraffic'
  | 'getPeerTraffic'
  | 'getNode'
  | 'getVersion'
  | 'getHealth'
  | 'getOpenApi'
  | 'getLiveness'
  | 'getReadiness'
  | 'getMetrics'

export interface NodeReadsComponents {
  readonly network: () => NetworkPort | undefined
  /** Undefined where nothing counts traffic. */
  readonly history: () => TrafficHistory | undefined
  readonly version: VersionPort
  readonly facts: () => NodeFactsView
  readonly health: HealthPort
  /** Answers with the text that Prometheus reads. */
  readonly exposition: () => string
  readonly clock: Clock
}

/** Version of the API; within one there are only additions. */
const API_VERSION = 1
const TEXT_TYPE = 'text/plain; charset=utf-8'
/** The content type of the Prometheus text format. */
const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function createNodeReads({
  network,
  history,
  version,
  facts,
  health,
  exposition,
  clock,
}: NodeReadsComponents): HandlersOf<NodeIds> {
  const traffic = () => reporterOf(network())
  const openApi = createOpenApiText()
  const healthView = createHealthView(clock)
  return {
    getTrafficHistory({ last }) {
      const kept = history()
      if (kept === undefined) throw new Problem('metrics.no_reporter')
      return kept.view(last)
    },
    getTraffic: () => statsView(traffic().total()),
    listProtocolTraffic: () => statsViews(traffic().byProtocol()),
    getProtocolTraffic: ({ protocol }) => statsView(traffic().byProtocol().get(protocol)),
    listPeerTraffic: () => statsViews(traffic().byPeer()),
    getPeerTraffic({ peer }) {
      const reporter = traffic()
      const id = tryParsePeerId(peer)
      if (id !== undefined) return statsView(reporter.byPeer().get(id))
      throw new Problem('http.bad_path', 'the path names no peer id', {
        hint: 'A peer id is 52 characters long and begins with 12D3KooW.',
        issues: [issue('peer', peer, 'a peer id, like 12D3KooW...')],
      })
    },
    getNode: facts,
    getVersion: () => ({ Version: version.version, Api: API_VERSION, Protocols: [...version.protocols()] }),
    getHealth: () => ({ ...healthView(health.problems()), Ownership: facts().Ownership }),
    getOpenApi: async () => prepared({ body: await openApi() }),
    getLiveness: () => prepared({ body: 'ok\n', type: TEXT_TYPE }),
    getReadiness() {
      if (!health.ready()) throw new Problem('node.not_ready')
      return prepared({ body: 'ok\n', type: TEXT_TYPE })
    },
    getMetrics: () => prepared({ body: exposition(), type: EXPOSITION_TYPE }),
  }
}

/** The generator is loaded when somebody first asks, and once. */
function createOpenApiText(): () => Promise<string> {
  let text: Promise<string> | undefined
  const make = async () => {
    const { buildOpenApiDocument } = await import('@mesh/api-contract/openapi')
    return `${JSON.stringify(buildOpenApiDocument())}\n`
  }
  return () => (text ??= make())
}

function reporterOf(network: NetworkPort | undefined): TrafficPort {
  if (network?.traffic !== undefined) return network.traffic
  throw new Problem('metrics.no_reporter')
}

function statsViews(stats: ReadonlyMap<string, TrafficStats>): Readonly<Record<string, StatsView>> {
  const views: Record<string, StatsView> = Object.create(null)
  for (const [id, each] of stats) views[id] = statsView(each)
  return views
}

/** A listener that other machines reach, without a token, is a problem to tell of. */
export function withExposure(
  health: HealthPort,
  listeners: ReadonlySet<Pick<ApiListener, 'url' | 'isExposed'>>,
  mayDo: () => string,
): HealthPort {
  const problemOf = ({ url }: Pick<ApiListener, 'url'>): HealthProblem => ({
    code: 'api.exposed',
    severity: 'warning',
    title: `Anyone who reaches ${url} may ${mayDo()}`,
    hint: 'Ask for tokens with --api-token-file FILE (`mesh api-token create` makes one), or listen on 127.0.0.1 or a unix socket.',
  })
  return {
    ready: () => health.ready(),
    problems: () => [
      ...health.problems(),
      ...[...listeners].filter(({ isExposed }) => isExposed).map(problemOf),
    ],
  }
}
