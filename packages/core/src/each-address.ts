/**
 * Listens at each address of this machine on its own, for sockets that do not know to which address a packet was sent. So an
 * answer leaves from the address that was asked.
 *
 * 1. Opens a listener for each address.
 * 2. Looks for new and lost addresses.
 * 3. Retries addresses that failed; IPv6 addresses fail in their first second.
 */
import type { Clock } from './clock.ts'
import { toError } from './to-error.ts'

/** How often the addresses of this machine are looked at, in ms. */
const ADDRESS_LOOK_MS = 2_000
/** The most addresses that are listened at: each costs a file descriptor. */
const MAX_LISTENED_ADDRESSES = 256

/** A listener at one address. */
export interface AddressListener {
  readonly port: number
  /** Closes the listener. Idempotent. */
  stop(): Promise<void>
}

export interface EachAddressInit {
  /** The addresses of this machine now, those that matter most first. */
  readonly addresses: () => readonly string[]
  /** 0: a free one, the same for all addresses. */
  readonly port: number
  /** Rejects with the system's error when the address cannot be had. */
  readonly open: (address: string, port: number) => Promise<AddressListener>
  readonly clock: Clock
  /** Called when addresses came or went since the start. */
  readonly onChange?: () => void
  /** Called once for each address that came later and cannot be had. */
  readonly onRefused?: (address: string, error: Error) => void
}

/** Rejects with the system's error when an address cannot be had at the start; then nothing of it is left. */
export async function listenAtEachAddress(init: EachAddressInit): Promise<AddressListener> {
  const listeners = new EachAddress(init)
  await listeners.start()
  return listeners
}

class EachAddress implements AddressListener {
  port: number
  readonly #init: EachAddressInit
  readonly #open = new Map<string, AddressListener>()
  readonly #told = new Set<string>()
  #isStopped = false
  #cancel = () => {}

  constructor(init: EachAddressInit) {
    this.#init = init
    this.port = init.port
  }

  async start(): Promise<void> {
    for (const address of this.#wanted()) {
      try {
        await this.#listenAt(address)
      } catch (error) {
        if (isGone(error)) continue
        await this.stop()
        throw error
      }
    }
    this.#lookLater()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    const open = [...this.#open.values()]
    this.#open.clear()
    await Promise.all(open.map((listener) => listener.stop()))
  }

  #wanted(): readonly string[] {
    return [...new Set(this.#init.addresses())].slice(0, MAX_LISTENED_ADDRESSES)
  }

  async #listenAt(address: string): Promise<void> {
    const listener = await this.#init.open(address, this.port)
    if (this.#isStopped) return listener.stop()
    this.port = listener.port
    this.#open.set(address, listener)
  }

  #lookLater(): void {
    if (this.#isStopped) return
    this.#cancel = this.#init.clock.after(ADDRESS_LOOK_MS, () => {
      // addresses cannot be listed without a free file descriptor: they are looked at again
      void this.#look()
        .catch(() => {})
        .finally(() => this.#lookLater())
    })
  }

  async #look(): Promise<void> {
    const wanted = new Set(this.#wanted())
    let isChanged = false
    for (const [address, listener] of this.#open) {
      if (wanted.has(address)) continue
      isChanged = true
      this.#open.delete(address)
      await listener.stop()
    }
    for (const told of this.#told) if (!wanted.has(told)) this.#told.delete(told)
    for (const address of wanted) {
      if (this.#open.has(address) || this.#isStopped) continue
      try {
        await this.#listenAt(address)
        this.#told.delete(address)
        isChanged = true
      } catch (error) {
        this.#refused(address, error)
      }
    }
    if (isChanged && !this.#isStopped) this.#init.onChange?.()
  }

  #refused(address: string, error: unknown): void {
    if (isGone(error) || this.#told.has(address)) return
    this.#told.add(address)
    this.#init.onRefused?.(address, toError(error))
  }
}

/** The address was taken away meanwhile, or is not ready for use yet. */
function isGone(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && error.code === 'EADDRNOTAVAIL') || isGone(error.cause)
}
