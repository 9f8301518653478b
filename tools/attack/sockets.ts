/** Attackers' bare connections over TCP, with nothing of libp2p or HTTP on them but what the attack writes. */
import { connect, type Socket } from 'node:net'
import type { Attack } from './scenario.ts'
import type { AttackTarget } from './scenario.ts'
import { pause } from './until-true.ts'

/** The port of loopback on which a node has its API. */
export const apiPortOf = ({ url }: AttackTarget) => Number(new URL(url).port)

/** The port of loopback on which a node listens for peers. */
export const peerPortOf = ({ address }: AttackTarget) => Number(/\/tcp\/(\d+)/.exec(address)?.[1])

/** Where a connection goes to, and the address of loopback that it comes from; the system's choice unless given. */
export interface SocketEnds {
  readonly port: number
  readonly from?: string | undefined
}

/** Gives each of many connections one of ten addresses of loopback. */
export const oneOfTen = (at: number) => `127.0.0.${2 + (at % 10)}`

/** Opens a connection and uses it until it closes, or the attack is over. Rejects when it breaks. */
export async function overSocket(
  { signal }: Attack,
  ends: number | SocketEnds,
  use: (socket: Socket) => unknown,
): Promise<void> {
  const { port, from } = typeof ends === 'number' ? { port: ends } : ends
  const socket = connect({ host: '127.0.0.1', port, ...(from !== undefined && { localAddress: from }) })
  const end = () => socket.destroy()
  signal.addEventListener('abort', end)
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', () => use(socket))
    socket.once('error', reject)
    socket.once('close', () => resolve())
  }).finally(() => signal.removeEventListener('abort', end))
}

/** Writes the same bytes as fast as they are taken, at most so many times, and says each time that it did. */
export function pour(
  socket: Socket,
  bytes: Uint8Array,
  { most = Number.POSITIVE_INFINITY, onWritten }: { readonly most?: number; readonly onWritten: () => void },
): void {
  let left = most
  const send = () => {
    for (let mayFollow = true; mayFollow && left > 0 && !socket.destroyed; left--) {
      mayFollow = socket.write(bytes)
      onWritten()
    }
  }
  socket.on('drain', send)
  send()
}

/** Writes one byte after each pause, as long as the connection stands. */
export async function trickle(socket: Socket, byte: number, pauseMs: number): Promise<void> {
  while (!socket.destroyed) {
    socket.write(Buffer.of(byte))
    await pause(pauseMs)
  }
}
