/** Members by hand that speak on the topic: what they sign, and how it is said. */
import { createNodeSigner } from '@mesh/ledger/node'
import type { KeyedEntry, Signer } from '@mesh/ledger'
import { dialTarget, sendAll } from './attackers.ts'
import {
  createAuthor,
  createSealing,
  gossipFrame,
  gzippedBlock,
  openGossip,
  signEntry,
  signMessage,
} from './gossip.ts'
import type { Attack } from './scenario.ts'
import { pause, untilTrue } from './until-true.ts'

export interface Voice {
  readonly isOpen: () => boolean
  /** Publishes a block under an author, a fresh one unless given; false when the stream has ended. */
  say(plaintext: Uint8Array, seed?: Uint8Array): Promise<boolean>
}

/** A connection that speaks on the topic. */
export async function openVoice({ target, signal, peer, config }: Attack): Promise<Voice> {
  const sealing = createSealing(config)
  const connection = await dialTarget(await peer(), target, signal)
  const stream = await openGossip(connection, [sealing.topic()], signal)
  return {
    isOpen: () => stream.status === 'open' && !signal.aborted,
    async say(plaintext, seed = createAuthor().seed) {
      const message = await signMessage(seed, sealing.topic(), sealing.envelope(plaintext))
      return await sendAll(stream, gossipFrame({ messages: [message] }), signal)
    },
  }
}

/** A member with a key of its own that signs fast. */
export function createMember(): { readonly seed: Uint8Array; readonly signer: Signer } {
  const { seed } = createAuthor()
  return { seed, signer: createNodeSigner(seed) }
}

export function heartbeatOf(signer: Signer, atMs = Date.now()): KeyedEntry {
  return signEntry(signer, ['healthcheck', signer.peerId, new Date(atMs).toISOString()])
}

/** Says entries in blocks of 500, under their signer. */
export async function sayEntries(
  voice: Voice,
  seed: Uint8Array,
  entries: readonly KeyedEntry[],
): Promise<number> {
  let said = 0
  for (let at = 0; at < entries.length && voice.isOpen(); at += 500) {
    const block = entries.slice(at, at + 500)
    if (!(await voice.say(gzippedBlock(block), seed))) break
    said += block.length
    await pause(50)
  }
  return said
}

/** Entries of the ledger that is looked through. */
export const FILLED_ENTRIES = 5_000
/** How long a victim may take to have what an attack needs, in ms. */
const READY_MS = 60_000

/**
 * Fills the victim's ledger, so that there is something to look through; resolves when all of it stands there.
 * @param letIn makes a member of whose key it is, where it takes more than the token
 */
export async function fill(
  attack: Attack,
  letIn: (member: ReturnType<typeof createMember>) => Promise<void> = async () => {},
): Promise<void> {
  const member = createMember()
  await letIn(member)
  const voice = await openVoice(attack)
  const { seed, signer } = member
  const entries = Array.from({ length: FILLED_ENTRIES }, (_, n) => signEntry(signer, ['filled', `k${n}`, n]))
  await sayEntries(voice, seed, entries)
  await untilHeld(attack, 'filled', `k${FILLED_ENTRIES - 1}`)
}

/** Resolves when the victim holds an entry. */
export async function untilHeld({ target }: Attack, bucket: string, key: string): Promise<void> {
  await untilTrue(READY_MS, async () => {
    const isPlain = target.kind === 'mesh' || /^\w+$/.test(key)
    const held = await fetch(`${target.url}/api/ledger/${bucket}${isPlain ? `/${key}` : ''}`)
    // a legacy node gives no error for an entry that it has not, and does not decode all names
    if (isPlain) return held.status === 200 && (await held.text()).trim() !== '""'
    const all = (await held.json()) as object | null
    return all !== null && Object.hasOwn(all, decodeURIComponent(key))
  })
}
