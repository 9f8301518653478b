/** Finds connections that others began to this machine, in what Linux says of its TCP sockets (`/proc/net/tcp`). */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { type IpAddress, tryParseIp } from '@mesh/core'
import { type InboundConnection, withoutDialled } from './dialled-connections.ts'

interface Socket extends InboundConnection {
  readonly state: string
  readonly inode: string
}

const [ESTABLISHED, LISTEN] = ['01', '0A']
/** The beginning of IPv4 in IPv6, in hexadecimal. */
const MAPPED = `${'0'.repeat(20)}FFFF`

/** The connections to programs that listen, this process aside: its own are marked. */
export function inboundConnections(): readonly InboundConnection[] {
  const text = ['/proc/net/tcp', '/proc/net/tcp6'].map(readText).join('\n')
  return withoutDialled(findInbound(text, ownSockets()))
}

/** Those at ports where programs listen. @param own the inodes of the sockets that are left out. Pure. */
export function findInbound(text: string, own: ReadonlySet<string>): readonly InboundConnection[] {
  const sockets = text.split('\n').flatMap(readSocket)
  const listening = sockets.filter(({ state }) => state === LISTEN)
  const ports = new Set(listening.filter(({ inode }) => !own.has(inode)).map(({ localPort }) => localPort))
  return sockets
    .filter(({ state, localPort }) => state === ESTABLISHED && ports.has(localPort))
    .map(({ local, localPort, remote, remotePort }) => ({ local, localPort, remote, remotePort }))
}

function readSocket(line: string): Socket[] {
  const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/)
  if (local === undefined || remote === undefined || state === undefined || inode === undefined) return []
  const [address, localPort] = [addressIn(local), portIn(local)]
  const [far, remotePort] = [addressIn(remote), portIn(remote)]
  if (address === undefined || far === undefined || Number.isNaN(localPort + remotePort)) return []
  return [{ local: address, localPort, remote: far, remotePort, state, inode }]
}

/** Reads `0100007F:0016`: each 32 bits are written in the order of the machine, which is little-endian. */
function addressIn(text: string): IpAddress | undefined {
  const [hex = ''] = text.split(':')
  const words = hex.match(/[0-9A-F]{8}/g) ?? []
  const bytes = words.flatMap((word) => (word.match(/../g) ?? []).toReversed())
  const flat = bytes.join('')
  if (words.length === 1) return tryParseIp(bytes.map(decimal).join('.'))
  if (flat.startsWith(MAPPED)) return tryParseIp(bytes.slice(12).map(decimal).join('.'))
  return tryParseIp((flat.match(/.{4}/g) ?? []).join(':').toLowerCase())
}

function portIn(text: string): number {
  return Number.parseInt(text.split(':')[1] ?? '', 16)
}

function decimal(byte: string): string {
  return String(Number.parseInt(byte, 16))
}

function ownSockets(): ReadonlySet<string> {
  const inodes = new Set<string>()
  for (const name of namesIn('/proc/self/fd')) {
    try {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${name}`)) ?? []
      if (inode !== undefined) inodes.add(inode)
    } catch {
      // closed meanwhile
    }
  }
  return inodes
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
