import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'

/** The file in which systemd-resolved names the servers that it asks. */
export const RESOLVED_CONF = '/run/systemd/resolve/resolv.conf'

/** The DNS servers of this machine that others can be sent to: systemd-resolved's, where it is in between. */
export function machineResolvers(): readonly string[] {
  return firstServers(['/etc/resolv.conf', RESOLVED_CONF])
}

/** The DNS servers that systemd-resolved asks, but for those that a link alone knows. */
export function resolvedServers(): readonly string[] {
  return firstServers([RESOLVED_CONF])
}

function firstServers(files: readonly string[]): readonly string[] {
  for (const file of files) {
    const servers = readServers(file).filter((server) => !/^127\.|^::1$|^fe80:/i.test(server))
    if (servers.length > 0) return servers
  }
  return []
}

function readServers(file: string): readonly string[] {
  try {
    const found = readFileSync(file, 'utf8').matchAll(/^\s*nameserver\s+(\S+)/gm)
    return [...found].map(([, server = '']) => server).filter((server) => isIP(server) !== 0)
  } catch {
    return []
  }
}
