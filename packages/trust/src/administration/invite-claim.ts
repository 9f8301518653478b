/** The claim with which a node uses an invite: made from its code, and said as soon as the node has heard of the invite. */
import type { Clock, Logger, PeerId } from '@mesh/core'
import type { Signer } from '@mesh/ledger'
import { parseInviteCode } from './invite-code.ts'
import type { Invite, Roster } from './roster.ts'
import { claimBytes, writeClaim, type Writing } from './statements.ts'

interface InviteClaim {
  readonly invite: PeerId
  readonly writing: Writing
}

interface OwnClaimComponents {
  readonly clock: Clock
  readonly log: Logger
  /** Puts the claim into the ledger. @throws MeshError `trust.not_stated` */
  readonly state: (writing: Writing) => void
}

/** The use that this node makes of the invite that it was given. */
export class OwnClaim {
  readonly #init: ClaimInit
  readonly #claim: InviteClaim
  readonly #components: OwnClaimComponents
  /** True once the claim was made, or is not needed. */
  #isDone = false

  /** @throws MeshError `trust.bad_invite` */
  constructor(code: string, init: ClaimInit, components: OwnClaimComponents) {
    this.#init = init
    this.#claim = buildClaim(code, init)
    this.#components = components
  }

  /** Claims the invite when the roster has it for the first time. */
  note(roster: Roster): void {
    const invite = this.#inviteIn(roster)
    if (roster.admitted.has(this.#init.self)) this.#isDone = true
    if (this.#isDone || invite === undefined) return
    this.#isDone = true
    const { clock, log } = this.#components
    const reason = whyNoUse(invite, { peer: this.#init.self, now: clock.now() })
    // an event of the ledger's has led here, in which it is not written to
    if (reason === undefined) clock.after(0, () => this.#say())
    else log.warn('invite not claimed', { invite: invite.invite, reason })
  }

  /** Says why the invite does not let this node in; undefined while it may, or nobody told of it yet. */
  whyNot(roster: Roster): string | undefined {
    const invite = this.#inviteIn(roster)
    if (invite === undefined) return undefined
    if (roster.disputed.includes(invite)) return 'several peers used it'
    return whyNoUse(invite, { peer: this.#init.self, now: this.#components.clock.now() })
  }

  #inviteIn({ invites }: Roster): Invite | undefined {
    return invites.find(({ invite }) => invite === this.#claim.invite)
  }

  #say(): void {
    const { invite, writing } = this.#claim
    const { log, state } = this.#components
    try {
      state(writing)
      log.info('invite claimed', { invite })
    } catch (error) {
      log.warn('invite not claimed', { invite, reason: String(error) })
    }
  }
}

function buildClaim(code: string, { network, self, signerOf }: ClaimInit): InviteClaim {
  const signer = signerOf(parseInviteCode(code))
  const invite = signer.peerId
  const sig = signer.sign(claimBytes(network, { invite, peer: self }))
  return { invite, writing: writeClaim(network, { invite, peer: self, sig }) }
}

interface ClaimInit {
  readonly network: string
  readonly self: PeerId
  /** Gives the signer of a seed. */
  readonly signerOf: (seed: Uint8Array) => Signer
}

/** Says why an invite does not let a peer in any more; undefined while it may. */
function whyNoUse(
  { state, expiresAt, usedBy }: Invite,
  { peer, now }: { readonly peer: PeerId; readonly now: number },
): string | undefined {
  if (usedBy === peer) return undefined
  if (usedBy !== undefined) return 'another peer used it'
  if (state === 'cancelled') return 'it was cancelled'
  return now < expiresAt ? undefined : 'it has expired'
}
