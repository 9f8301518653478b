/** The servers that questions are passed on to: which come in question for a name, and how well they answered. */
import type { Clock } from '@mesh/core'
import { SERVER_PENALTY_MS } from '../limits.ts'
import { isUnder } from '../names.ts'
import type { ServerAddress } from './exchange.ts'

export interface ForwardServer extends ServerAddress {
  /** `.` for all names, `example.com.` for those of this domain alone. */
  readonly domain: string
}

export interface ServerStatus extends ForwardServer {
  /** Number of answers since the start. */
  readonly answers: number
  /** Number of failures since the start. */
  readonly failures: number
  /** The last failure, when nothing was answered since. */
  readonly failing: { readonly atMs: number; readonly reason: string } | undefined
}

interface Health {
  answers: number
  failures: number
  failing: { readonly atMs: number; readonly reason: string } | undefined
}

export function createServers(servers: readonly ForwardServer[], clock: Clock) {
  const health = new Map<ForwardServer, Health>(
    servers.map((server) => [server, { answers: 0, failures: 0, failing: undefined }]),
  )
  const domains = [...new Set(servers.map(({ domain }) => domain))].sort((a, b) => b.length - a.length)
  const healthOf = (server: ForwardServer): Health =>
    health.get(server) ?? { answers: 0, failures: 0, failing: undefined }
  /** When servers failed last, by the monotonic clock. */
  const failedAt = new Map<ForwardServer, number>()
  const penaltyOf = (server: ForwardServer) => {
    const at = failedAt.get(server)
    return at !== undefined && clock.monotonic() - at < SERVER_PENALTY_MS ? at : 0
  }
  return {
    /** The longest domain that has servers for the name. */
    domainOf: (name: string) => domains.find((domain) => isUnder(name, domain)),
    /** Those for a domain: first the ones that answer, in the order given, then the others. */
    inOrder: (domain: string) =>
      servers.filter((server) => server.domain === domain).toSorted((a, b) => penaltyOf(a) - penaltyOf(b)),
    succeeded(server: ForwardServer) {
      const known = healthOf(server)
      known.answers++
      known.failing = undefined
      failedAt.delete(server)
    },
    failed(server: ForwardServer, reason: string) {
      const known = healthOf(server)
      known.failures++
      known.failing = { atMs: clock.now(), reason }
      failedAt.set(server, clock.monotonic())
    },
    status: () => servers.map((server) => ({ ...server, ...healthOf(server) })),
  }
}
