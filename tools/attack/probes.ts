/** Probes over UDP by hand (docs/PROTOCOLS.md, 'Paths over UDP'), for members that lie with them. */
import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { frameTexts } from '@mesh/network'
import { type Control, pathsOf } from './control-channel.ts'
import type { Reached } from './membership.ts'
import { strangerAddress, VICTIM_ADDRESS } from './namespace.ts'
import type { Attack } from './scenario.ts'
import { pause } from './until-true.ts'

const [PING, PONG] = [1, 2]
/** Ports that one liar probes from: each is a path that the victim has to try. */
const PORTS = 32
/** How many probes leave each port between two pauses. */
const AT_ONCE = 8

interface LiarInit {
  readonly attack: Attack
  readonly member: Reached
  readonly control: Control
}

export interface Liar extends AsyncDisposable {
  /** Resolves when the control channel has ended, or the attack. */
  untilOver(): Promise<void>
}

/** Tells the victim of sockets of its own, answers what comes there with lies, and probes from all of them. */
export async function createLiar({ attack, member, control }: LiarInit): Promise<Liar> {
  const { signal, tally } = attack
  const sockets = await Promise.all(Array.from({ length: PORTS }, openSocket))
  const [secret, token] = [randomBytes(32), randomBytes(8)]
  const candidates = sockets.slice(0, 16).map((socket) => ({ ...socket.address() }))
  control.sendPaths(pathsOf({ secret, token, candidates }))
  const told = await control.told
  const [self, peer] = [member.self.toString(), member.connection.remotePeer.toString()]
  const secrets = self < peer ? [secret, told.secret] : [told.secret, secret]
  const salt = frameTexts(...[self, peer].toSorted())
  const info = Buffer.concat([Buffer.from('mesh path 1'), frameTexts(self)])
  const key = new Uint8Array(hkdfSync('sha256', Buffer.concat(secrets), salt, info, 32))
  const seal = (head: Buffer) =>
    Buffer.concat([head, createHmac('sha256', key).update(head).digest().subarray(0, 16)])
  const port = told.candidates.find(({ address }) => address === VICTIM_ADDRESS)?.port ?? 0
  let lies = 0
  for (const socket of sockets) {
    socket.on('error', (error) => tally.missed(error, signal))
    socket.on('message', (probe, from) => {
      tally.count(probe[3] === PING ? 'lies' : 'answers')
      if (probe[3] !== PING) return
      const answer = Buffer.concat([headOf(PONG, told.token), probe.subarray(12, 22), seenAs(lies++)])
      socket.send(seal(answer), from.port, from.address)
    })
  }
  return {
    async untilOver() {
      while (control.stream.status === 'open' && !signal.aborted) {
        for (const socket of sockets)
          for (let at = 0; at < AT_ONCE; at++) socket.send(seal(pingOf(told.token)), port, VICTIM_ADDRESS)
        tally.count('probes', PORTS * AT_ONCE)
        await pause(10, signal)
      }
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.close()
    },
  }
}

async function openSocket(): Promise<Socket> {
  const socket = createSocket('udp4')
  socket.bind(0, VICTIM_ADDRESS)
  await once(socket, 'listening')
  return socket
}

const headOf = (kind: number, token: Uint8Array) =>
  Buffer.concat([Buffer.from('mp'), Uint8Array.of(1, kind), token])

/** A probe with the greatest number that there is, and without padding. */
function pingOf(token: Uint8Array): Buffer {
  const rest = Buffer.alloc(8 + 2 + 4, 0xff)
  rest.writeUInt16BE(42, 8)
  return Buffer.concat([headOf(PING, token), rest])
}

/** Where the victim's probe is said to have come from: another stranger each time. */
function seenAs(lie: number): Buffer {
  const address = strangerAddress(lie % 250)
    .split('.')
    .map(Number)
  const bytes = Buffer.alloc(18)
  bytes.set([0xff, 0xff, ...address], 10)
  bytes.writeUInt16BE(1_024 + (lie % 60_000), 16)
  return bytes
}
