/** Says what is wrong with names, in words and with what to do. */
import type { DnsProblem, DnsStatus } from './dns.ts'
import type { ForwardServer } from './forwarder/servers.ts'
import { FAILING_TOLD_MS } from './limits.ts'

export interface DnsProblemsView {
  readonly status: DnsStatus
  /** Servers that are this one. */
  readonly looped: readonly ForwardServer[]
  readonly wantsForwarding: boolean
  readonly now: number
}

export function findDnsProblems({
  status,
  looped,
  wantsForwarding,
  now,
}: DnsProblemsView): readonly DnsProblem[] {
  const problems: DnsProblem[] = []
  const isServing = status.listening.length > 0
  if (looped.length > 0) {
    problems.push({
      code: 'dns.forwards_to_itself',
      severity: 'warning',
      title: `This DNS server is given as its own forwarder (${looped.map(whereOf).join(', ')})`,
      hint: 'It is left out; name another server with --dns-forward-server.',
    })
  }
  if (isServing && wantsForwarding && status.forwarder === undefined) {
    problems.push({
      code: 'dns.no_forwarder',
      severity: 'warning',
      title: 'No server is known that other names could be asked at',
      hint: 'Name one with --dns-forward-server, or turn forwarding off with --no-dns-forwarder.',
    })
  }
  problems.push(...failingServers(status, now))
  if (status.names.ignoredPatterns > 0) {
    problems.push({
      code: 'dns.too_many_patterns',
      severity: 'warning',
      title: `${status.names.ignoredPatterns} patterns of the ledger are not used: there are too many`,
      hint: 'Delete what is not needed from the bucket dns; the oldest patterns are used.',
    })
  }
  return problems
}

/** Tells of a domain whose servers all fail: one that another server answers for is no problem. */
function failingServers({ forwarder }: DnsStatus, now: number): readonly DnsProblem[] {
  const byDomain = Map.groupBy(forwarder?.servers ?? [], ({ domain }) => domain)
  return [...byDomain].flatMap(([domain, servers]) => {
    const failing = servers.flatMap(({ failing: last }) => (last === undefined ? [] : [last]))
    const [last] = failing.toSorted((a, b) => b.atMs - a.atMs)
    if (failing.length < servers.length || last === undefined || now - last.atMs > FAILING_TOLD_MS) return []
    const what = domain === '.' ? 'Names outside this network' : `Names of ${domain}`
    return [
      {
        code: 'dns.forwarders_failing',
        severity: 'warning' as const,
        title: `${what} are not resolved: ${servers.map(whereOf).join(', ')} failed (${last.reason})`,
        hint: 'Check the connection to these servers, or name others with --dns-forward-server.',
        since: Math.min(...failing.map(({ atMs }) => atMs)),
      },
    ]
  })
}

function whereOf({ address, port }: ForwardServer): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}
