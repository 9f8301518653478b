/** Asks each DNS server of this machine, so that the doctor can say which are silent. */
import { getServers, Resolver } from 'node:dns/promises'
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
