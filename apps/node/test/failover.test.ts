/** The member in use is killed under traffic: another one takes over, for a service, a route and an exit. */
import { eventually } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FailoverLab, openFailoverLab, whyNoFailover } from './failover-lab.ts'

const why = whyNoFailover()
const suite = why === undefined ? 'fail-over' : `fail-over (skipped: ${why})`

describe.skipIf(why !== undefined)(suite, () => {
  let lab: FailoverLab
  beforeAll(async () => {
    lab = await openFailoverLab()
  }, 60_000)
  afterAll(() => lab?.close())

  test('when the member in use is killed all goes on through the other one, and nothing leaks', async () => {
    const { service, route, exit } = await lab.end('killed')
    expect(service).toBeLessThan(3_000)
    expect(route).toBeLessThan(5_000)
    expect(exit).toBeLessThan(5_000)
    await eventually(() => expect(lab.leaked()).toBe(0))
  }, 60_000)
})
