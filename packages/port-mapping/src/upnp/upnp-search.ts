/**
 * Searches the local network for routers that speak UPnP, by SSDP. Anybody there may answer. An answer counts only if it names its
 * own address, on a link of this machine, or the default router's.
 */
import { createSocket, type Socket } from 'node:dgram'
import type { NetworkInterfaceInfo } from 'node:os'
import { type Clock, type IpAddress, isLoopback, tryParseIp } from '@mesh/core'
import { createTokenBucket, type TokenBucket } from '@mesh/core/limits'
import { MAX_SSDP_ANSWERS_PER_SECOND, MAX_UPNP_INTERFACES, UPNP_SEARCH_TTL } from '../limits.ts'
import { isOnLink } from '../local-network/on-link.ts'
import { locationIn, SEARCHES, SSDP_GROUP } from './upnp-messages.ts'

type LocalAddress = Readonly<
  Pick<NetworkInterfaceInfo, 'address' | 'cidr' | 'internal' | 'mac'> & { readonly family: string }
>
/** The interfaces of this machine as `os.networkInterfaces()` gives them, as far as they are looked at. */
type LocalInterfaces = Readonly<Record<string, readonly LocalAddress[] | undefined>>

/** The router that packets to the Internet go to, and the interfaces, as they were when a search began. */
export interface LocalNetwork {
  readonly interfaces: LocalInterfaces
  readonly defaultRouter: IpAddress | undefined
}

export interface FoundRouter {
  readonly location: URL
  readonly isDefault: boolean
}

/** The link-layer address that tunnels have: no local network is behind one. */
const NO_MAC = '00:00:00:00:00:00'

const addressesOf = (interfaces: LocalInterfaces): readonly LocalAddress[] =>
  Object.values(interfaces).flatMap((entries = []) => entries)

/** The addresses on links of this machine: on no tunnel, and not this machine's own. */
function onLinks(interfaces: LocalInterfaces): readonly LocalAddress[] {
  return addressesOf(interfaces).filter(({ internal, mac }) => !internal && mac !== NO_MAC)
}

/** Chooses where is searched: not on too many links, and not where only the link itself is reached. */
function searched(interfaces: LocalInterfaces): readonly LocalAddress[] {
  return onLinks(interfaces)
    .filter(({ family, address }) => family === 'IPv4' && !address.startsWith('169.254.'))
    .slice(0, MAX_UPNP_INTERFACES)
}

/** Gives the router that an answer tells of; undefined where nobody is to be asked. */
export function routerIn(
  answer: Uint8Array,
  from: string,
  { interfaces, defaultRouter }: LocalNetwork,
): FoundRouter | undefined {
  const location = locationIn(answer, from)
  const ip = tryParseIp(from)
  if (location === undefined || ip === undefined || isLoopback(ip)) return undefined
  // a service of this machine is asked by nobody's wish
  if (addressesOf(interfaces).some(({ address }) => address === ip)) return undefined
  const isDefault = ip === defaultRouter
  return isDefault || isOnLink(ip, { links: onLinks(interfaces) }) ? { location, isDefault } : undefined
}

export interface SearchInit {
  readonly network: LocalNetwork
  readonly onRouter: (router: FoundRouter) => void
}

/** A search that goes on until it is closed. */
export class UpnpSearch {
  readonly #init: SearchInit
  readonly #answers: TokenBucket
  /** Whom each socket asks: the group, and the default router where that is on its link. */
  readonly #sockets = new Map<Socket, readonly string[]>()

  constructor(init: SearchInit, clock: Clock) {
    this.#init = init
    // what comes beyond is dropped unread
    const rate = { perSecond: MAX_SSDP_ANSWERS_PER_SECOND, burst: MAX_SSDP_ANSWERS_PER_SECOND }
    this.#answers = createTokenBucket(rate, clock)
    for (const address of searched(init.network.interfaces)) this.#open(address)
  }

  /** Asks on every link once more. */
  ask(): void {
    for (const socket of this.#sockets.keys()) this.#askOn(socket)
  }

  close(): void {
    for (const socket of this.#sockets.keys()) socket.close()
    this.#sockets.clear()
  }

  #open(local: LocalAddress): void {
    const { network, onRouter } = this.#init
    const { address } = local
    const { defaultRouter } = network
    const isThere = defaultRouter !== undefined && isOnLink(defaultRouter, { local: [local] })
    const socket = createSocket('udp4')
    this.#sockets.set(socket, [SSDP_GROUP.address, ...(isThere ? [defaultRouter] : [])])
    // an interface that goes away meanwhile
    socket.on('error', () => {})
    socket.on('message', (answer, { address: from }) => {
      if (!this.#answers.take()) return
      const router = routerIn(answer, from, network)
      if (router !== undefined) onRouter(router)
    })
    socket.bind({ address, port: 0 }, () => {
      try {
        socket.setMulticastInterface(address)
        socket.setMulticastTTL(UPNP_SEARCH_TTL)
        this.#askOn(socket)
      } catch {
        // its interface is gone
      }
    })
    socket.unref()
  }

  /** A firewall lets the answer in where the router itself was asked; what it answers to a group came unasked. */
  #askOn(socket: Socket): void {
    for (const to of this.#sockets.get(socket) ?? [])
      for (const search of SEARCHES) socket.send(search, SSDP_GROUP.port, to)
  }
}
