/** Tells people and programs who may use the network: problems with what to do, and families of `/metrics`. */
import { gauge, type HealthProblem, labelled, type Metric } from '@mesh/api-server'
import { BUCKETS, type PeerId, shortPeerId } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import type { Administration, Trust } from '@mesh/trust'
import { formatTimeSpan } from '../words/format-quantity.ts'

type Snapshots = Pick<Ledger, 'self' | 'snapshot'>

/** Nothing in a network without administrators, on a node without a peer gate. */
export function trustProblems(trust: Trust | undefined, ledger: Snapshots): readonly HealthProblem[] {
  if (trust === undefined) return []
  const { administration, gate } = trust
  return [
    ...(administration === undefined ? [] : ownProblems(administration, ledger.self)),
    ...(administration?.holdsKey === true ? administratorProblems(administration, trust) : []),
    ...(gate?.isShut === true ? [EMPTY_ZONE] : []),
  ]
}

const EMPTY_ZONE: HealthProblem = {
  code: 'trust.empty_zone',
  severity: 'warning',
  title: 'The peer gate is on, and nobody counts as in the trust zone: nobody passes',
  hint: 'Put a public key into the bucket trustzoneAuth, so that who holds its key gets in, or switch the gate off: PUT /api/peergate/disable. With --peergate-strict only entries count that go back to this node.',
}

function ownProblems(administration: Administration, self: string): readonly HealthProblem[] {
  if (administration.isRevoked(self)) {
    const by = administration.roster.members.find(({ peer, state }) => peer === self && state === 'revoked')
    const who = by === undefined ? 'an administrator' : `the administrator ${shortPeerId(by.admin)}`
    return [
      {
        code: 'trust.revoked',
        severity: 'error',
        title: `This node was shut out of the network by ${who}`,
        hint: `Members refuse what comes from it. Only that administrator can let it in again: mesh admin admit ${self}`,
      },
    ]
  }
  if (administration.mayUse(self)) return endingProblems(administration, self)
  const endedAt = administration.roster.ended.get(self)
  if (endedAt !== undefined) return [endedProblem(self, endedAt)]
  if (administration.roster.awaiting.has(self as PeerId)) return [awaitingProblem(self)]
  const reason = administration.whyNoInvite
  return [
    {
      code: 'trust.not_admitted',
      severity: 'warning',
      title:
        reason === undefined
          ? 'This node is not let into the network yet'
          : `This node is not let into the network by its invite: ${reason}`,
      hint: `An administrator lets it in with \`mesh admin admit ${self}\`, or gives it ${reason === undefined ? 'an' : 'a new'} invite: --invite CODE.`,
    },
  ]
}

/** How long before its end a membership is told of, in ms. */
const ENDS_SOON_MS = 3 * 24 * 3_600_000

function endingProblems({ roster, now }: Administration, self: string): readonly HealthProblem[] {
  const endsAt = roster.endsAt.get(self)
  if (endsAt === undefined || endsAt - now > ENDS_SOON_MS) return []
  return [
    {
      code: 'trust.membership_ends',
      severity: 'warning',
      title: `This node's membership ends in ${formatTimeSpan(Math.max(0, endsAt - now) / 1_000)} (${dateText(endsAt)})`,
      hint: `An administrator renews it without a break: mesh admin admit ${self} --for 30d`,
    },
  ]
}

function endedProblem(self: string, endedAt: number): HealthProblem {
  return {
    code: 'trust.membership_ended',
    severity: 'error',
    title: `This node's membership ended at ${dateText(endedAt)}, by the clock of this machine`,
    hint: `If the clock is right (see \`date\`), an administrator renews it: mesh admin admit ${self} --for 30d`,
  }
}

function awaitingProblem(self: string): HealthProblem {
  return {
    code: 'trust.awaiting_approval',
    severity: 'warning',
    title: 'This node used its invite, and waits for an administrator to approve it',
    hint: `An administrator lets it in with: mesh admin approve ${self}`,
  }
}

function dateText(atMs: number): string {
  return new Date(atMs).toISOString()
}

function administratorProblems({ roster, now }: Administration, trust: Trust): readonly HealthProblem[] {
  const waiting = new Set([...trust.waiting(), ...roster.awaiting.keys()]).difference(roster.ended).size
  const soon = [...roster.endsAt.values()].filter((end) => end - now <= ENDS_SOON_MS)
  return [
    ...(soon.length === 0
      ? []
      : [
          {
            code: 'trust.memberships_end',
            severity: 'warning',
            title: `${soon.length} ${soon.length === 1 ? 'membership ends' : 'memberships end'} within 3 days, the first in ${formatTimeSpan(Math.max(0, Math.min(...soon) - now) / 1_000)}`,
            hint: '`mesh admin list` shows which; `mesh admin admit PEER --for 30d` renews one without a break.',
          } as const,
        ]),
    ...roster.disputed.map(
      ({ label, invite, claims }): HealthProblem => ({
        code: 'trust.disputed_invite',
        severity: 'warning',
        title: `${claims.length} peers used the invite ${label === '' ? shortPeerId(invite) : JSON.stringify(label)}`,
        hint: 'Its code is known to somebody else, and none of them is in by it: `mesh admin list` shows who, `mesh admin admit PEER` lets one in.',
      }),
    ),
    ...(waiting === 0
      ? []
      : [
          {
            code: 'trust.waiting',
            severity: 'warning',
            title: `${waiting} ${waiting === 1 ? 'peer waits' : 'peers wait'} to be let in`,
            hint: '`mesh admin list` shows who; `mesh admin admit PEER` lets one in. Anyone who has the token can ask.',
          } as const,
        ]),
  ]
}

/** Families of `/metrics`; a fixed number of samples. */
export function trustMetrics(trust: Trust | undefined, ledger: Snapshots): readonly Metric[] {
  if (trust === undefined) return []
  const { administration, gate } = trust
  const zone = ledger.snapshot().count(BUCKETS.trustzone)
  return [
    ...(gate === undefined
      ? []
      : [
          gauge('mesh_peer_gate_enabled', 'Is 1 while the peer gate is on.', Number(gate.enabled)),
          gauge('mesh_trust_zone_peers', 'Peers in the bucket trustzone.', zone),
        ]),
    ...(administration === undefined ? [] : admissionMetrics(administration, trust, ledger.self)),
  ]
}

function admissionMetrics({ roster }: Administration, trust: Trust, self: string): readonly Metric[] {
  const counts = {
    admitted: roster.admitted.size,
    provisional: roster.provisional.size,
    waiting: trust.waiting().length,
    revoked: roster.revoked.size,
    ended: roster.ended.size,
  }
  const endsAt = roster.endsAt.get(self) ?? roster.ended.get(self)
  const endHelp = "End of this node's membership as Unix time; absent where it does not end."
  return [
    gauge('mesh_admission_peers', 'Peers by what administrators say of them.', labelled('state', counts)),
    ...(endsAt === undefined
      ? []
      : [gauge('mesh_membership_end_timestamp_seconds', endHelp, Math.floor(endsAt / 1_000))]),
  ]
}
