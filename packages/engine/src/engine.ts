/**
 * Opens the engine and speaks for it.
 *
 * Out: the kernel's packets, sealed into frames -> event `readable` -> `take` until it gives nothing -> the peer's
 * stream. In: the peer's stream -> `inject`, bytes cut anywhere -> the kernel. JavaScript sees batches only.
 */
import {
  type AddressInRange,
  type Cidr,
  formatAddressInRange,
  type IpAddress,
  type Logger,
  type PeerId,
  silentLogger,
} from '@mesh/core'
import { engineError, fromNative } from './errors.ts'
import { nativeUdp, type UdpInit } from './native-init.ts'
import { KEY_BYTES } from './limits.ts'
import { loadAddon, type NativeAddon, type NativeEngine, type NativeInit } from './native.ts'
import { decodeHits, decodeRefusal, type PacketRules, type Refusal } from './rules.ts'
import { decodeStats, type DropReason, type EngineStats } from './stats.ts'
import {
  checkTable,
  encodeTable,
  type Endpoint,
  endpointText,
  type EngineTable,
  type TableOwner,
} from './table.ts'

export interface EngineInit {
  /** The interface's name, at most 15 characters. */
  readonly name: string
  /** The node's addresses; the kernel routes their ranges to the interface. */
  readonly addresses: readonly AddressInRange[]
  /** The interface's MTU in bytes. */
  readonly mtu: number
  /** This node's WireGuard key: 32 random bytes. */
  readonly privateKey: Uint8Array
  /** The engine's UDP socket; without it everything goes over streams. */
  readonly udp?: UdpInit
  /**
   * Number of queues of the interface, each with a thread each way, and of sockets of the UDP port. Default: one up to three cores,
   * then half of the cores, four at most.
   */
  readonly queues?: number
  /** Called with each event, never again after `close`. It must not throw. */
  readonly onEvent: (event: EngineEvent) => void
  /** The addon's file, where it is not in its platform package. */
  readonly addon?: string
}

/** The token and the key of the probes of paths between two peers (docs/PROTOCOLS.md, 'Paths over UDP'). */
export interface ProbePair {
  /** 8 bytes that the other end's probes name, and those that this node's do. */
  readonly token: Uint8Array
  readonly theirToken: Uint8Array
  /** 32 bytes with which the other end makes the codes of its probes. */
  readonly key: Uint8Array
  /** Where the other end says that it is: what comes from there is its own, or says so in its name. */
  readonly endpoints: readonly Endpoint[]
}

/** A datagram on the engine's socket that is no WireGuard. */
export interface Datagram {
  readonly from: Endpoint
  /** The port of the further socket that received it (`openSocket`); undefined: the engine's own did. */
  readonly socket: number | undefined
  /** How many bytes it had. */
  readonly length: number
  /** Its beginning, at most 256 bytes. */
  readonly bytes: Uint8Array
}

export interface EngineComponents {
  readonly log?: Logger
}

/**
 * The events that the engine tells its application. At most 1024 events wait; more are dropped and counted,
 * except `readable`, `writable`, `pathNeeded`, `datagrams`, `interface`, `networks` and `failed`, which are never
 * dropped.
 */
export type EngineEvent =
  /** Frames for the peer can be read: call `take` until it gives nothing, then wait for the next event. */
  | { readonly type: 'readable'; readonly peer: PeerId }
  /** `inject` takes bytes of the peer again, after it returned false. */
  | { readonly type: 'writable'; readonly peer: PeerId }
  /** Packets wait for a peer whose tunnel is `none`. Told again after 5 seconds or more, while packets come. */
  | { readonly type: 'pathNeeded'; readonly peer: PeerId }
  /** A WireGuard session with the peer was made or renewed. */
  | { readonly type: 'session'; readonly peer: PeerId }
  /** The peer has not answered handshakes for 90 seconds; what waited for it was dropped. */
  | { readonly type: 'silent'; readonly peer: PeerId }
  /** The peer's stream brought bytes that are no frames: nothing more is taken from it. Reset it, and `restart`. */
  | { readonly type: 'broken'; readonly peer: PeerId }
  /** A WireGuard session with the guest that has this public key was made or renewed. */
  | { readonly type: 'guestSession'; readonly guest: string }
  /** Datagrams that are no WireGuard wait: call `takeDatagrams`. */
  | { readonly type: 'datagrams' }
  /** The interface was changed, by this process or others, who may have taken something away: call `restore`. */
  | { readonly type: 'interface' }
  /** Other interfaces of this machine got or lost addresses. */
  | { readonly type: 'networks' }
  /** The interface was taken away or a thread failed: no packets pass any more. Close the engine and open another. */
  | { readonly type: 'failed'; readonly message: string }

