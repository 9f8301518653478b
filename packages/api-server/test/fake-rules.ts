/** Access rules that answer as they are asked. */
import type { EventData, RulesCheckView, RulesView } from '@mesh/api-contract'
import { MeshError } from '@mesh/core'
import type { RulesPort } from '../src/index.ts'
import { PEER } from './fixture.ts'

export const endpoint = (name: string) => ({ Word: PEER, Name: name })

const POLICY: RulesCheckView['Policy'] = {
  default: 'refuse',
  groups: {},
  tags: { db: [PEER] },
  allow: [{ from: ['*'], to: ['tag:db'], on: ['tcp:5432'] }],
  tests: [{ from: PEER, to: PEER, on: 'tcp:5432', expect: 'allow' }],
}
const SIGNED = { Serial: 7, Administrator: PEER, SignedAt: '2026-01-01T00:00:00.000Z' }

export const RULES: RulesView = {
  Network: { ...SIGNED, Policy: POLICY, Names: { [PEER]: 'db-1' }, Text: 'default: refuse\n' },
  Own: null,
  CanSign: true,
  Table: [{ From: [endpoint('web-1')], To: [endpoint('db-1')], On: ['tcp:5432'] }],
  More: false,
  Refused: [
    {
      From: endpoint('web-1'),
      To: endpoint('db-1'),
      On: 'tcp 22',
      Count: 3,
      LastAt: '2026-01-01T00:00:00.000Z',
    },
  ],
}

export const RULES_CHECK: RulesCheckView = {
  Policy: POLICY,
  Names: {},
  TextWithIds: 'default: refuse\n',
  Tests: [
    { From: PEER, To: PEER, On: 'tcp:5432', Expect: 'allow', Passed: true, Sentence: 'db-1 may reach db-1' },
  ],
  Changes: [{ From: [endpoint('web-1')], To: [endpoint('db-1')], Before: [], After: ['*'] }],
  More: false,
  CutsOff: false,
}

export function createFakeRules(): RulesPort & { refuse(): void } {
  const listeners = new Set<(refused: EventData<'rules.refused'>) => void>()
  return {
    refuse() {
      const refused = { From: endpoint('web-1'), To: endpoint('db-1'), On: 'tcp 22', Count: 3 }
      for (const listener of listeners) listener(refused)
    },
    onRefused(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    view: async () => RULES,
    schema: async () => ({ title: 'Access rules' }),
    test({ from, to, on }) {
      if (on === 'nothing') throw new MeshError('trust.bad_policy', 'on cannot be read')
      const Sentence = `${from} may not reach ${to} on ${on}: no rule allows it`
      return { Allowed: false, Sentence, From: endpoint(from), To: endpoint(to) }
    },
    who: (to) => ({
      To: endpoint(to),
      Everybody: false,
      Reached: [{ From: endpoint('web-1'), On: ['tcp:5432'] }],
    }),
    check: async () => RULES_CHECK,
    async set(_text, { serial }) {
      if (serial !== 6) throw new MeshError('trust.policy_changed', 'another policy is in force')
      return SIGNED
    },
  }
}
