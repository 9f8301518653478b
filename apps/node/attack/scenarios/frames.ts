/** Attacks by frames that never end, and by streams that nobody reads. */
import { randomBytes } from 'node:crypto'
import type { Connection } from '@libp2p/interface'
import type { Attack, Scenario } from '../scenario.ts'
import { dialTarget, openStream, sendAll, varint } from '../attackers.ts'
import { GOSSIP_PROTOCOL } from '../gossip.ts'
import { proveMembership } from '../membership.ts'
import { pause } from '../until-true.ts'

const MB = 1024 * 1024

/** Begins a frame of 19 MiB and sends all of it but the last byte; gives how many bytes went out. */
async function beginFrame(connection: Connection, protocol: string, signal: AbortSignal): Promise<number> {
  const length = 19 * MB
  const stream = await openStream(connection, protocol, signal)
  const bytes = Buffer.concat([varint(length), randomBytes(length - 1)])
  return (await sendAll(stream, bytes, signal)) ? length : 0
}

/** Each peer begins a frame, and all again when they were refused. */
async function beginFrames(
  attack: Attack,
  { peers, prove }: { readonly peers: number; readonly prove: boolean },
) {
  const { target, signal, config } = attack
  let held = 0
  await Promise.all(
    Array.from({ length: peers }, async () => {
      while (!signal.aborted) {
        try {
          const peer = await attack.peer()
          const connection = await dialTarget(peer, target, signal)
          if (prove) await proveMembership({ connection, self: peer.peerId }, config, signal)
          held += await beginFrame(connection, GOSSIP_PROTOCOL, signal)
          while (connection.status === 'open' && !signal.aborted) await pause(50, signal)
        } catch {
          await pause(200, signal)
        }
      }
    }),
  )
  return `${Math.round(held / MB)} MiB of unfinished frames sent`
}

export const FRAME_ATTACKS: readonly Scenario[] = [
  {
    name: 'stranger-frames',
    who: 'stranger',
    does: '15 unfinished gossip frames of 19 MiB',
    boundedBy: 'MAX_HELD_BYTES, FRAME_BASE_MS, MIN_FRAME_BYTES_PER_S',
    appliesToLegacy: true,
    run: (attack) => beginFrames(attack, { peers: 15, prove: false }),
  },
  {
    name: 'member-frames',
    who: 'member',
    does: '15 unfinished gossip frames of 19 MiB from proven members',
    boundedBy: 'MAX_HELD_BYTES, FRAME_BASE_MS, MIN_FRAME_BYTES_PER_S',
    appliesToLegacy: false,
    run: (attack) => beginFrames(attack, { peers: 15, prove: true }),
  },
  {
    name: 'member-messages',
    who: 'member',
    does: 'unfinished messages on every protocol of our own, on as many streams as there may be, from 12 keys',
    boundedBy: 'MAX_HELD_BYTES, FRAME_BASE_MS, MIN_FRAME_BYTES_PER_S',
    appliesToLegacy: false,
    async run(attack) {
      const { target, signal, config } = attack
      const protocols = ['/mesh/replication/1', '/mesh/peers/1', '/mesh/services/1', '/mesh/files/1']
      let opened = 0
      await Promise.all(
        Array.from({ length: 12 }, async () => {
          const peer = await attack.peer()
          const connection = await dialTarget(peer, target, signal)
          await proveMembership({ connection, self: peer.peerId }, config, signal)
          while (!signal.aborted && connection.status === 'open') {
            for (const protocol of protocols) {
              const stream = await openStream(connection, protocol, signal).catch(() => undefined)
              if (stream === undefined) continue
              opened++
              const bytes = Buffer.concat([varint(200 * 1024), randomBytes(200 * 1024 - 1)])
              void sendAll(stream, bytes, signal)
            }
            await pause(20, signal)
          }
        }),
      )
      return `${opened} streams`
    },
  },
]
