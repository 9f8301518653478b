/** Reads from a client until a step of SOCKS5 is complete. */
import type { Socket } from 'node:net'
import type { Clock } from '@mesh/core'
import { PROXY_GREETING_MS } from '../limits.ts'
import { servicesError } from '../errors.ts'
import type { SocksStep } from './socks5.ts'

/** How many bytes a client may send before its step is complete: more than any message of SOCKS5 has. */
const MAX_BYTES = 64 * 1024

export interface StepRead {
  readonly step: Exclude<SocksStep, { readonly kind: 'more' }>
  /** Bytes that came with the step, behind it. */
  readonly rest: Uint8Array
}

/**
 * Leaves the socket paused. A client that asks for something else is told, and its connection ended.
 * @throws MeshError `services.broken`, `services.timeout`
 */
export function readStep(
  socket: Socket,
  first: Uint8Array,
  { read, clock }: { readonly read: (bytes: Uint8Array) => SocksStep; readonly clock: Clock },
): Promise<StepRead> {
  return new Promise((resolve, reject) => {
    let held = first
    const finish = (act: () => void) => {
      cancel()
      socket.off('data', onData)
      socket.off('close', onClose)
      socket.off('end', onClose)
      socket.pause()
      act()
    }
    const fail = (error: Error) => finish(() => reject(error))
    const onClose = () => fail(servicesError('services.broken', 'the client left'))
    const cancel = clock.after(PROXY_GREETING_MS, () =>
      fail(servicesError('services.timeout', 'the client did not say what it wants')),
    )
    const look = () => {
      const step = read(held)
      if (step.kind === 'more') {
        if (held.byteLength > MAX_BYTES) fail(servicesError('services.broken', 'too long a request'))
        return
      }
      const taken = 'taken' in step ? step.taken : held.byteLength
      finish(() => resolve({ step, rest: held.subarray(taken) }))
    }
    const onData = (chunk: Buffer) => {
      held = Buffer.concat([held, chunk])
      look()
    }
    socket.on('data', onData)
    socket.once('close', onClose)
    socket.once('end', onClose)
    look()
    socket.resume()
  })
}
