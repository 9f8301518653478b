/** The services of a program: those that it serves, and those of members that it uses. */
import type { Server } from 'node:net'
import type { Duplex } from 'node:stream'
import type { PeerId } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import type { Waiting } from '@mesh/ledger/values'
import { fetchOver, type Services, serviceNameIn } from '@mesh/services'

/** A service that this program offers. */
export interface MeshService extends AsyncDisposable {
  readonly name: string
  /** Withdraws the name and ends its connections; the server itself goes on. Idempotent. */
  close(): Promise<void>
}

interface EmbeddedServicesInit {
  readonly services: Services
  readonly ledger: Pick<Ledger, 'snapshot'>
  /** The zone of the network's names, without a dot at the end. */
  readonly zone: string
  /** Aborts when the node closes, with what calls throw from then on. */
  readonly closed: AbortSignal
}

export class EmbeddedServices {
  readonly #init: EmbeddedServicesInit
  readonly #peers = new WeakMap<object, PeerId>()

  constructor(init: EmbeddedServicesInit) {
    this.#init = init
  }

  async listen(name: string, server: Server, { signal }: Waiting = {}): Promise<MeshService> {
    const { services, closed } = this.#init
    closed.throwIfAborted()
    signal?.throwIfAborted()
    await services.serve({
      name,
      // Node gives a server the property that its options have
      allowHalfOpen: (server as { readonly allowHalfOpen?: boolean }).allowHalfOpen === true,
      accept: (connection, peer) => {
        this.#peers.set(connection, peer)
        server.emit('connection', connection)
      },
    })
    try {
      await this.#untilAnnounced(name, signal === undefined ? closed : AbortSignal.any([signal, closed]))
    } catch (error) {
      await services.withdraw(name)
      throw error
    }
    let closing: Promise<unknown> | undefined
    const close = async () => {
      await (closing ??= services.withdraw(name))
    }
    return { name, close, [Symbol.asyncDispose]: close }
  }

  async dial(name: string, { signal }: Waiting = {}): Promise<Duplex> {
    const { services, closed } = this.#init
    closed.throwIfAborted()
    return await services.dial(name, signal === undefined ? closed : AbortSignal.any([signal, closed]))
  }

  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    this.#init.closed.throwIfAborted()
    const request = new Request(input, init)
    const name = serviceNameIn(new URL(request.url), this.#init)
    return await fetchOver(await this.dial(name, { signal: request.signal }), request)
  }

  peerOf(connection: object): PeerId | undefined {
    return this.#peers.get(connection)
  }

  /** @throws the signal's reason */
  #untilAnnounced(name: string, signal: AbortSignal): Promise<void> {
    const { services } = this.#init
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const look = () => {
      const status = services.status().services.find((service) => service.name === name)
      if (status?.state === 'announced') resolve()
    }
    const unsubscribe = services.subscribe((event) => event.name === name && look())
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    look()
    return promise.finally(() => {
      unsubscribe()
      signal.removeEventListener('abort', onAbort)
    })
  }
}
