/** The proof of membership by hand (docs/PROTOCOLS.md, 'Member: `/mesh/member/1`'), for members that are no nodes. */
import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { Connection, PeerId } from '@libp2p/interface'
import { frameTexts, type NetworkConfig } from '@mesh/network'
import { dialOrStop, framed, openStream } from './attackers.ts'
import type { Attack } from './scenario.ts'
import { RefusedError } from './tally.ts'

const MEMBER_PROTOCOL = '/mesh/member/1'
const [NONCE_FIELD, PROOF_FIELD] = [0x0a, 0x12]

/** A peer of the attacker, and its connection to the victim. */
export interface Reached {
  readonly connection: Connection
  readonly self: PeerId
}

/** Connects a fresh key, which proves that it is a member's. @param from the address that it dials from */
export async function connectMember(attack: Attack, from?: string): Promise<Reached> {
  const { target, signal } = attack
  const peer = await attack.peer(from === undefined ? {} : { from })
  const reached = { connection: await dialOrStop(peer, target, signal), self: peer.peerId }
  await beMember(attack, reached)
  return reached
}

/** Proves membership to a victim that asks for it; a legacy node takes anyone who comes. */
export async function beMember({ target, config, signal }: Attack, reached: Reached): Promise<void> {
  if (target.kind === 'mesh') await proveMembership(reached, config, signal)
}

/** Proves to the other side of a connection that this one has the token. */
export async function proveMembership(
  { connection, self }: Reached,
  config: NetworkConfig,
  signal: AbortSignal,
): Promise<void> {
  const stream = await openStream(connection, MEMBER_PROTOCOL, signal)
  const answer = new Promise<Buffer>((resolve, reject) => {
    let received = Buffer.alloc(0)
    stream.addEventListener('message', ({ data }) => {
      received = Buffer.concat([received, data.subarray()])
      if (received.length >= 1 + 2 * (2 + 32)) resolve(received)
    })
    stream.addEventListener('close', () => reject(new RefusedError('the proof was refused')))
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
  const nonce = randomBytes(32)
  stream.send(framed(Buffer.concat([Uint8Array.of(NONCE_FIELD, 32), nonce])))
  const other = (await answer).subarray(3, 35)
  const secret = frameTexts(config.crypto.key, config.room)
  const key = new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(), 'mesh member 1', 32))
  const proof = createHmac('sha256', key)
    .update(frameTexts(MEMBER_PROTOCOL, self.toString(), connection.remotePeer.toString()))
    .update(nonce)
    .update(other)
    .update(frameTexts('initiator'))
    .digest()
  stream.send(framed(Buffer.concat([Uint8Array.of(PROOF_FIELD, 32), proof])))
}
