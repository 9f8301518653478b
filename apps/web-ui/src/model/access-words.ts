/** Who may use the network, in words for people. */
import type { AdmissionView } from '@mesh/api-contract'
import type { StateInWords } from './state-tone.ts'
import { countInWords } from './rate-words.ts'

export type Member = AdmissionView['Members'][number]
export type Invite = AdmissionView['Invites'][number]

type State = Omit<StateInWords, 'sentence'>

export function memberState({ State }: Member): State {
  switch (State) {
    case 'admitted':
      return { tone: 'direct', word: 'let in' }
    case 'provisional':
      return { tone: 'relayed', word: 'let in', detail: 'by an invite, not confirmed yet' }
    case 'waiting':
      return { tone: 'offline', word: 'waits to be let in' }
    case 'revoked':
      return { tone: 'refused', word: 'shut out' }
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
  const rank = { waiting: 0, provisional: 1, admitted: 2, revoked: 3 }
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
