/** Attacks by frames that never end, and by streams that nobody reads. */
import { randomBytes } from 'node:crypto'
import type { Connection } from '@libp2p/interface'
import type { Attack, Scenario } from '../scenario.ts'
import { dialTarget, openStream, overAndOver, sendMuch, together, varint } from '../attackers.ts'
import { GOSSIP_PROTOCOL } from '../gossip.ts'
import { connectMember } from '../membership.ts'
import { pause } from '../until-true.ts'
import { connectLegacyUser, LEGACY_EGRESS, LEGACY_EGRESS_VICTIM } from './services.ts'

const MB = 1024 * 1024
const BEGUN = 'KiB of unfinished frames'
/** How long a message of a protocol of its own is that does not end. */
const UNFINISHED = 200 * 1024

/** Each peer begins a frame of 19 MiB and sends all of it but the last byte, and again under a fresh key when that was refused. */
async function beginFrames(attack: Attack, connect: () => Promise<Connection>): Promise<void> {
  const { signal, tally } = attack
  const length = 19 * MB
  await together(15, () =>
    overAndOver(
      attack,
      async () => {
        const connection = await connect()
        const stream = await openStream(connection, GOSSIP_PROTOCOL, signal)
        const bytes = Buffer.concat([varint(length), randomBytes(length - 1)])
        tally.count(BEGUN, (await sendMuch(stream, bytes, signal)) / 1024)
        while (connection.status === 'open' && !signal.aborted) await pause(50, signal)
      },
      200,
    ),
  )
}

const connectStranger = async (attack: Attack) =>
  await dialTarget(await attack.peer(), attack.target, attack.signal)

export const FRAME_ATTACKS: readonly Scenario[] = [
  {
    name: 'stranger-frames',
    who: 'stranger',
    does: '15 unfinished gossip frames of 19 MiB',
    boundedBy: 'MAX_HELD_BYTES',
    legacy: {},
    aim: BEGUN,
    run: (attack) => beginFrames(attack, () => connectStranger(attack)),
  },
  {
    name: 'member-frames',
    who: 'member',
    does: '15 unfinished gossip frames of 19 MiB from proven members',
    boundedBy: 'MAX_HELD_BYTES',
    legacy: {},
    aim: BEGUN,
    run: (attack) => beginFrames(attack, async () => (await connectMember(attack)).connection),
  },
  {
    name: 'member-messages',
    who: 'member',
    does: 'unfinished messages on every protocol of our own, on as many streams as there may be, from 12 keys',
    boundedBy: 'MAX_HELD_BYTES',
    legacy: LEGACY_EGRESS_VICTIM,
    aim: BEGUN,
    async run(attack) {
      const { signal, tally } = attack
      const isMesh = attack.target.kind === 'mesh'
      const protocols = isMesh
        ? ['/mesh/replication/1', '/mesh/peers/1', '/mesh/service/1', '/mesh/file/1']
        : [LEGACY_EGRESS]
      // the one message of a legacy node's own protocols is a request of HTTP
      const head = isMesh ? varint(UNFINISHED) : Buffer.from('GET / HTTP/1.1\r\nX: ')
      const bytes = Buffer.concat([
        head,
        Buffer.from(randomBytes(UNFINISHED / 2).toString('hex')).subarray(1),
      ])
      const begin = async (connection: Connection, protocol: string) => {
        const stream = await openStream(connection, protocol, signal)
        tally.count('streams')
        void sendMuch(stream, bytes, signal).then((sent) => tally.count(BEGUN, sent / 1024))
      }
      await together(12, () =>
        overAndOver(attack, async () => {
          const { connection } = isMesh
            ? await connectMember(attack)
            : await connectLegacyUser(attack, '127.0.0.2')
          while (!signal.aborted && connection.status === 'open') {
            for (const protocol of protocols)
              await begin(connection, protocol).catch((error: unknown) => tally.missed(error, signal))
            await pause(20, signal)
          }
        }),
      )
    },
  },
]
