/**
 * A UDP port that stands for a service: each local address that sends has a session of its own, which ends when nothing
 * goes over it. What cannot be sent at once is dropped, except the first few datagrams of a session being opened.
 */
import type { Socket as UdpSocket } from 'node:dgram'
import { type AddressListener, type Clock, listenAtEachAddress, toError } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { UDP_SESSIONS } from '../limits.ts'
import { type DatagramPipe, pipeDatagrams } from '../streams/datagrams.ts'
import type { Listener } from '../streams/listen.ts'
import { bindUdp, lookUpUdp, sendDatagram, type UdpAddress } from '../streams/udp-socket.ts'
import { WaitingDatagrams } from '../streams/waiting-datagrams.ts'
import type { OpenedService } from './open-service.ts'

export interface UdpListenerInit {
  readonly open: (signal: AbortSignal) => Promise<OpenedService>
  /** Holds what ends each session. */
  readonly opened: Set<(reason: Error) => void>
  /** The addresses of this machine now. */
  readonly ownAddresses: () => readonly string[]
  readonly clock: Clock
  readonly onError: (error: Error) => void
}

interface Session {
  /** Undefined while it is being opened. */
  pipe: DatagramPipe | undefined
  readonly ended: AbortController
  readonly waiting: WaitingDatagrams
}

/** @throws MeshError `services.cannot_listen` */
export async function listenForDatagrams(address: UdpAddress, init: UdpListenerInit): Promise<Listener> {
  const [place] = await lookUpUdp(address, 'services.cannot_listen')
  const { host, port } = place ?? address
  const places = new Scope(UDP_SESSIONS)
  const open = (each: string, at: number) => listenAt({ host: each, port: at }, places, init)
  const { ownAddresses, clock, onError } = init
  const addresses = () => ownAddresses().filter((own) => host === '::' || !own.includes(':'))
  const listener = WILDCARDS.includes(host)
    ? await listenAtEachAddress({ addresses, port, open, clock, onRefused: (_, error) => onError(error) })
    : await open(host, port)
  return { port: listener.port, close: () => void listener.stop() }
}

const WILDCARDS: readonly string[] = ['0.0.0.0', '::']

/** Listens at one address, whose sessions end with it. */
async function listenAt(address: UdpAddress, places: Scope, init: UdpListenerInit): Promise<AddressListener> {
  const socket = await bindUdp(address)
  const sessions = new Map<string, Session>()
  // what a client's closed port answers with is none of ours
  socket.on('error', () => {})
  socket.on('message', (datagram, { address: host, port }) => {
    const key = `${host} ${port}`
    const known = sessions.get(key)
    if (known?.pipe !== undefined) return void known.pipe.send(datagram)
    if (known !== undefined) return known.waiting.add(datagram)
    const session: Session = {
      pipe: undefined,
      ended: new AbortController(),
      waiting: new WaitingDatagrams(),
    }
    const end = () => endSession(session, new Error('too many local sessions at a time'))
    const place = places.reserve({ address: host, end })
    if (place === undefined) return
    const onDone = () => {
      place.release()
      sessions.delete(key)
    }
    session.waiting.add(datagram)
    sessions.set(key, session)
    void openSession(session, { ...init, socket, to: { host, port }, onDone })
  })
  return {
    port: socket.address().port,
    async stop() {
      for (const session of sessions.values()) endSession(session, new Error('its address is gone'))
      await new Promise<void>((resolve) => socket.close(resolve))
    },
  }
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
  const { open, opened, clock, onError, socket, to } = init
  const { ended } = session
  const end = (reason: Error) => endSession(session, reason)
  const done = () => {
    opened.delete(end)
    init.onDone()
  }
  opened.add(end)
  try {
    const { stream, rest, use } = await open(ended.signal)
    session.pipe = pipeDatagrams(stream, {
      head: rest,
      traffic: use.traffic,
      clock,
      onDatagram(datagram) {
        if (!ended.signal.aborted) sendDatagram(socket, datagram, to)
      },
      onDone() {
        use.close()
        done()
      },
    })
    for (const datagram of session.waiting.take()) session.pipe.send(datagram)
  } catch (error) {
    done()
    if (!ended.signal.aborted) onError(toError(error))
  }
}
