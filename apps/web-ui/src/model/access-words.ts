/** Who may use the network, in words for people. */
import type { AdmissionView } from '@mesh/api-contract'
import type { StateInWords } from './state-tone.ts'
import { spanInWords } from './time-words.ts'
import { countInWords } from './rate-words.ts'

export type Member = AdmissionView['Members'][number]
export type Invite = AdmissionView['Invites'][number]

type State = Omit<StateInWords, 'sentence'>

/** How long before its end a membership is a warning, in ms. */
const ENDS_SOON_MS = 3 * 24 * 3_600_000

/** @param nowMs the time now, as Unix ms */
export function memberState({ State, EndsAt }: Member, nowMs: number): State {
  const left = EndsAt === null ? Number.POSITIVE_INFINITY : Date.parse(EndsAt) - nowMs
  switch (State) {
    case 'admitted': {
      const detail =
        left === Number.POSITIVE_INFINITY ? {} : { detail: `ends in ${spanInWords(Math.max(0, left))}` }
      return { tone: left > ENDS_SOON_MS ? 'direct' : 'warning', word: 'let in', ...detail }
    }
    case 'provisional':
      return { tone: 'relayed', word: 'let in', detail: 'by an invite, not confirmed yet' }
    case 'waiting':
      return { tone: 'offline', word: 'waits to be let in' }
    case 'revoked':
      return { tone: 'refused', word: 'shut out' }
    case 'ended':
      return { tone: 'offline', word: 'ended', detail: `${spanInWords(Math.max(0, -left))} ago` }
  }
}

export function inviteState({ State }: Invite): State {
  switch (State) {
    case 'open':
      return { tone: 'announcing', word: 'open' }
    case 'used':
      return { tone: 'committed', word: 'used' }
    case 'expired':
      return { tone: 'offline', word: 'expired' }
    case 'cancelled':
      return { tone: 'offline', word: 'cancelled' }
    case 'disputed':
      return { tone: 'warning', word: 'disputed', detail: 'several used it' }
  }
}

/** Who waits first, then who is in, and at the end who is shut out; each by name. */
export function sortMembers(members: readonly Member[], nameOf: (id: string) => string): readonly Member[] {
  const rank = { waiting: 0, provisional: 1, admitted: 2, ended: 3, revoked: 4 }
  return members.toSorted(
    (a, b) =>
      rank[a.State] - rank[b.State] ||
      nameOf(a.PeerID).localeCompare(nameOf(b.PeerID), 'en', { numeric: true }),
  )
}

/** Open ones first, disputed before them, and else the one that ends last. */
export function sortInvites(invites: readonly Invite[]): readonly Invite[] {
  const rank = { disputed: 0, open: 1, used: 2, expired: 3, cancelled: 4 }
  return invites.toSorted((a, b) => rank[a.State] - rank[b.State] || b.ExpiresAt.localeCompare(a.ExpiresAt))
}

/** The sentence above the lists: who is in, and whether somebody waits. */
export function accessInWords({ Administrators, Members, Peerguard, Gate }: AdmissionView): string {
  if (Administrators.length > 0) {
    const count = (...states: readonly Member['State'][]) =>
      Members.filter(({ State }) => states.includes(State)).length
    const [inside, waiting, out] = [count('admitted', 'provisional'), count('waiting'), count('revoked')]
    return [
      `${people(inside, 'machine is', 'machines are')} let in${out > 0 ? `, ${countInWords(out)} shut out` : ''}.`,
      waiting > 0 ? `${people(waiting, 'waits', 'wait')} to be let in.` : 'Nobody waits.',
    ].join(' ')
  }
  if (!Peerguard) return 'Anyone who has the token of this network is in.'
  return Gate
    ? 'The peer gate of this node is on: only peers of the trust zone use the network with it.'
    : 'The peer gate of this node is off: anyone who has the token uses the network with it.'
}

function people(count: number, one: string, many: string): string {
  return `${countInWords(count)} ${count === 1 ? one : many}`
}
