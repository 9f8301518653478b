/** Multicast on every suitable interface, for mDNS. One socket receives, and each link has its own to send. */
import { createSocket, type Socket, type SocketType } from 'node:dgram'
import { isIPv4, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type IpAddress, type Logger, tryParseIp } from '@mesh/core'
import { isLoopbackIp } from '../addresses/address-rules.ts'
import { MAX_MDNS_INTERFACES, MDNS_PORT } from '../limits.ts'
import type { Multicast, MulticastLink } from './mdns.ts'

const GROUP = { 4: '224.0.0.251', 6: 'ff02::fb' } as const
const HOP_LIMIT = 255

export interface MulticastInit {
  /** The host's listen IPs: `0.0.0.0` and `::` stand for all interfaces of their family. */
  readonly listen: readonly string[]
  readonly isBlockedIp: (ip: IpAddress) => boolean
  readonly onError: (error: unknown) => void
}

interface OpenLink extends MulticastLink {
  readonly device: string
  readonly socket: Socket
}

/** @throws when neither family can be bound */
export async function openMulticast(
  init: MulticastInit,
  components: { readonly logger: Logger },
): Promise<Multicast> {
  const log = components.logger.child('mdns')
  const listeners = new Set<(packet: Uint8Array) => void>()
  const receivers = new Map<4 | 6, Socket>()
  const links = new Map<string, OpenLink>()
  let closed = false

  const heard = (packet: Uint8Array) => {
    for (const listener of listeners) listener(packet)
  }

  async function receiver(family: 4 | 6): Promise<Socket> {
    const open = receivers.get(family)
    if (open !== undefined) return open
    // bound to the group, so that unicast to the port goes to whoever it is for (Windows cannot)
    const address = process.platform === 'win32' ? undefined : GROUP[family]
    const socket = await bind(`udp${family}`, family === 4 ? address : undefined)
    socket.on('message', heard)
    socket.on('error', init.onError)
    receivers.set(family, socket)
    return socket
  }

  async function join(link: Omit<OpenLink, 'socket'>): Promise<void> {
    const { family, device, address } = link
    const group = await receiver(family)
    const at = family === 4 ? address : `::%${device}`
    try {
      group.addMembership(GROUP[family], at)
    } catch (error) {
      if (!isCode(error, 'EADDRINUSE')) throw error
    }
    const socket = await bind(`udp${family}`, family === 4 ? address : undefined)
    socket.on('error', init.onError)
    if (family === 4) socket.on('message', heard)
    socket.setMulticastTTL(HOP_LIMIT)
    socket.setMulticastLoopback(true)
    socket.setMulticastInterface(at)
    links.set(link.id, { ...link, socket })
  }

  async function refresh(): Promise<void> {
    const wanted = new Map(suitableLinks(init).map((link) => [link.id, link]))
    for (const [id, { socket }] of links) {
      if (wanted.has(id)) continue
      links.delete(id)
      socket.close()
    }
    for (const link of wanted.values()) {
      if (closed || links.has(link.id)) continue
      await join(link).catch((error: unknown) => {
        log.debug('link left out', { link: link.id, reason: String(error) })
        init.onError(error)
      })
    }
  }

  await refresh()
  return {
    links: () => [...links.values()],
    send(link, packet) {
      const open = links.get(link.id)
      open?.socket.send(packet, MDNS_PORT, GROUP[link.family], (error) => {
        if (error !== null) init.onError(error)
      })
    },
    onPacket: (listener) => void listeners.add(listener),
    refresh,
    async close() {
      closed = true
      listeners.clear()
      const sockets = [...receivers.values(), ...[...links.values()].map(({ socket }) => socket)]
      receivers.clear()
      links.clear()
      await Promise.all(
        sockets.map((socket) => new Promise<void>((resolve) => socket.close(() => resolve()))),
      )
    },
  }
}

/** One link for each interface and family on which the host listens; loopback only when it listens nowhere else. */
function suitableLinks({
  listen,
  isBlockedIp,
}: Pick<MulticastInit, 'listen' | 'isBlockedIp'>): readonly Omit<OpenLink, 'socket'>[] {
  const all: Omit<OpenLink, 'socket'>[] = []
  for (const [device, addresses = []] of Object.entries(networkInterfaces())) {
    for (const family of [4, 6] as const) {
      const wildcard = listen.includes(family === 4 ? '0.0.0.0' : '::')
      const usable = addresses.find(({ address }) => {
        const ip = tryParseIp(address)
        if (ip === undefined || (family === 4 ? !isIPv4(address) : !isIPv6(address)) || isBlockedIp(ip))
          return false
        return listen.includes(address) || (wildcard && (family === 4 || address.startsWith('fe80:')))
      })
      if (usable !== undefined)
        all.push({ id: `${device}/${family}`, device, family, address: usable.address })
    }
  }
  const outside = all.filter(({ address }) => !isLoopbackIp(address as IpAddress))
  return (outside.length > 0 ? outside : all).slice(0, MAX_MDNS_INTERFACES)
}

function bind(type: SocketType, address: string | undefined): Promise<Socket> {
  const socket = createSocket({ type, reuseAddr: true, ipv6Only: type === 'udp6' })
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.bind({ port: MDNS_PORT, exclusive: true, ...(address === undefined ? {} : { address }) }, () => {
      socket.removeListener('error', reject)
      socket.unref()
      resolve(socket)
    })
  })
}

function isCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code
}