/** The network interface as the kernel has it. */
export interface EngineInterface {
  readonly name: string
  readonly mtu: number
  /** Super-segments of TCP and of UDP: granted by the kernel or not. */
  readonly offload: boolean
  readonly offloadUdp: boolean
}

/** The parts of an interface that others took away, in words for people: `address 10.1.0.1/24`. */
export interface Restored {
  readonly restored: readonly string[]
  /** The parts that the kernel refuses, each with its reason. */
  readonly failed: readonly string[]
}

/**
 * Opens the interface and starts the engine's threads.
 *
 * @throws MeshError with an `EngineErrorCode`
 */
export function openEngine(init: EngineInit, components: EngineComponents = {}): Engine {
  return startEngine(nativeInit(init), init, components).engine
}

/** Says in the addon's words what is asked of an engine. */
export function nativeInit({ name, mtu, privateKey, addresses, udp, queues }: EngineInit): NativeInit {
  return {
    name,
    mtu,
    privateKey,
    addresses: addresses.map(formatAddressInRange),
    ...nativeUdp(udp),
    ...(queues !== undefined && { queues }),
  }
}

/** Wraps an engine of the addon, which `native` describes: also the kernel's, and for `./testing` a memory device. */
export function startEngine(
  native: NativeInit,
  { onEvent, addon }: Pick<EngineInit, 'onEvent' | 'addon'>,
  { log = silentLogger }: EngineComponents,
): { readonly engine: Engine; readonly native: NativeEngine } {
  if (native.privateKey.length !== KEY_BYTES) throw new RangeError(`a private key has ${KEY_BYTES} bytes`)
  const library = loadAddon(addon)
  const opened = guarded(() => new library.NativeEngine(native, () => engine.deliver()))
  const engine = new NativeBackedEngine(opened, library, { onEvent, log })
  return { engine, native: opened }
}

export type Engine = Omit<NativeBackedEngine, 'deliver'>

/** The addon's names: a guest's session is one like a peer's there. */
type NativeEvent = Exclude<EngineEvent['type'], 'guestSession'>

class NativeBackedEngine {
  /** This node's WireGuard public key, 32 bytes. */
  readonly publicKey: Uint8Array
  readonly #native: NativeEngine
  readonly #reasons: readonly DropReason[]
  readonly #events: readonly NativeEvent[]
  readonly #onEvent: (event: EngineEvent) => void
  readonly #log: Logger
  /** The addon knows peers, and guests by their keys, by numbers that are never used again. */
  #numbers = new Map<string, number>()
  #owners = new Map<number, TableOwner>()
  #nextNumber = 1
  /** The rules of the table in use. */
  #rules: PacketRules | undefined
  #closed = false

  constructor(
    native: NativeEngine,
    { reasonNames, eventNames }: NativeAddon,
    { onEvent, log }: { onEvent: (event: EngineEvent) => void; log: Logger },
  ) {
    this.#native = native
    // a test holds these against the types
    this.#reasons = reasonNames() as DropReason[]
    this.#events = eventNames() as NativeEvent[]
    this.#onEvent = onEvent
    this.#log = log
    this.publicKey = Uint8Array.from(native.publicKey)
  }

