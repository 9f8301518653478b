/** Members by hand that offer something, for attacks on a node that uses it. */
import { randomBytes } from 'node:crypto'
import type { Stream } from '@libp2p/interface'
import type { Signer } from '@mesh/ledger'
import { createNodeSigner } from '@mesh/ledger/node'
import { dialTarget } from './attackers.ts'
import { gzippedBlock, signEntry } from './gossip.ts'
import { beMember } from './membership.ts'
import type { Attack } from './scenario.ts'
import { userEntries } from './scenarios/services.ts'
import { openVoice, untilHeld } from './voice.ts'

export interface ProvideInit {
  readonly protocol: string
  /** How the ledger says what is offered: bucket, key and value. */
  readonly entry: (signer: Signer) => readonly [bucket: string, key: string, value: unknown]
  readonly serve: (stream: Stream) => void
}

/** Offers something under a key of its own, and serves who asks; resolves when the victim has heard of it. */
export async function provide(attack: Attack, { protocol, entry, serve }: ProvideInit): Promise<void> {
  const { target, signal } = attack
  const seed = Uint8Array.from(randomBytes(32))
  const signer = createNodeSigner(seed)
  const peer = await attack.peer({ seed })
  await peer.handle(protocol, serve, { maxInboundStreams: 100_000 })
  const connection = await dialTarget(peer, target, signal)
  await beMember(attack, { connection, self: peer.peerId })
  const [bucket, key, value] = entry(signer)
  const offered = signEntry(signer, [bucket, key, value])
  await (await openVoice(attack)).say(gzippedBlock([...userEntries(signer), offered]), seed)
  await untilHeld(attack, bucket, key)
}
