/** Multicast on every suitable interface, for mDNS. One socket receives, and each link has its own to send. */
import { createSocket, type Socket, type SocketType } from 'node:dgram'
import { isIPv4, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type IpAddress, type Logger, tryParseIp } from '@mesh/core'
import { isLoopbackIp } from '../addresses/address-rules.ts'
import { MAX_MDNS_INTERFACES, MDNS_PORT } from './limits.ts'
import type { Multicast, MulticastLink } from './mdns.ts'

const GROUP = { 4: '224.0.0.251', 6: 'ff02::fb' } as const
const HOP_LIMIT = 255

interface MulticastInit {
  /** The IPs on which the host listens: `0.0.0.0` and `::` stand for all interfaces of their family. */
  readonly listen: readonly string[]
  readonly isBlockedIp: (ip: IpAddress) => boolean
  readonly onError: (error: unknown) => void
}

interface OpenLink extends MulticastLink {
  readonly device: string
  readonly socket: Socket
}

/** Opens sockets on every suitable interface. @throws when neither family can be bound */
export async function openMulticast(
  init: MulticastInit,
  components: { readonly logger: Logger },
): Promise<Multicast> {
  const sockets = new MulticastSockets(init, components.logger.child('mdns'))
  await sockets.refresh()
  return sockets
}

class MulticastSockets implements Multicast {
  readonly #init: MulticastInit
  readonly #log: Logger
  #onPacket = (_packet: Uint8Array, _from: string): void => {}
  readonly #receivers = new Map<4 | 6, Socket>()
  readonly #links = new Map<string, OpenLink>()
  #isClosed = false

  constructor(init: MulticastInit, log: Logger) {
    this.#init = init
    this.#log = log
  }

  links(): readonly MulticastLink[] {
    return [...this.#links.values()]
  }

  send(link: MulticastLink, packet: Uint8Array): void {
    const open = this.#links.get(link.id)
    open?.socket.send(packet, MDNS_PORT, GROUP[link.family], (error) => {
      if (error !== null) this.#init.onError(error)
    })
  }

  onPacket(listener: (packet: Uint8Array, from: string) => void): void {
    this.#onPacket = listener
  }

  async refresh(): Promise<void> {
    const wanted = new Map(suitableLinks(this.#init).map((link) => [link.id, link]))
    for (const [id, { socket }] of this.#links) {
      if (wanted.has(id)) continue
      this.#links.delete(id)
      socket.close()
    }
    for (const link of wanted.values()) {
      if (this.#isClosed || this.#links.has(link.id)) continue
      await this.#join(link).catch((error: unknown) => {
        this.#log.debug('link left out', { link: link.id, reason: String(error) })
        this.#init.onError(error)
      })
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#onPacket = () => {}
    const sockets = [...this.#receivers.values(), ...[...this.#links.values()].map(({ socket }) => socket)]
    this.#receivers.clear()
    this.#links.clear()
    await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.close(() => resolve()))))
  }

  async #join(link: Omit<OpenLink, 'socket'>): Promise<void> {
    const { family, device, address } = link
    const group = await this.#receiver(family)
    const at = family === 4 ? address : `::%${device}`
    try {
      group.addMembership(GROUP[family], at)
    } catch (error) {
      if (!isCode(error, 'EADDRINUSE')) throw error
    }
    const socket = await bind(`udp${family}`, family === 4 ? address : undefined)
    socket.on('error', this.#init.onError)
    if (family === 4) socket.on('message', this.#onMessage)
    socket.setMulticastTTL(HOP_LIMIT)
    socket.setMulticastLoopback(true)
    socket.setMulticastInterface(at)
    this.#links.set(link.id, { ...link, socket })
  }

  async #receiver(family: 4 | 6): Promise<Socket> {
    const open = this.#receivers.get(family)
    if (open !== undefined) return open
    // bound to the group, so that unicast to the port goes to whoever it is for (Windows cannot)
    const address = process.platform === 'win32' ? undefined : GROUP[family]
    const socket = await bind(`udp${family}`, family === 4 ? address : undefined)
    socket.on('message', this.#onMessage)
    socket.on('error', this.#init.onError)
    this.#receivers.set(family, socket)
    return socket
  }

  readonly #onMessage = (packet: Uint8Array, { address }: { readonly address: string }): void => {
    // the link of IPv6 stands behind it
    const [from = ''] = address.split('%')
    this.#onPacket(packet, from)
  }
}

/** Gives one link for each interface and family on which the host listens; loopback only when it listens nowhere else. */
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
