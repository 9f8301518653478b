/** Asks this machine's router for a UDP port by PCP, and where it is older by NAT-PMP; the answer comes from it alone. */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { type Clock, delay, type IpAddress, parseIp, type Random } from '@mesh/core'
import type { PortMapping } from '../port-mapping.ts'
import { PORT_CONTROL_ASKS_MS } from '../limits.ts'
import { isOutside } from '../local-network/outside-address.ts'
import {
  decodePortControl,
  encodeNatPmpAddress,
  encodeNatPmpMap,
  encodePcpMap,
  PCP_NONCE_BYTES,
  type PortControlAnswer,
} from './port-control-message.ts'

export interface GrantedMapping extends PortMapping {
  readonly lifetimeS: number
}

interface AskInit {
  /** The router, and its port for these protocols. */
  readonly router: PortMapping
  readonly port: number
  readonly lifetimeS: number
  /** The number by which the router knows the mapping: the same for renewing and ending it. */
  readonly nonce: Uint8Array
  readonly signal: AbortSignal
}

/** A number for a mapping. */
export function mappingNonce(random: Random): Uint8Array {
  return random.bytes(PCP_NONCE_BYTES)
}

/**
 * Asks for a mapping, renews it, or ends it with a lifetime of 0.
 *
 * @throws Error when the router does not answer, or refuses; the signal's reason
 */
export async function askForMapping(init: AskInit, clock: Clock): Promise<GrantedMapping> {
  const { router, port, lifetimeS, nonce, signal } = init
  const socket = createSocket('udp4')
  try {
    socket.on('error', () => {})
    socket.connect(router.port, router.address)
    await once(socket, 'connect', { signal })
    const own = parseIp(socket.address().address)
    const wish = { port, external: port, lifetimeS }
    const ask = (request: Uint8Array, kind: PortControlAnswer['kind']) =>
      exchange(socket, { request, nonce, kind, signal }, clock)
    const answer = await ask(encodePcpMap(wish, { own, nonce }), 'mapped')
    if (answer.kind === 'mapped') return granted(init, answer, answer.address)
    const older = await ask(encodeNatPmpMap(wish), 'mapped')
    const outside = await ask(encodeNatPmpAddress(), 'address')
    if (older.kind !== 'mapped' || outside.kind !== 'address') throw new Error('the router maps no ports')
    return granted(init, older, outside.address)
  } finally {
    socket.close()
  }
}

/**
 * Gives what a router has granted, as far as it can be: for no longer than was asked, or nobody would ask again.
 *
 * @throws Error where it names another port of this machine, none of its own, or an address that leads nowhere
 */
function granted(
  { port, lifetimeS }: AskInit,
  answer: Extract<PortControlAnswer, { readonly kind: 'mapped' }>,
  address: IpAddress | undefined,
): GrantedMapping {
  const isEnded = lifetimeS === 0
  const isPort = answer.port === port && (answer.external > 0 || isEnded)
  if (!isPort || address === undefined || !(isEnded || isOutside(address)))
    throw new Error('the router does not say where')
  return { address, port: answer.external, lifetimeS: Math.min(answer.lifetimeS, lifetimeS) }
}

interface ExchangeInit {
  readonly request: Uint8Array
  readonly nonce: Uint8Array
  /** The kind of answer that is waited for, beside `old`. */
  readonly kind: PortControlAnswer['kind']
  readonly signal: AbortSignal
}

/** Sends again until there is an answer, with growing pauses. */
async function exchange(
  socket: Socket,
  { request, nonce, kind, signal }: ExchangeInit,
  clock: Clock,
): Promise<PortControlAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<PortControlAnswer>()
  const over = new AbortController()
  const onMessage = (bytes: Uint8Array) => {
    const answer = decodePortControl(bytes, nonce)
    if (answer?.kind === 'refused') reject(new Error(`the router refused to map a port (${answer.result})`))
    else if (answer?.kind === kind || answer?.kind === 'old') resolve(answer)
  }
  const ask = async () => {
    for (const waitMs of PORT_CONTROL_ASKS_MS) {
      socket.send(request)
      await delay(clock, waitMs, AbortSignal.any([signal, over.signal]))
    }
    throw new Error('the router does not answer')
  }
  socket.on('message', onMessage)
  try {
    return await Promise.race([promise, ask()])
  } finally {
    over.abort()
    socket.off('message', onMessage)
  }
}
