/** Packets from legacy members: what their streams bring is cut into packets, within bounds of bytes and time. */
import type { Clock, PeerId } from '@mesh/core'
import type { Engine } from '@mesh/engine'
import type { ByteStream } from '../ports.ts'
import type { Refusal, RefusalCounter } from '../streams/refusals.ts'
import { MAX_STREAM_BYTES, MAX_UNFINISHED_BYTES, MAX_UNFINISHED_BYTES_PER_PEER, STREAM_MS } from './limits.ts'
import { createPacketGatherer, type PacketGatherer } from './split-packets.ts'

interface PacketReceiverComponents {
  readonly engine: Pick<Engine, 'injectPackets'>
  readonly clock: Clock
  readonly refusals: RefusalCounter
  /** Why no unsealed packets of the peer are taken; undefined: the engine's table has it as a legacy member. */
  readonly refusal: (peer: PeerId) => Refusal | undefined
}

export class PacketReceiver {
  readonly #components: PacketReceiverComponents
  readonly #reading = new Set<StreamReader>()
  readonly #unfinished = new UnfinishedBytes()

  constructor(components: PacketReceiverComponents) {
    this.#components = components
  }

  /** Reads until the stream ends: whole packets go to the engine at once, the beginning of one is kept. */
  read(stream: ByteStream): void {
    const code = this.#components.refusal(stream.peer)
    if (code !== undefined) {
      this.#components.refusals.refuse(code, stream.peer)
      stream.abort(new Error(code))
      return
    }
    const reader = new StreamReader(stream, this.#unfinished, {
      ...this.#components,
      onFinished: () => this.#reading.delete(reader),
    })
    this.#reading.add(reader)
    reader.start()
  }

  stop(): void {
    for (const reader of this.#reading) reader.abort(new Error('the VPN stops'))
  }
}

class StreamReader {
  readonly #stream: ByteStream
  readonly #unfinished: UnfinishedBytes
  readonly #components: PacketReceiverComponents & { readonly onFinished: () => void }
  readonly #gatherer: PacketGatherer
  #bytes = 0
  #held = 0
  #finished = false
  #cancelDeadline = () => {}

  constructor(
    stream: ByteStream,
    unfinished: UnfinishedBytes,
    components: PacketReceiverComponents & { readonly onFinished: () => void },
  ) {
    const { engine, refusal } = components
    this.#stream = stream
    this.#unfinished = unfinished
    this.#components = components
    this.#gatherer = createPacketGatherer((packets) => {
      if (refusal(stream.peer) === undefined) engine.injectPackets(stream.peer, packets)
    })
  }

  start(): void {
    const { clock, refusals } = this.#components
    this.#cancelDeadline = clock.after(STREAM_MS, () => this.#finish('legacy.unfinished'))
    this.#stream.onEnd(() => {
      if (this.#gatherer.held > 0 && !this.#finished) refusals.refuse('legacy.unfinished', this.#stream.peer)
      this.#finish()
    })
    this.#stream.onBytes((chunk) => this.#take(chunk))
  }

  abort(reason: Error): void {
    this.#stream.abort(reason)
  }

  #take(chunk: Uint8Array): void {
    if (this.#finished) return
    this.#bytes += chunk.length
    if (this.#bytes > MAX_STREAM_BYTES) return this.#finish('legacy.too_long')
    if (!this.#gatherer.push(chunk)) return this.#finish('legacy.bad_packet')
    const more = this.#gatherer.held - this.#held
    this.#held = this.#gatherer.held
    if (!this.#unfinished.add(this.#stream.peer, more)) this.#finish('legacy.too_long')
  }

  /** @param code why the stream is refused; undefined: it has ended by itself */
  #finish(code?: Refusal): void {
    if (this.#finished) return
    this.#finished = true
    this.#cancelDeadline()
    this.#unfinished.add(this.#stream.peer, -this.#held)
    this.#components.onFinished()
    if (code === undefined) return
    this.#components.refusals.refuse(code, this.#stream.peer)
    this.#stream.abort(new Error(code))
  }
}

/** Bytes that beginnings of packets take, by peer and in all. */
class UnfinishedBytes {
  readonly #byPeer = new Map<PeerId, number>()
  #total = 0

  /** False when that is more than the bounds allow; it is counted all the same. */
  add(peer: PeerId, bytes: number): boolean {
    if (bytes === 0) return true
    const sum = (this.#byPeer.get(peer) ?? 0) + bytes
    if (sum === 0) this.#byPeer.delete(peer)
    else this.#byPeer.set(peer, sum)
    this.#total += bytes
    return sum <= MAX_UNFINISHED_BYTES_PER_PEER && this.#total <= MAX_UNFINISHED_BYTES
  }
}
