/**
 * A UDP port that stands for a service: each local address that sends has a session of its own, which ends when nothing
 * goes over it. What cannot be sent at once is dropped, except the first few datagrams of a session being opened.
 */
import type { Socket as UdpSocket } from 'node:dgram'
import { type Clock, toError } from '@mesh/core'
import { MAX_UDP_SESSIONS, MAX_WAITING_DATAGRAM_BYTES, MAX_WAITING_DATAGRAMS } from '../limits.ts'
import { createLocalSlots } from '../slots.ts'
import { type DatagramPipe, pipeDatagrams } from '../streams/datagrams.ts'
import type { Listener } from '../streams/listen.ts'
import type { Traffic } from '../streams/splice.ts'
import { bindUdp, sendDatagram, type UdpAddress } from '../streams/udp-socket.ts'
import type { OpenedStream } from '../wire/request.ts'

export interface UdpListenerInit {
  readonly open: (signal: AbortSignal) => Promise<OpenedStream>
  /** Holds what ends each session. */
  readonly opened: Set<(reason: Error) => void>
  readonly traffic: Traffic
  readonly clock: Clock
  readonly onError: (error: Error) => void
}

interface Session {
  /** Undefined while it is being opened. */
  pipe: DatagramPipe | undefined
  readonly ended: AbortController
  readonly waiting: Uint8Array[]
  waitingBytes: number
}

/** @throws MeshError `services.cannot_listen` */
export async function listenForDatagrams(address: UdpAddress, init: UdpListenerInit): Promise<Listener> {
  const socket = await bindUdp(address)
  const sessions = new Map<string, Session>()
  const slots = createLocalSlots(MAX_UDP_SESSIONS)
  // what a client's closed port answers with is none of ours
  socket.on('error', () => {})
  socket.on('message', (datagram, { address: host, port }) => {
    const key = `${host} ${port}`
    const known = sessions.get(key)
    if (known?.pipe !== undefined) return void known.pipe.send(datagram)
    if (known !== undefined) return keep(known, datagram)
    const session: Session = { pipe: undefined, ended: new AbortController(), waiting: [], waitingBytes: 0 }
    const release = slots.take(host, () =>
      endSession(session, new Error('too many local sessions at a time')),
    )
    if (release === undefined) return
    const onDone = () => {
      release()
      sessions.delete(key)
    }
    keep(session, datagram)
    sessions.set(key, session)
    void openSession(session, { ...init, socket, to: { host, port }, onDone })
  })
  return { port: socket.address().port, close: () => socket.close() }
}

/** Drops what is over the bounds, as UDP does. */
function keep(session: Session, datagram: Uint8Array): void {
  const bytes = session.waitingBytes + datagram.byteLength
  if (session.waiting.length >= MAX_WAITING_DATAGRAMS || bytes > MAX_WAITING_DATAGRAM_BYTES) return
  session.waiting.push(datagram)
  session.waitingBytes = bytes
}

function endSession({ ended, pipe }: Session, reason: Error): void {
  ended.abort(reason)
  pipe?.close()
}

interface SessionInit extends UdpListenerInit {
  readonly socket: UdpSocket
  readonly to: UdpAddress
  readonly onDone: () => void
}

async function openSession(session: Session, init: SessionInit): Promise<void> {
  const { open, opened, traffic, clock, onError, socket, to } = init
  const { ended } = session
  const end = (reason: Error) => endSession(session, reason)
  const done = () => {
    opened.delete(end)
    init.onDone()
  }
  opened.add(end)
  try {
    const { stream, rest } = await open(ended.signal)
    session.pipe = pipeDatagrams(stream, {
      head: rest,
      traffic,
      clock,
      onDatagram(datagram) {
        if (!ended.signal.aborted) sendDatagram(socket, datagram, to)
      },
      onDone: done,
    })
    for (const datagram of session.waiting.splice(0)) session.pipe.send(datagram)
  } catch (error) {
    done()
    if (!ended.signal.aborted) onError(toError(error))
  }
}
