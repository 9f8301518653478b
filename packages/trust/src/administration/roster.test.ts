import type { PeerId } from '@mesh/core'
import { expect, test } from 'vitest'
import { buildRoster } from './roster.ts'
import type { ClaimStatement, InviteStatement } from './statements.ts'

const peer = (name: string, at: number) => `${name} ${at}` as PeerId

test('many invites and claims are read about once each', () => {
  const INVITES = 1_000
  let reads = 0
  const invites = Array.from({ length: INVITES }, (_, at): InviteStatement => {
    const invite = peer('invite', at)
    return { kind: 'invite', admin: peer('admin', 0), invite, expiresAt: 2, state: 'open', label: '' }
  })
  const claims = invites.flatMap(({ invite }, at) =>
    [2 * at, 2 * at + 1].map(
      (claimant): ClaimStatement => ({
        kind: 'claim',
        peer: peer('peer', claimant),
        get invite() {
          reads++
          return invite
        },
      }),
    ),
  )
  const roster = buildRoster([...invites, ...claims.toReversed()], 1)
  expect(roster.disputed).toHaveLength(INVITES)
  expect(roster.invites[7]?.claims).toEqual([peer('peer', 14), peer('peer', 15)])
  expect(reads).toBeLessThanOrEqual(10 * claims.length)
})
