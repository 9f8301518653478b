// @vitest-environment node
import { expect, test } from 'vitest'
import { problemAction } from './problem-action.ts'

test('each problem leads to the page where it is solved', () => {
  const places = [
    ['services.target_down', '/services'],
    ['vpn.exit_gone', '/exit'],
    ['vpn.guest_port', '/guests'],
    ['vpn.interface_lost', '/diagnostics'],
    ['ledger.conflict', '/ledger'],
    ['ledger.clock_wrong', '/diagnostics'],
    ['trust.waiting', '/access'],
    ['a code that is new', '/diagnostics'],
  ] as const
  for (const [code, to] of places) expect([code, problemAction(code).to]).toEqual([code, to])
  expect(problemAction('ledger.forged').search).toEqual({ view: 'refused' })
})
