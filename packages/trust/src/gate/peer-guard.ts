/**
 * Lets peers into the bucket `trustzone` that hold a key of `trustzoneAuth`, and proves the same of this node.
 *
 * 1. A new peer is asked over `/mesh/trust/1` for an answer that is bound to it (`bound-answer.ts`).
 * 2. Unless the gate is strict, challenges of legacy nodes on the public topic count too. This node sends its own there.
 * 3. With autoclean, a peer that left is removed from the list.
 */
import type { KeyObject } from 'node:crypto'
import { BoundedMap, BUCKETS, type PeerId } from '@mesh/core'
import type { Conversation } from '../exchange/conversation.ts'
import type { TrustMessage } from '../exchange/trust-message.ts'
import { ChallengeVerifier, signChallenge } from '../legacy/challenge.ts'
import { CHALLENGE_GAP_MS, MAX_COUNTED_PEERS, NONCE_BYTES } from '../limits.ts'
import { isAnswer, signAnswer } from './bound-answer.ts'
import { readAuthKeys } from './auth-keys.ts'
import type { CreateGuard, Guard, PeerGuardComponents, PeerGuardInit } from './guard.ts'

/** Gives what makes the guard of a node. @param privateKey this node's key; undefined: it cannot prove anything */
export function createPeerGuard(privateKey: KeyObject | undefined): CreateGuard {
  return (init, components) => new PeerGuard({ ...init, privateKey }, components)
}

interface KeyedGuardInit extends PeerGuardInit {
  readonly privateKey: KeyObject | undefined
}

class PeerGuard implements Guard {
  readonly first = 'nonce'
  readonly #init: KeyedGuardInit
  readonly #components: PeerGuardComponents
  readonly #verifier: ChallengeVerifier
  /** Peers that were asked and could not answer, with the keys of that time: others may be there by now. */
  readonly #failed = new BoundedMap<PeerId, string>(MAX_COUNTED_PEERS)
  readonly #ended = new AbortController()
  #challengedAt = Number.NEGATIVE_INFINITY
  #cancelTick = () => {}
  #ends: (() => void)[] = []

  constructor(init: KeyedGuardInit, components: PeerGuardComponents) {
    this.#init = init
    this.#components = components
    this.#verifier = new ChallengeVerifier(components.clock)
  }

  start(): void {
    const { publicTopic } = this.#components.network
    if (publicTopic !== undefined && !this.#init.strict) {
      this.#ends.push(
        publicTopic.onMessage((message) => {
          this.#challenged(message).catch((error: unknown) =>
            this.#components.log.debug('challenge not judged', { error: String(error) }),
          )
        }),
      )
    }
    this.#tick()
  }

  stop(): void {
    this.#ended.abort(new Error('trust has stopped'))
    this.#cancelTick()
    for (const end of this.#ends.splice(0)) end()
  }

  // the answer that is bound to who gives it

  isWanted(peer: PeerId): boolean {
    if (this.#components.isListed(peer)) return false
    const keys = this.#keysMark()
    return keys !== '' && this.#failed.get(peer) !== keys
  }

  async begin(conversation: Conversation): Promise<void> {
    const { ledger, clock, random, log } = this.#components
    const { self, network } = this.#init
    const { peer } = conversation.channel
    const mark = this.#keysMark()
    const nonce = random.bytes(NONCE_BYTES)
    await conversation.send({ kind: 'nonce', nonce })
    const answer = await conversation.next()
    const binding = { network, prover: peer, verifier: self, nonce, now: clock.now() }
    const isRight =
      answer?.kind === 'answer' &&
      isAnswer(readAuthKeys(ledger.snapshot()), answer.signature, { ...binding, timeMs: answer.timeMs })
    if (isRight) return this.#admit(peer, 'answer')
    this.#failed.set(peer, mark)
    log.debug('peer did not prove that it may be trusted', { peer })
  }

  async answer(conversation: Conversation, first: TrustMessage): Promise<void> {
    const { privateKey, self, network } = this.#init
    if (privateKey === undefined || first.kind !== 'nonce' || first.nonce.length !== NONCE_BYTES) return
    const timeMs = Math.floor(this.#components.clock.now())
    const verifier = conversation.channel.peer
    const signature = signAnswer(privateKey, { network, prover: self, verifier, nonce: first.nonce, timeMs })
    await conversation.send({ kind: 'answer', timeMs, signature })
  }

  // the challenge of legacy nodes

  /** Sends a challenge unless this node is in the list, or has sent one a moment ago. */
  challenge(): void {
    const { network, isListed, clock, log } = this.#components
    const { privateKey, self, strict } = this.#init
    if (privateKey === undefined || strict || isListed(self) || network.publicTopic === undefined) return
    if (clock.monotonic() - this.#challengedAt < CHALLENGE_GAP_MS) return
    this.#challengedAt = clock.monotonic()
    network.publicTopic.publish({ text: 'challenge', signature: signChallenge(privateKey) }).then(
      (peers) => log.debug('challenge sent', { peers }),
      (error: unknown) => log.debug('challenge not sent', { error: String(error) }),
    )
  }

  async #challenged(message: {
    readonly author: PeerId
    readonly text: string
    readonly signature: string
  }): Promise<void> {
    const { ledger, isListed, log } = this.#components
    const { author, signature } = message
    if (isListed(author) || signature === '') return
    const keys = readAuthKeys(ledger.snapshot())
    const refusal = await this.#verifier.refusal(message, keys, this.#ended.signal)
    if (refusal === undefined) this.#admit(author, 'legacy challenge')
    else log.debug('challenge refused', { peer: author, refusal })
  }

  // the list

  #admit(peer: PeerId, by: string): void {
    const { ledger, log } = this.#components
    ledger.put(BUCKETS.trustzone, peer, '""')
    log.info('peer is trusted', { peer, by })
  }

  #tick(): void {
    const { clock } = this.#components
    this.#failed.clear()
    this.challenge()
    if (this.#init.autoclean) this.#cleanUp()
    this.#cancelTick = clock.after(this.#init.intervalMs, () => this.#tick())
  }

  /** Takes out who is not on the topic, has no heartbeat, and had the time to send one. */
  #cleanUp(): void {
    const { ledger, network, clock, log } = this.#components
    const { self, livenessMs } = this.#init
    const snapshot = ledger.snapshot()
    const present = new Set<string>(network.topicPeers())
    const now = clock.now()
    for (const { key, entry } of snapshot.entries(BUCKETS.trustzone)) {
      const isNew = entry.updatedAt * 1000 + livenessMs > now
      if (entry.deleted || isNew || key === self || present.has(key)) continue
      if (snapshot.isOwnerLive(key, now)) continue
      // one that said that it ends may only start again
      const heartbeat = snapshot.get(BUCKETS.healthcheck, key)
      if (heartbeat?.deleted === true && heartbeat.updatedAt * 1000 + livenessMs > now) continue
      ledger.delete(BUCKETS.trustzone, key)
      log.info('peer is not trusted any more: it left', { peer: key })
    }
  }

  /** Names the keys of `trustzoneAuth` as they are now; '' for none. */
  #keysMark(): string {
    return this.#components.ledger.snapshot().digest().buckets[BUCKETS.trustzoneAuth] ?? ''
  }
}
