import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'

/** The DNS servers of this machine that others can be sent to: systemd-resolved's, where it is in between. */
export function machineResolvers(): readonly string[] {
  for (const file of ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf']) {
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
