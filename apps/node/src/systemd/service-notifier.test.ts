import { silentLogger } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { createServiceNotifier } from './service-notifier.ts'

function start(environment: Record<string, string>, fails = false) {
  const clock = createManualClock()
  const sent: string[][] = []
  const warnings: string[] = []
  const notifier = createServiceNotifier(
    { environment, pid: 7 },
    {
      clock,
      log: { ...silentLogger, warn: (message) => void warnings.push(message) },
      async send(assignments) {
        sent.push([...assignments])
        await Promise.resolve()
        if (fails) throw new Error('not there')
      },
    },
  )
  return { clock, sent, warnings, notifier }
}

const MANAGED = { NOTIFY_SOCKET: '/run/systemd/notify' }

test('tells that it is ready and that it stops, each once', () => {
  const { sent, notifier } = start(MANAGED)
  notifier.ready('in network a3ae')
  notifier.stopping()
  notifier.stopping()
  notifier.ready('again')
  expect(sent).toEqual([['READY=1', 'STATUS=in network a3ae'], ['STOPPING=1']])
})

test('answers the watchdog three times as often as it asks, until it stops', async () => {
  const { clock, sent, notifier } = start({ ...MANAGED, WATCHDOG_USEC: '30000000', WATCHDOG_PID: '7' })
  await clock.advance(60_000)
  expect(sent).toEqual([])
  notifier.ready('')
  await clock.advance(30_000)
  notifier.stopping()
  await clock.advance(60_000)
  expect(sent.map(([first]) => first)).toEqual([
    'READY=1',
    'WATCHDOG=1',
    'WATCHDOG=1',
    'WATCHDOG=1',
    'STOPPING=1',
  ])
})

test.each([
  ['no service manager', { WATCHDOG_USEC: '30000000' }, 0],
  ["another process's watchdog", { ...MANAGED, WATCHDOG_USEC: '30000000', WATCHDOG_PID: '8' }, 1],
  ['a period that is none', { ...MANAGED, WATCHDOG_USEC: '0' }, 1],
])('%s is not answered', async (_what, environment, messages) => {
  const { clock, sent, notifier } = start(environment)
  notifier.ready('')
  await clock.advance(120_000)
  expect(sent).toHaveLength(messages)
})

test('a helper that is missing is told of once, and hinders nothing', async () => {
  const { clock, warnings, notifier } = start({ ...MANAGED, WATCHDOG_USEC: '3000000' }, true)
  notifier.ready('')
  await clock.advance(10_000)
  expect(warnings).toEqual(['the service manager was not told'])
})
