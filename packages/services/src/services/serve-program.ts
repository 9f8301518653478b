/** Hands connections of members to the handler of a service that this process serves. */
import { type Duplex, duplexPair } from 'node:stream'
import type { Clock, PeerId } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import type { ByteStream } from '../ports.ts'
import { StreamDuplex } from '../streams/stream-duplex.ts'
import type { ExposedService } from './exposed-service.ts'
import type { ProgramTarget } from './target.ts'

export interface ProgramConnection {
  readonly service: ExposedService
  readonly target: ProgramTarget
  /** Bytes that came from the stream before. */
  readonly head?: Uint8Array
  readonly clock: Clock
}

/** Resolves when the connection is over. @param stream with `halfClose` */
export function acceptStream(
  stream: ByteStream,
  { service, target, head, clock }: ProgramConnection,
): Promise<void> {
  const { allowHalfOpen } = target
  const duplex = new StreamDuplex(stream, {
    ...(head !== undefined && { head }),
    traffic: service.traffic,
    budget: loopBudget(clock),
    allowHalfOpen,
  })
  return accept(duplex, stream.peer, { service, target })
}

/** Connects this process with its own service. @returns the client's end */
export function acceptOwn(
  self: PeerId,
  { service, target }: Pick<ProgramConnection, 'service' | 'target'>,
): Duplex {
  const [client, server] = duplexPair({ allowHalfOpen: target.allowHalfOpen })
  service.connections++
  // a socket that breaks at one end breaks at the other one
  server.once('close', () => client.destroy())
  client.once('close', () => server.destroy())
  void accept(server, self, { service, target })
  return client
}

function accept(
  duplex: Duplex,
  peer: PeerId,
  { service, target }: Pick<ProgramConnection, 'service' | 'target'>,
): Promise<void> {
  const end = (reason: Error) => void duplex.destroy(reason)
  service.open.add(end)
  // a member that resets its connection must not end this process
  duplex.on('error', () => {})
  const over = new Promise<void>((resolve) => {
    duplex.once('close', () => {
      service.open.delete(end)
      resolve()
    })
  })
  target.accept(duplex, peer)
  return over
}
