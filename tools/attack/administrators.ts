/** Administrators by hand (docs/PROTOCOLS.md, 'Trust: `/mesh/trust/1`'): statements, claims, and who brings them. */
import { encodeBlock, type KeyedEntry, type Signer } from '@mesh/ledger'
import { networkId, type NetworkConfig } from '@mesh/network'
import { framed, onFrames, openStream, sendAll, varint } from './attackers.ts'
import { signEntry } from './gossip.ts'
import type { Reached } from './membership.ts'

const TRUST = '/mesh/trust/1'
const ADMISSION = 'admission'
const [DIGEST, ENTRIES, DONE] = [3, 4, 5]
/** The most entries of one message. */
const ENTRIES_IN_MESSAGE = 64

const bytesField = (number: number, bytes: Uint8Array) =>
  Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])

/** What an administrator says of a peer. */
export function memberStatement(
  config: NetworkConfig,
  admin: Signer,
  { peer, state }: { readonly peer: string; readonly state: 'admitted' | 'revoked' },
): KeyedEntry {
  const kept = state === 'revoked' ? { Kept: '' } : {}
  const value = { Network: networkId(config), Peer: peer, State: state, ...kept }
  return signEntry(admin, [ADMISSION, `${admin.peerId}/member/${peer}`, value])
}

/** An invite that an administrator made; anyone who has its key may claim it for an hour. */
export function inviteStatement(config: NetworkConfig, admin: Signer, invite: Signer): KeyedEntry {
  const ExpiresAt = new Date(Date.now() + 3_600_000).toISOString()
  const value = { Network: networkId(config), Invite: invite.peerId, ExpiresAt, State: 'open', Label: 'x' }
  return signEntry(admin, [ADMISSION, `${admin.peerId}/invite/${invite.peerId}`, value])
}

/** Claims are newer than those before them, however many are made in one ms. */
let claims = 0n

/** The claim of an invite by a peer; or the end of it. */
export function inviteClaim(
  config: NetworkConfig,
  {
    invite,
    peer,
    deleted = false,
  }: { readonly invite: Signer; readonly peer: Signer; readonly deleted?: boolean },
): KeyedEntry {
  const network = networkId(config)
  const claimed = Buffer.from(JSON.stringify(['mesh invite 1', network, invite.peerId, peer.peerId]))
  const Sig = Buffer.from(invite.sign(claimed)).toString('base64url')
  const value = { Network: network, Invite: invite.peerId, Peer: peer.peerId, Sig }
  return signEntry(peer, [ADMISSION, `claim/${invite.peerId}/${peer.peerId}`, value], {
    deleted,
    version: BigInt(Date.now()) * 1_000_000n + (claims++ % 1_000_000n),
  })
}

/**
 * Brings statements to a node, as who is kept out may. Resolves when all are sent, and the node has said all that it holds
 * or has ended the exchange; gives how many were sent.
 */
export async function bringStatements(
  { connection }: Reached,
  statements: readonly KeyedEntry[],
  signal: AbortSignal,
): Promise<number> {
  const stream = await openStream(connection, TRUST, signal)
  const over = Promise.withResolvers<void>()
  stream.addEventListener('close', () => over.resolve())
  signal.addEventListener('abort', () => over.resolve(), { once: true })
  onFrames(stream, ([tag]) => {
    if (tag === DONE << 3) over.resolve()
  })
  await sendAll(stream, framed(bytesField(DIGEST, Buffer.alloc(32, 1))), signal)
  let sent = 0
  for (let at = 0; at < statements.length && stream.status === 'open'; at += ENTRIES_IN_MESSAGE) {
    const some = statements.slice(at, at + ENTRIES_IN_MESSAGE)
    if (!(await sendAll(stream, framed(bytesField(ENTRIES, encodeBlock(some))), signal))) break
    sent += some.length
  }
  await sendAll(stream, framed(Buffer.concat([varint(DONE << 3), varint(1)])), signal)
  await over.promise
  void stream.close().catch(() => {})
  return sent
}