  get interface(): EngineInterface {
    return guarded(() => this.#native.interface())
  }

  /**
   * Swaps the whole table in. A peer that keeps its tunnel's kind and public key keeps its session and queues. With
   * another one it keeps its counters and the packets that wait for a path or a session: those go through the new
   * tunnel, as far as its MTU allows. Frames that wait are dropped and counted (`stale`).
   */
  setTable(table: EngineTable): void {
    this.#assertOpen()
    checkTable(table)
    const owners: TableOwner[] = [
      ...table.peers.map(({ peer }) => ({ peer })),
      ...(table.guests ?? []).map(({ key }) => ({ guest: key })),
    ]
    const numbers = new Map<string, number>()
    this.#owners = new Map()
    for (const owner of owners) {
      const name = owner.peer ?? owner.guest
      const number = this.#numbers.get(name) ?? this.#nextNumber++
      numbers.set(name, number)
      this.#owners.set(number, owner)
    }
    const encoded = encodeTable(table, (name) => numbers.get(name) ?? 0, this.#rules)
    guarded(() => this.#native.setTable(encoded))
    // a copy of all secrets, which the collector might keep for long
    encoded.keys.fill(0)
    this.#numbers = numbers
    this.#rules = table.rules
  }

  /**
   * Gives what the rules refused since the last call, the most frequent first: at most 1,024 kinds, 64 of one peer, and ports
   * beyond that together.
   */
  takeRefusals(): readonly Refusal[] {
    if (this.#closed) return []
    const refusals = this.#native.takeRefusals().map(decodeRefusal)
    return refusals.sort((one, other) => other.count - one.count)
  }

  /** How many flows each rule of the table allowed since its layer was given, in the shape of `rules.layers`. */
  ruleHits(): readonly (readonly number[])[] {
    return this.#closed ? [] : decodeHits(this.#rules, this.#native.ruleHits())
  }

  /** The number of flows that the filter follows. */
  get flowCount(): number {
    return this.#closed ? 0 : this.#native.flowCount()
  }

  /** Makes these the interface's addresses; those that stay are not touched. */
  setAddresses(addresses: readonly AddressInRange[]): void {
    guarded(() => this.#native.setAddresses(addresses.map(formatAddressInRange)))
  }

  /**
   * Makes these the routes into the interface, beside those of its addresses. A network for which the host has a
   * route by another interface keeps that.
   * @throws MeshError `engine.route_in_use` naming those that were left out, after all others were set
   */
  setRoutes(routes: readonly Cidr[]): void {
    guarded(() => this.#native.setRoutes(routes))
  }

  /**
   * Puts back what others took away from the interface: that it is up, the MTU, these addresses with their networks, and
   * the routes that were set. What others added stays.
   */
  restore({ addresses, mtu }: Pick<EngineInit, 'addresses' | 'mtu'>): Restored {
    return guarded(() => this.#native.restore(addresses.map(formatAddressInRange), mtu))
  }

  /**
   * The oldest batch of whole frames for the peer, at most 64 KiB, yours to keep. For a legacy member each
   * frame is one packet (`framesOf`). Take only what the stream can send now: what waits here is bounded.
   */
  take(peer: PeerId): Uint8Array | undefined {
    const number = this.#numbers.get(peer)
    if (number === undefined || this.#closed) return undefined
    return this.#native.take(number) ?? undefined
  }

  /**
   * Takes the next bytes of the peer's stream, cut anywhere; they are copied. False: more than half of the bound
   * is used; read the stream on after event `writable`, or what comes may be dropped and counted.
   */
  inject(peer: PeerId, bytes: Uint8Array): boolean {
    // 0 is nobody's number: the addon counts it
    return this.#closed || this.#native.inject(this.#numbers.get(peer) ?? 0, bytes)
  }

  /** Takes one or more whole packets of a legacy member; they are copied. */
  injectPackets(peer: PeerId, packets: Uint8Array): void {
    if (!this.#closed) this.#native.injectPackets(this.#numbers.get(peer) ?? 0, packets)
  }

  /**
   * Says that what comes from the peer comes by a new stream from now on, which begins with a whole frame. Frames that
   * wait for `take` stay. Includes `retryHandshake`.
   */
  restart(peer: PeerId): void {
    const number = this.#numbers.get(peer)
    if (number !== undefined && !this.#closed) this.#native.restart(number)
  }

  /**
   * Repeats a handshake that may have been lost with a stream of the peer, in either direction. So a session needs one round trip and
   * not WireGuard's 5 seconds. Event `readable` follows if frames wait.
   */
  retryHandshake(peer: PeerId): void {
    const number = this.#numbers.get(peer)
    if (number !== undefined && !this.#closed) this.#native.retryHandshake(number)
  }

  /** The socket's port; undefined without one. */
  get udpPort(): number | undefined {
    return this.#closed ? undefined : (this.#native.udpPort ?? undefined)
  }

  /**
   * Sends a datagram that WireGuard would not take for its own, on the socket. False: it was not sent, for example as the
   * way does not take that length.
   * @param socket the port of a further socket (`openSocket`); default: the engine's own
   */
  sendDatagram(to: Endpoint, bytes: Uint8Array, socket = 0): boolean {
    return !this.#closed && this.#native.sendDatagram(endpointText(to), bytes, socket)
  }

  /**
   * Opens a UDP socket beside the engine's own, on a port that the kernel chooses, and gives the port: a NAT gives it a
   * mapping of its own. What comes there is taken as on the engine's own; paths name it to send by it. At most two are
   * open; undefined where there is no socket, no room for another, or the kernel's WireGuard in the engine's place.
   */
  openSocket(): number | undefined {
    return this.#closed ? undefined : (this.#native.openSocket() ?? undefined)
  }

  /** Closes a further socket; what would still go by it leaves by the engine's own. */
  closeSocket(port: number): void {
    if (!this.#closed) this.#native.closeSocket(port)
  }

  /**
   * Names a pair of peers whose probes are expected, and replaces what was said of its token. Such probes have bounds of their own, so
   * that strangers' datagrams do not delay them. Replays and forgeries that name a pair are dropped.
   */
  expectProbes({ endpoints, ...pair }: ProbePair): void {
    if (this.#closed) return
    this.#native.expectProbes({ ...pair, endpoints: endpoints.map(endpointText).join(' ') })
  }

  /** Expects no more probes that name the token. */
  forgetProbes(token: Uint8Array): void {
    if (!this.#closed) this.#native.forgetProbes(token)
  }

  /**
   * Gives the datagrams since the last call that are no WireGuard. At most 512 wait of each kind: probes from known addresses, other
   * probes, and others. One address gets 1,000 a second of the first two and 100 of the others.
   */
  takeDatagrams(): readonly Datagram[] {
    if (this.#closed) return []
    return this.#native.takeDatagrams().map(({ address, port, socket, len, bytes }) => ({
      // the addon writes addresses in their canonical form
      from: { address: address as IpAddress, port },
      socket: socket === 0 ? undefined : socket,
      length: len,
      bytes,
    }))
  }

  /** The peers to or from whom packets passed since the last call, or for whom packets wait. */
  activePeers(): readonly PeerId[] {
    return this.#closed ? [] : this.#native.active().flatMap((number) => this.#owners.get(number)?.peer ?? [])
  }

  /** The counters of now. */
  stats(): EngineStats {
    const stats = guarded(() => this.#native.stats())
    return decodeStats(stats, this.#reasons, (number) => this.#owners.get(number))
  }

  /** Stops, and gives the interface with its addresses and routes back. Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#native.close()
  }

  /** Runs on the event loop after the addon asked for it, once for all that has gathered. */
  deliver(): void {
    if (this.#closed) return
    const told = this.#native.poll()
    for (let at = 0; at < told.length; at += 2) {
      const event = this.#translate(this.#events[told[at] ?? 0], told[at + 1] ?? 0)
      if (event === undefined) continue
      try {
        this.#onEvent(event)
      } catch (error) {
        this.#log.error('engine event handler failed', { event: event.type, error })
      }
      // the handler may have closed the engine
      if (this.#closed) return
    }
  }

  #translate(type: NativeEvent | undefined, number: number): EngineEvent | undefined {
    if (type === 'datagrams' || type === 'interface' || type === 'networks') return { type }
    if (type === 'failed') return { type, message: this.#native.failure() ?? '' }
    const { peer, guest } = this.#owners.get(number) ?? {}
    if (guest !== undefined) return type === 'session' ? { type: 'guestSession', guest } : undefined
    return peer === undefined || type === undefined ? undefined : { type, peer }
  }

  #assertOpen(): void {
    if (this.#closed) throw engineError('engine.closed', 'the engine is closed')
  }
}

function guarded<T>(call: () => T): T {
  try {
    return call()
  } catch (error) {
    throw fromNative(error)
  }
}
