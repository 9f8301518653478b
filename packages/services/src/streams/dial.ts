import { connect, type Socket } from 'node:net'
import type { Clock } from '@mesh/core'
import { servicesError } from '../errors.ts'
import { reset } from './splice.ts'

const KEEP_ALIVE_MS = 60_000

export interface DialInit {
  readonly address: { readonly host: string; readonly port: number } | { readonly path: string }
  readonly withinMs: number
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
  /** True for a socket of which nothing is read until it is resumed; else a block is read at once, to wait here. */
  readonly isPaused?: boolean
}

/**
 * Connects; the socket's directions end apart, and what comes is kept until somebody listens.
 * @throws MeshError `services.target_down`, with the system's reason; the signal's reason
 */
export function dial(init: DialInit): Promise<Socket> {
  const { address, withinMs, clock, signal, isPaused = false } = init
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason)
    const socket: Socket = connect({ ...address, allowHalfOpen: true, noDelay: true })
    if (isPaused) socket.pause()
    const finish = (act: () => void) => {
      cancel()
      signal?.removeEventListener('abort', onAbort)
      socket.off('error', onError)
      act()
    }
    const fail = (reason: unknown) =>
      finish(() => {
        socket.on('error', () => {})
        reset(socket)
        reject(reason)
      })
    const onError = (error: Error) =>
      fail(servicesError('services.target_down', wordsOf(error), { cause: error }))
    const onAbort = () => fail(signal?.reason)
    const cancel = clock.after(withinMs, () =>
      fail(servicesError('services.target_down', `no answer within ${withinMs / 1_000} s`)),
    )
    socket.on('error', onError)
    signal?.addEventListener('abort', onAbort, { once: true })
    socket.once('connect', () =>
      finish(() => {
        if ('host' in address) socket.setKeepAlive(true, KEEP_ALIVE_MS)
        resolve(socket)
      }),
    )
  })
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ENOENT', 'the socket does not exist'],
  ['EACCES', 'this user may not connect to it'],
  ['EHOSTUNREACH', 'no route to the host'],
  ['ENETUNREACH', 'no route to the network'],
  ['ETIMEDOUT', 'no answer'],
  ['ENOTFOUND', 'the name is not known'],
  ['EAI_AGAIN', 'the name could not be looked up'],
  ['ESERVFAIL', 'the name could not be looked up'],
  ['ETIMEOUT', 'the name could not be looked up in time'],
])

/** Says in words for people what a failed system call says. */
export function wordsOf(error: Error): string {
  // of several addresses, each with its own error
  const first = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error
  const code = 'code' in first && typeof first.code === 'string' ? first.code : ''
  return WORDS.get(code) ?? (first.message === '' ? code : first.message)
}
