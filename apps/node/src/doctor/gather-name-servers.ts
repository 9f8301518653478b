/** Asks each DNS server of this machine, so that the doctor can say which are silent. */
import { getServers, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Clock } from '@mesh/core'
import type { NameServer } from './facts.ts'
import { tried } from './tried.ts'

/** A C library asks no more than three. */
const MAX_SERVERS = 3
/** The wait for the first answer, in ms; the second is twice as long. */
const TRY_MS = 700
/** Errors that say that nobody answered; every other one is an answer. */
const SILENT: ReadonlySet<string> = new Set(['ETIMEOUT', 'ECONNREFUSED', 'ECANCELLED'])

/** @param servers those that the system is told to ask, unless given */
export async function gatherNameServers(
  clock: Clock,
  servers: readonly string[] = getServers(),
): Promise<readonly NameServer[]> {
  return await Promise.all(
    servers
      .slice(0, MAX_SERVERS)
      .map(async (address) => ({ address, tried: await tried(() => ask(address), clock) })),
  )
}

/** True when there are servers, and none answers. */
export function areSilent(servers: readonly NameServer[]): boolean {
  return servers.length > 0 && servers.every((server) => !server.tried.works)
}

/**
 * Says why a URL's host cannot be looked up; undefined while it may be. A look-up that nobody answers takes the system's
 * resolver many seconds, keeps the process from ending, and cannot be stopped: it must not be begun.
 *
 * @param hosts the text of /etc/hosts
 */
export function whyNotFound(
  url: string,
  { servers, hosts }: { readonly servers: readonly NameServer[]; readonly hosts: string },
): string | undefined {
  if (!URL.canParse(url)) return undefined
  const { protocol, hostname } = new URL(url)
  if (protocol === 'unix:' || isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0) return undefined
  const isLocal = /(^|\.)(localhost|local)$/.test(hostname) || hosts.split(/\s+/).includes(hostname)
  return isLocal || !areSilent(servers) ? undefined : `no DNS server answers who ${hostname} is`
}

/** Asks for the servers of the root, which tells nobody anything of this machine. Rejects when nothing answers. */
async function ask(server: string): Promise<void> {
  const resolver = new Resolver({ timeout: TRY_MS, tries: 2 })
  resolver.setServers([server])
  try {
    await resolver.resolveNs('.')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (SILENT.has(code)) throw new Error(code === 'ECONNREFUSED' ? 'refused' : 'silent', { cause: error })
  }
}
