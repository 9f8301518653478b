/**
 * Looks up names that members ask for. The system's resolver is asked only for those that DNS, which needs no thread, does
 * not know (`system-names.ts`). These are names of the hosts file and of the local network.
 */
import { lookup, Resolver } from 'node:dns/promises'
import { NAME_TRIES, NAME_TRY_MS } from '../limits.ts'
import { type Asker, type AskSystem, SystemNames } from './system-names.ts'

/** The addresses of a name, those of IPv4 first. Rejects with the system's error, or the signal's reason. */
export type ResolveName = (name: string, asker: Asker) => Promise<readonly string[]>

/** Answers of DNS after which the system may still know the name. */
const UNKNOWN: readonly unknown[] = ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']

interface NameSources {
  /** Asks DNS for addresses of one family. */
  readonly askDns: (name: string, family: 4 | 6) => Promise<readonly string[]>
  readonly askSystem: AskSystem
}

/** @param sources default: DNS by the servers that the machine has now, and the system's resolver */
export function createNameResolver({ askDns, askSystem }: NameSources = SOURCES): ResolveName {
  const system = new SystemNames(askSystem)
  return async (name, asker) => {
    // no name of the Internet is without a dot
    if (!name.includes('.')) return system.lookUp(name, asker)
    const answers = await Promise.allSettled([askDns(name, 4), askDns(name, 6)])
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (found.length > 0) return found
    const failed = answers.find((answer) => answer.status === 'rejected' && !isUnknown(answer.reason))
    if (failed?.status === 'rejected') throw failed.reason
    return system.lookUp(name, asker)
  }
}

const SOURCES: NameSources = {
  // a resolver reads which servers there are when it is made, and they change as a machine moves
  askDns(name, family) {
    const resolver = new Resolver({ timeout: NAME_TRY_MS, tries: NAME_TRIES })
    return family === 4 ? resolver.resolve4(name) : resolver.resolve6(name)
  },
  askSystem: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
}

function isUnknown(error: unknown): boolean {
  return error instanceof Error && 'code' in error && UNKNOWN.includes(error.code)
}
