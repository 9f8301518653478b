/**
 * Tells which connections this machine dialled from a port that one of its programs listens at. Some programs do so to keep one NAT
 * mapping. The kernel does not say who began a connection, but it counts acknowledged bytes, and the dialler's SYN is one.
 */
import { isIP } from 'node:net'
import { MAX_ASKED_PORTS } from '../limits.ts'
import { trySystem } from './system-command.ts'

/** A TCP connection that others began to a program of this machine. */
export interface InboundConnection {
  /** The address of this machine. */
  readonly local: string
  readonly localPort: number
  readonly remote: string
  readonly remotePort: number
}

/** Leaves out those that this machine dialled; all stay where nobody can say, so that no login ends. */
export function withoutDialled(connections: readonly InboundConnection[]): readonly InboundConnection[] {
  const ports = [...new Set(connections.map(({ localPort }) => localPort))].slice(0, MAX_ASKED_PORTS)
  if (ports.length === 0) return connections
  const which = ports.flatMap((port, at) => [...(at === 0 ? [] : ['or']), 'sport', '=', `:${port}`])
  const text = trySystem('ss', ['-Htin', 'state', 'established', '(', ...which, ')'])
  if (text === undefined) return connections
  const dialled = findDialled(text)
  return connections.filter((each) => !dialled.has(connectionKey(each)))
}

/** The keys of the dialled ones of those that `ss -Htin` lists: a line for each, and an indented one of its figures. Pure. */
export function findDialled(text: string): ReadonlySet<string> {
  const listed = text.matchAll(/^\d+\s+(\d+)\s+(\S+):(\d+)\s+(\S+):(\d+).*\n\s+(.*)$/gm)
  const dialled = new Set<string>()
  for (const [, queued, local = '', localPort, remote = '', remotePort, figures = ''] of listed) {
    const figure = (name: string) => Number(new RegExp(`\\b${name}:(\\d+)`).exec(figures)?.[1] ?? 0)
    const unacknowledged = Number(queued) - figure('notsent')
    const answered = figure('bytes_sent') - figure('bytes_retrans') - unacknowledged
    if (figure('bytes_acked') - answered !== 1) continue
    const ends = { local: plainAddress(local), remote: plainAddress(remote) }
    dialled.add(connectionKey({ ...ends, localPort: Number(localPort), remotePort: Number(remotePort) }))
  }
  return dialled
}

/** The connection as text. */
function connectionKey({ local, localPort, remote, remotePort }: InboundConnection): string {
  return `${local} ${localPort} ${remote} ${remotePort}`
}

/** Reads `10.0.0.5%eth0`, `[2001:db8::5]` and `[::ffff:10.0.0.5]`. */
function plainAddress(text: string): string {
  const address = text.replace(/^\[|\]$|%[^\]]*/g, '')
  const mapped = address.replace(/^::ffff:/i, '')
  return isIP(mapped) === 4 ? mapped : address
}
