/**
 * The challenge of legacy nodes (docs/WIRE.md 6.3): a signature over one constant text. It is bound to no sender, time
 * or network (docs/WIRE.md D12): who has heard one can send it again. This node takes no signature from two authors,
 * which catches the replay of what it has heard itself, and no more than that.
 */
import { createHash, type KeyObject } from 'node:crypto'
import { BoundedMap, type Clock, type PeerId } from '@mesh/core'
import { createTokenBucket, type LoopBudget, loopBudget } from '@mesh/core/limits'
import { p521 } from '@noble/curves/nist.js'
import { CHALLENGE_TEXT, LEGACY_CHALLENGES, MAX_REMEMBERED_CHALLENGES } from '../limits.ts'
import { decodePem, encodePem } from './ecdsa-keys.ts'

/** The digest that legacy nodes sign: the 64 ASCII bytes of the hexadecimal SHA-256. */
function digestOf(text: string): Uint8Array {
  return Buffer.from(createHash('sha256').update(text).digest('hex'), 'ascii')
}

const PLAIN = { prehash: false, lowS: false, format: 'der' } as const

/** The signature that goes along with `CHALLENGE_TEXT`; another one each time: several nodes may hold one key. */
export function signChallenge(key: KeyObject): string {
  const { d = '' } = key.export({ format: 'jwk' })
  const signature = p521.sign(digestOf(CHALLENGE_TEXT), paddedScalar(d), { ...PLAIN, extraEntropy: true })
  return encodePem('SIGNATURE', signature)
}

/** A private key's number in 66 bytes, as the curve has them. */
function paddedScalar(base64url: string): Uint8Array {
  const bytes = Buffer.from(base64url, 'base64url')
  return Buffer.concat([Buffer.alloc(Math.max(0, 66 - bytes.length)), bytes])
}

interface Challenge {
  readonly author: PeerId
  readonly text: string
  readonly signature: string
}

/** Why a challenge does not let its author in. */
export type ChallengeRefusal = 'not a challenge' | 'no key fits' | 'replayed' | 'too many'

/** Verifies the challenges that come, one after the other: a signature's check takes some ms for each key. */
export class ChallengeVerifier {
  readonly #rate
  /** Author by the first number of the signature, which a change of the second one leaves as it is. */
  readonly #authors = new BoundedMap<string, PeerId>(MAX_REMEMBERED_CHALLENGES)
  readonly #budget: LoopBudget
  #last: Promise<unknown> = Promise.resolve()

  constructor(clock: Clock) {
    this.#rate = createTokenBucket(LEGACY_CHALLENGES, clock)
    this.#budget = loopBudget(clock)
  }

  /** Gives undefined for a challenge that fits one of the keys. Rejects with the signal's reason, and never for what is in it. */
  async refusal(
    challenge: Challenge,
    keys: readonly KeyObject[],
    signal: AbortSignal,
  ): Promise<ChallengeRefusal | undefined> {
    const { text, signature } = challenge
    const der = text === CHALLENGE_TEXT ? decodePem(signature) : undefined
    const mark = der === undefined ? undefined : firstNumber(der)
    if (der === undefined || mark === undefined) return 'not a challenge'
    if (this.#isReplayed(mark, challenge)) return 'replayed'
    if (!this.#rate.take()) return 'too many'
    const judged = this.#last.then(async () => {
      // another may have sent it while this one waited
      if (this.#isReplayed(mark, challenge)) return 'replayed'
      if (!(await this.#fits(der, keys, signal))) return 'no key fits'
      this.#authors.set(mark, challenge.author)
      return undefined
    })
    this.#last = judged.catch(() => {})
    return await judged
  }

  #isReplayed(mark: string, { author }: Challenge): boolean {
    const earlier = this.#authors.get(mark)
    return earlier !== undefined && earlier !== author
  }

  async #fits(der: Uint8Array, keys: readonly KeyObject[], signal: AbortSignal): Promise<boolean> {
    for (const key of keys) {
      if (await this.#budget.run('strangers', async () => isSignature(key, der), { signal })) return true
    }
    return false
  }
}

function firstNumber(der: Uint8Array): string | undefined {
  try {
    return p521.Signature.fromBytes(der, 'der').r.toString(16)
  } catch {
    return undefined
  }
}

function isSignature(key: KeyObject, der: Uint8Array): boolean {
  try {
    const { x = '', y = '' } = key.export({ format: 'jwk' })
    const point = Buffer.concat([Uint8Array.of(4), paddedScalar(x), paddedScalar(y)])
    return p521.verify(der, digestOf(CHALLENGE_TEXT), point, PLAIN)
  } catch {
    return false
  }
}
