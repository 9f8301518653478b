/**
 * Egress for legacy members (docs/WIRE.md 5.4): each stream brings one HTTP request, and takes the answer. What goes
 * wrong is a reset. Where to is judged as for our own protocol.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect as connectTls } from 'node:tls'
import type { Socket } from 'node:net'
import { toError } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import { LEGACY_EGRESS_REQUEST_MS, MAX_HTTP_HEAD_BYTES } from '../limits.ts'
import type { ByteStream } from '../ports.ts'
import { forward } from '../http/forward.ts'
import { readInTurns, setHeld } from '../streams/held-socket.ts'
import type { Traffic } from '../streams/splice.ts'
import { StreamDuplex } from '../streams/stream-duplex.ts'
import { type AcceptComponents, holdToRules, RequestRefused } from '../wire/accept.ts'
import { admitLegacyUser, takeLegacyPlace } from './admit-legacy.ts'

interface LegacyDestination {
  readonly host: string
  readonly port: number
  /** The member that asks, as a text. */
  readonly asker: string
  readonly signal: AbortSignal
  /** True: nothing is read until the socket is resumed. */
  readonly isPaused: boolean
}

export interface LegacyEgressComponents extends AcceptComponents {
  /** Connects to what a member asks for. @throws RequestRefused; the signal's reason */
  readonly dial: (to: LegacyDestination) => Promise<Socket>
  readonly traffic: Traffic
  readonly onConnection: () => void
}

export class LegacyEgress {
  readonly #components: LegacyEgressComponents
  readonly #server = createServer({ maxHeaderSize: MAX_HTTP_HEAD_BYTES })
  readonly #peers = new WeakMap<object, ByteStream['peer']>()
  /** The streams whose request has come. */
  readonly #asked = new WeakSet<object>()

  constructor(components: LegacyEgressComponents) {
    this.#components = components
    this.#server.on('request', (incoming, response) => void this.#serve(incoming, response))
    this.#server.on('clientError', (error, socket) => socket.destroy(error))
  }

  /** Takes a stream; never rejects. */
  async take(stream: ByteStream): Promise<void> {
    const { refusals } = this.#components
    const { peer } = stream
    const release = takeLegacyPlace(stream, this.#components)
    if (release === undefined) return
    const held = holdToRules(stream, this.#components)
    const leave = () => {
      held.stop()
      release()
    }
    try {
      await admitLegacyUser(peer, this.#components)
      held.requireAllowed({ kind: 'egress' })
    } catch (error) {
      leave()
      if (error instanceof RequestRefused) refusals.refuse(`legacy.${error.code}`, peer, error.message)
      return stream.abort(toError(error))
    }
    this.#open(stream, leave)
  }

  #open(stream: ByteStream, leave: () => void): void {
    const { traffic, clock, log } = this.#components
    const { peer } = stream
    const duplex = new StreamDuplex(stream, {
      traffic,
      budget: loopBudget(clock),
      allowHalfOpen: true,
      bringsRequests: true,
    })
    this.#peers.set(duplex, peer)
    const cancel = clock.after(LEGACY_EGRESS_REQUEST_MS, () => {
      if (!this.#asked.has(duplex)) duplex.destroy(new Error('no request in time'))
    })
    duplex.on('error', (error) => log.debug('legacy egress ended', { peer, reason: error.message }))
    duplex.once('close', () => {
      cancel()
      leave()
    })
    this.#server.emit('connection', duplex)
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    // one request for each stream, as the answer may end with it; what follows it in the same bytes would not be counted
    if (this.#asked.has(incoming.socket)) {
      incoming.socket.destroy(new Error('more than one request'))
      return
    }
    // a body would wait here in pieces until its origin is reached
    setHeld(incoming.socket, true)
    response.shouldKeepAlive = false
    this.#asked.add(incoming.socket)
    try {
      await this.#answer(incoming, response)
    } catch (error) {
      const peer = this.#peers.get(incoming.socket)
      if (error instanceof RequestRefused && peer !== undefined) {
        this.#components.refusals.refuse(`legacy.${error.code}`, peer, error.message)
      }
      incoming.socket.destroy(toError(error))
    }
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const host = incoming.headers.host ?? ''
    const url = URL.parse(`http://${host}`)
    if (url === null || host === '') throw new RequestRefused('bad_request', 'no host')
    // as these nodes tell HTTPS: by the port that the host names
    const isTls = host.endsWith(':443')
    const name = url.hostname.replace(/^\[|\]$/g, '')
    const gone = new AbortController()
    response.once('close', () => gone.abort(new Error('the client left')))
    const peer = this.#peers.get(incoming.socket) ?? ''
    const socket = await this.#components.dial({
      host: name,
      asker: this.#components.network.addressOf(peer as ByteStream['peer']) ?? peer,
      port: isTls ? 443 : Number(url.port || 80),
      signal: gone.signal,
      isPaused: !isTls,
    })
    const joined = isTls ? secure(socket, name) : socket
    joined.on('error', () => {})
    readInTurns(joined)
    this.#components.onConnection()
    const connection = { createConnection: () => joined }
    await forward({ incoming, response, host, path: incoming.url ?? '/', connection })
    joined.destroy()
  }
}

function secure(socket: Socket, name: string) {
  return connectTls({ socket, servername: name, ALPNProtocols: ['http/1.1'] })
}
