/** Says what is wrong with names, in words and with what to do. */
import type { DnsProblem, DnsStatus } from './dns.ts'
import { whereOf } from './forwarder/exchange.ts'
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
  const unserved = looped.filter(({ domain }) => !isAsked(status, domain))
  const [first] = unserved
  if (first !== undefined) {
    problems.push({
      code: 'dns.forwards_to_itself',
      severity: 'warning',
      title: `${namesOf(first.domain)} are not resolved: the only DNS server given for them is this node itself (${unserved.map(whereOf).join(', ')})`,
      hint: NAME_A_SERVER,
    })
  } else if (isServing && wantsForwarding && status.forwarder === undefined) {
    problems.push({
      code: 'dns.no_forwarder',
      severity: 'warning',
      title:
        'Names outside this network are not resolved: this machine names no DNS server that they could be asked at',
      hint: NAME_A_SERVER,
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

const NAME_A_SERVER =
  'Start the node with another server, such as --dns-forward-server 9.9.9.9, or turn forwarding off with --no-dns-forwarder.'

function isAsked({ forwarder }: DnsStatus, domain: string): boolean {
  return forwarder?.servers.some((server) => server.domain === domain) === true
}

function namesOf(domain: string): string {
  return domain === '.' ? 'Names outside this network' : `Names of ${domain}`
}

/** Tells of a domain whose servers all fail: one that another server answers for is no problem. */
function failingServers({ forwarder }: DnsStatus, now: number): readonly DnsProblem[] {
  const byDomain = Map.groupBy(forwarder?.servers ?? [], ({ domain }) => domain)
  return [...byDomain].flatMap(([domain, servers]) => {
    const failing = servers.flatMap(({ failing: last }) => (last === undefined ? [] : [last]))
    const [last] = failing.toSorted((a, b) => b.atMs - a.atMs)
    if (failing.length < servers.length || last === undefined || now - last.atMs > FAILING_TOLD_MS) return []
    return [
      {
        code: 'dns.forwarders_failing',
        severity: 'warning' as const,
        title: `${namesOf(domain)} are not resolved: ${servers.map(whereOf).join(', ')} failed (${last.reason})`,
        hint: 'Check the connection to these servers, or name others with --dns-forward-server.',
        since: Math.min(...failing.map(({ atMs }) => atMs)),
      },
    ]
  })
}
