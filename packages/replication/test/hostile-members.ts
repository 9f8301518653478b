/** Members of the simulation that hold the network's key and mean ill: what they send is refused or does no harm. */
import { createHmac } from 'node:crypto'
import { type Clock, heartbeatValue, type PeerId, type Random } from '@mesh/core'
import { canonicalBytes, encodeBlock, type KeyedEntry, type Signer } from '@mesh/ledger'
import { REPLICATION_PROTOCOL } from '../src/limits.ts'
import type { SyncMessage } from '../src/session/sync-message.ts'
import { encodeSyncMessage } from '../src/session/sync-message-codec.ts'
import type { SimNetwork } from './sim-network.ts'

export interface Hostile {
  readonly id: PeerId
  /** Sends one piece of mischief of each kind. */
  act(): void
}

interface Surroundings {
  readonly network: SimNetwork
  readonly clock: Clock
  readonly random: Random
}

export function createHostile(
  signer: Signer,
  victims: readonly PeerId[],
  { network, clock, random }: Surroundings,
): Hostile {
  const heard: Uint8Array[] = []
  network.onGossip((_, plaintext) => {
    if (heard.length < 200) heard.push(plaintext)
    else heard[Math.floor(random.float() * 200)] = plaintext
  })
  const link = network.join(signer.peerId, (peer) => victims.indexOf(peer) % 10 === 0)
  void link.channels.handle(REPLICATION_PROTOCOL, { maxMessageBytes: 1e6 }, async (channel) => {
    for await (const _ of channel.messages()) await channel.send(lie(random))
  })

  const nowNs = () => BigInt(Math.floor(clock.now())) * 1_000_000n
  const make = (
    position: { bucket: string; key: string },
    value: string,
    given: Partial<KeyedEntry['entry']> = {},
  ) => {
    const entry = {
      value,
      owner: signer.peerId,
      version: nowNs(),
      updatedAt: Math.floor(clock.now() / 1000),
      deleted: false,
      sig: null,
      ...given,
    }
    const unsigned = { ...position, entry }
    return { ...position, entry: { ...entry, sig: signer.sign(canonicalBytes(unsigned)) } }
  }
  const send = (entries: readonly KeyedEntry[]) => network.inject(signer.peerId, encodeBlock(entries))
  const victim = () => victims[Math.floor(random.float() * victims.length)] ?? signer.peerId

  return {
    id: signer.peerId,
    act() {
      const target = victim()
      const machineOf = (peer: PeerId) => JSON.stringify({ PeerID: peer })
      const forgedSig = createHmac('sha512', 'wrong').update(String(random.float())).digest()
      const forged = make({ bucket: 'users', key: target }, machineOf(target), { owner: target })
      send([{ ...forged, entry: { ...forged.entry, sig: forgedSig } }])
      // Signed by itself, in a place that the rule gives to another.
      send([make({ bucket: 'machines', key: `10.1.${Math.floor(random.float() * 4)}.1` }, machineOf(target))])
      send([make({ bucket: 'healthcheck', key: target }, heartbeatValue(clock.now()))])
      // What another holds, in its own name.
      send([
        make(
          { bucket: 'machines', key: `10.1.1.${Math.floor(random.float() * victims.length)}` },
          machineOf(signer.peerId),
        ),
      ])
      // Immortal, and out of reach.
      send([make({ bucket: 'healthcheck', key: signer.peerId }, heartbeatValue(clock.now() + 1e12))])
      send([make({ bucket: 'notes', key: 'shared 1' }, '"frozen"', { version: 2n ** 64n - 1n })])
      send([make({ bucket: 'notes', key: 'large' }, JSON.stringify('x'.repeat(70_000)))])
      // A tombstone for what another holds.
      send([make({ bucket: 'dns', key: `name of ${target}` }, '', { deleted: true })])
      const replayed = heard[Math.floor(random.float() * heard.length)]
      if (replayed !== undefined) network.inject(signer.peerId, replayed)
      network.inject(signer.peerId, random.bytes(100))
    },
  }
}

function lie(random: Random): Uint8Array {
  if (random.float() < 0.3) return random.bytes(50)
  const message: SyncMessage = {
    hello: { size: 1e9, digest: random.bytes(16), heartbeats: random.bytes(16) },
    ranges: [{ from: undefined, to: undefined, count: 1000, fingerprint: random.bytes(32) }],
    lists: [],
    wants: [{ bucket: 'notes', key: 'shared 1' }],
    entries: [],
    refused: [],
    more: random.float() < 0.5,
  }
  return encodeSyncMessage(message)
}
