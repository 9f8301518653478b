/** Carries out the dials that the machines want, over libp2p's transports. */
import type { Connection } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Clock } from '@mesh/core'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { type AddressRules, relayOf } from '../addresses/address-rules.ts'
import { oneForEachRelay } from '../addresses/announced-addresses.ts'
import type { MeshHost } from '../libp2p/base-host.ts'
import { type ConnectionChecks, SilentConnectionError } from '../libp2p/liveness-checks.ts'
import { connectionsTo } from '../libp2p/connections.ts'
import { UPGRADE_TIMEOUT_MS } from './limits.ts'
import { HostDials, UnneededDialError } from './host-dials.ts'
import type { PeerAddress, Route } from './peer-state.ts'
import { raceDial, type RaceDialInit } from './race-dial.ts'

interface PeerDial {
  readonly route: Route
  readonly addresses: readonly PeerAddress[]
  readonly isAskedFor: boolean
}

interface DialsInit {
  readonly host: MeshHost
  readonly rules: AddressRules
}

interface DialsComponents {
  readonly clock: Clock
  readonly checks: Pick<ConnectionChecks, 'whileSure'>
}

export function toPeerAddress(address: Multiaddr): PeerAddress {
  return { text: address.toString(), relay: relayOf(address) }
}

/** Each dial resolves when a connection stands, which the host's events told before. */
export class Dials {
  readonly #host: MeshHost
  readonly #rules: AddressRules
  readonly #clock: Clock
  readonly #checks: Pick<ConnectionChecks, 'whileSure'>
  readonly #running = new Map<string, AbortController>()
  readonly #hosts: HostDials
  #isStopped = false

  constructor({ host, rules }: DialsInit, { clock, checks }: DialsComponents) {
    this.#host = host
    this.#rules = rules
    this.#clock = clock
    this.#checks = checks
    this.#hosts = new HostDials(clock)
  }

  /** Those that this node can dial now; of each relay one. */
  usable(addresses: readonly PeerAddress[]): readonly PeerAddress[] {
    const usable = addresses
      .map(({ text }) => multiaddr(text))
      .filter((address) => !isWebRtc(address) && this.#canDial(address))
    const direct = usable.filter((address) => relayOf(address) === undefined)
    return [...direct, ...oneForEachRelay(usable)].map(toPeerAddress)
  }

  /** @param init `isAskedFor`: somebody waits for it, or named the peer: it is dialled however many dials there failed */
  dial(peer: string, init: PeerDial): Promise<unknown> {
    return this.#run(peer, init.route, (signal) => this.#race(peer, init, signal))
  }

  /** One peer, outside of the machines, for such a service that names peers as others told it: within the bounds by host. */
  async dialFound(peer: string, told: readonly Multiaddr[], signal: AbortSignal): Promise<Connection> {
    if (this.#isStopped) throw new Error('stopped')
    const addresses = this.usable(told.map(toPeerAddress))
    return await this.#race(peer, { addresses, isAskedFor: false }, signal)
  }

  #race(
    peer: string,
    { addresses, isAskedFor }: Omit<PeerDial, 'route'>,
    signal: AbortSignal,
  ): Promise<Connection> {
    const complete = addresses.map(({ text }) => withPeer(multiaddr(text), peer))
    const dialOne: RaceDialInit['dialOne'] = (address, limit) =>
      this.#isOverConnection(address)
        ? this.dialOne(address, limit)
        : this.#hosts.run(address, { signal: limit, isAskedFor }, () => this.dialOne(address, limit))
    return raceDial(complete, { dialOne, clock: this.#clock, signal })
  }

  /** Dials over the relay's address; the NATs between decide. */
  dialWebRtc(peer: string, relayAt: string): Promise<unknown> {
    const address = multiaddr(`${relayAt}/p2p-circuit/webrtc/p2p/${peer}`)
    return this.#run(peer, 'webrtc', (signal) => {
      const limit = new AbortController()
      const cancel = this.#clock.after(UPGRADE_TIMEOUT_MS, () =>
        limit.abort(new Error('the NATs let nothing through')),
      )
      return this.dialOne(address, AbortSignal.any([signal, limit.signal])).finally(cancel)
    })
  }

  /** True for an address over a relay to which a connection stands: no host is dialled for it. */
  #isOverConnection(address: Multiaddr): boolean {
    const relay = relayOf(address)
    return relay !== undefined && this.#host.getConnections(peerIdFromString(relay)).length > 0
  }

  abandon(peer: string, route: Route): void {
    this.#running.get(`${peer} ${route}`)?.abort(new UnneededDialError('given up for another dial'))
  }

  /** Ends all dials of all peers. */
  stop(): void {
    this.#isStopped = true
    for (const dial of this.#running.values()) dial.abort(new UnneededDialError('stopped'))
  }

  async #run<T>(peer: string, route: Route, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#isStopped) throw new Error('stopped')
    this.abandon(peer, route)
    const key = `${peer} ${route}`
    const controller = new AbortController()
    this.#running.set(key, controller)
    try {
      return await work(controller.signal)
    } finally {
      if (this.#running.get(key) === controller) this.#running.delete(key)
    }
  }

  #canDial(address: Multiaddr): boolean {
    if (this.#rules.isBlocked(address)) return false
    const { transportManager } = this.#host.services.parts.components
    return isDnsaddr(address) || transportManager.dialTransportForMultiaddr(address) !== undefined
  }

  /** One address, outside of the machines: for a service of libp2p that looks for its own peers. */
  async dialOne(address: Multiaddr, signal: AbortSignal): Promise<Connection> {
    if (this.#rules.isBlocked(address)) throw new Error('lies in a blocked range')
    const { connectionManager, transportManager } = this.#host.services.parts.components
    // names that stand for several addresses are resolved by libp2p's own dialler
    if (isDnsaddr(address)) return await connectionManager.openConnection(address, { signal })
    const task = (sure: AbortSignal) => transportManager.dial(address, { signal: sure })
    const relay = relayOf(address)
    if (relay === undefined) return await task(signal)
    try {
      return await this.#checks.whileSure(connectionsTo(this.#host, relay), { signal, task })
    } catch (error) {
      if (!(error instanceof SilentConnectionError)) throw error
      // the silent connection to the relay is made anew
      return await task(signal)
    }
  }
}

const isDnsaddr = (address: Multiaddr) => address.getComponents()[0]?.name === 'dnsaddr'

/** WebRTC needs a relayed connection first; the upgrade makes it. */
const isWebRtc = (address: Multiaddr) => address.getComponents().some(({ name }) => name === 'webrtc')

/** The transport checks who answers only when the address says who should. */
const withPeer = (address: Multiaddr, peer: string) =>
  address.getComponents().at(-1)?.name === 'p2p' ? address : address.encapsulate(`/p2p/${peer}`)
