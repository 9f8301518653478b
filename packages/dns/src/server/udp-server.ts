/**
 * Questions over UDP. A client that forges the address of another network gains nothing: each network outside this machine
 * and the VPN gets few answers. Some answers above the rate go out truncated, so that a real client asks again over TCP.
 */
import { createSocket, type Socket } from 'node:dgram'
import type { AddressListener, Clock } from '@mesh/core'
import { createRate } from '@mesh/core/limits'
import { OUTSIDE_ANSWERS, RATE_SLIP, UDP_BUFFER_BYTES } from '../limits.ts'
import { emptyAnswer, encodeAnswer } from '../messages/answer.ts'
import { isQuery, readQuery } from '../messages/read-query.ts'
import { RCODE } from '../record-types.ts'
import type { Client } from './clients.ts'
import type { Outcome, Responder } from './responder.ts'
import { createUdpOutbox, type UdpOutbox } from './udp-outbox.ts'

export interface UdpServerInit {
  readonly host: string
  readonly port: number
}

export interface UdpServerComponents {
  readonly responder: Pick<Responder, 'respond'>
  readonly clientOf: (address: string) => Client
  readonly rates: ResponseRates
  readonly count: (outcome: Outcome) => void
}

/** Rejects with the system's error when the address cannot be had. */
export function openUdpServer(
  { host, port }: UdpServerInit,
  components: UdpServerComponents,
): Promise<AddressListener> {
  const isV6 = host.includes(':')
  const socket = createSocket({
    type: isV6 ? 'udp6' : 'udp4',
    ipv6Only: isV6,
    // addresses need no look-up, which else takes a turn of the event loop for each answer
    lookup: (address, _options, done) => done(null, address, isV6 ? 6 : 4),
  })
  const outbox = createUdpOutbox(socket)
  socket.on('message', (packet, { address, port: from }) => {
    if (from === 0) return components.count('ignored')
    const client = components.clientOf(address)
    const reply = (answer: Buffer) => outbox.send(answer, from, address)
    if (components.rates.take(client)) components.responder.respond({ packet, client, overTcp: false, reply })
    else slip(packet, reply, components)
  })
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.bind(port, host, () => {
      socket.off('error', reject)
      // an answer that could not be sent, as to a client that has gone
      socket.on('error', () => {})
      growBuffers(socket)
      resolve({ port: socket.address().port, stop: () => close(socket, outbox) })
    })
  })
}

function slip(packet: Buffer, reply: (answer: Buffer) => void, { rates, count }: UdpServerComponents): void {
  count('limited')
  const query = rates.slips() ? readQuery(packet) : undefined
  if (query === undefined || !isQuery(query)) return
  reply(encodeAnswer(emptyAnswer(RCODE.NOERROR), query, { maxBytes: 0, ageS: 0, recursion: false }))
}

/** Shared by all sockets of a server. */
export function createResponseRates(clock: Clock) {
  const outside = createRate(OUTSIDE_ANSWERS, clock)
  let limited = 0
  return {
    /** May this client have an answer over UDP now? */
    take: ({ address, place }: Client) => place === 'trusted' || outside.take({ address }),
    /** Every so often: an answer over the rate goes out cut. */
    slips: () => limited++ % RATE_SLIP === 0,
  }
}

type ResponseRates = ReturnType<typeof createResponseRates>

/** The system may allow less. */
function growBuffers(socket: Socket): void {
  try {
    socket.setRecvBufferSize(UDP_BUFFER_BYTES)
    socket.setSendBufferSize(UDP_BUFFER_BYTES)
  } catch {
    // what it has by default works, too
  }
}

function close(socket: Socket, outbox: UdpOutbox): Promise<void> {
  outbox.stop()
  return new Promise((resolve) => socket.close(() => resolve()))
}
