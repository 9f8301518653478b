/** Packets from legacy members: what their streams bring is cut into packets, within bounds of bytes and time. */
import type { Clock, PeerId } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import type { Engine } from '@mesh/engine'
import type { ByteStream } from '../ports.ts'
import type { Refusal, RefusalCounter } from '../streams/refusals.ts'
import { MAX_STREAM_BYTES, STREAM_MS, UNFINISHED_BYTES } from './limits.ts'
import { createPacketGatherer } from './split-packets.ts'

interface PacketReceiverComponents {
  readonly engine: Pick<Engine, 'injectPackets'>
  readonly clock: Clock
  readonly refusals: RefusalCounter
  /** Why no unsealed packets of the peer are taken; undefined: the engine's table has it as a legacy member. */
  readonly refusal: (peer: PeerId) => Refusal | undefined
}

export class PacketReceiver {
  readonly #components: PacketReceiverComponents
  readonly #reading = new Set<ByteStream>()
  /** The bytes that beginnings of packets take. */
  readonly #unfinished = new Scope(UNFINISHED_BYTES)

  constructor(components: PacketReceiverComponents) {
    this.#components = components
  }

  /** Reads until the stream ends: whole packets go to the engine at once, the beginning of one is kept. */
  read(stream: ByteStream): void {
    const { engine, clock, refusals, refusal } = this.#components
    const { peer } = stream
    let isOver = false
    let bytes = 0
    /** @param code why the stream is refused; undefined: it has ended by itself */
    const finish = (code?: Refusal) => {
      if (isOver) return
      isOver = true
      cancelDeadline()
      place?.release()
      this.#reading.delete(stream)
      if (code === undefined) return
      refusals.refuse(code, peer)
      stream.abort(new Error(code))
    }
    const place = this.#unfinished.reserve({ peer, size: 0 })
    const cancelDeadline = clock.after(STREAM_MS, () => finish('legacy.unfinished'))
    const gatherer = createPacketGatherer((packets) => {
      if (refusal(peer) === undefined) engine.injectPackets(peer, packets)
    })
    this.#reading.add(stream)
    const code = refusal(peer)
    if (code !== undefined) return finish(code)
    stream.onEnd(() => finish(gatherer.held > 0 ? 'legacy.unfinished' : undefined))
    stream.onBytes((chunk) => {
      if (isOver) return
      bytes += chunk.length
      if (bytes > MAX_STREAM_BYTES) finish('legacy.too_long')
      else if (!gatherer.push(chunk)) finish('legacy.bad_packet')
      else if (place?.resize(gatherer.held) !== true) finish('legacy.too_long')
    })
  }

  stop(): void {
    for (const stream of this.#reading) stream.abort(new Error('the VPN stops'))
  }
}
