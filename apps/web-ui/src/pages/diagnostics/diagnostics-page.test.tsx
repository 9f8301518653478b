import { eventually } from '@mesh/testkit'
import { act, fireEvent, screen, within } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { createFakeNode, refusal, SELF } from '../../../test/support/fake-node.ts'
import { createPageSuite, text, type } from '../../../test/support/page-suite.tsx'

const { open, pass } = createPageSuite()

function line(Sequence: number, Level: string, Text: string) {
  return { Sequence, Time: '2026-11-21T14:02:09Z', Level, Subsystem: 'p2p', Text }
}

/** How often the log was asked for. */
const logReads = (requests: readonly string[]) => requests.filter((each) => each === 'GET /api/log').length

test('each way of discovery tells what it found and its last error, and the clock is compared', async () => {
  open(createFakeNode(), '/diagnostics')
  const ways = within(await screen.findByRole('list', { name: 'Ways of discovery' }))
  await ways.findByText('found 2 peers')
  ways.getByText('no bootstrap peer answered')
  ways.getByText('off')
  await text(`/ip4/192.168.1.5/tcp/4001/p2p/${SELF.peerId}`)
  expect(await text('12 ms ahead of the median of 2 members.')).toBeDefined()
})

test('examines the machine when asked, and says what to do', async () => {
  const node = createFakeNode()
  const check = { Name: 'tun', Verdict: 'fail', Found: 'There is no device.', Next: 'Load the module tun.' }
  node.answer('/api/doctor', () => ({ status: 200, body: [check] }))
  open(node, '/diagnostics')
  const button = await screen.findByRole('button', { name: 'Examine this machine' })
  expect(node.requests).not.toContain('GET /api/doctor')
  fireEvent.click(button)
  await text('There is no device.')
  expect(await text('Load the module tun.')).toBeDefined()
})

test('a failed examination says why', async () => {
  const node = createFakeNode()
  node.answer('/api/doctor', () => refusal(503, 'node.not_ready', 'not yet', 'Ask again soon.'))
  open(node, '/diagnostics')
  fireEvent.click(await screen.findByRole('button', { name: 'Examine this machine' }))
  expect(await text('The machine could not be examined')).toBeDefined()
})

test('copies a report without names and ids', async () => {
  const writeText = vi.fn(async (_text: string) => {})
  Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText } })
  const node = createFakeNode()
  const problem = { Code: 'x', Severity: 'warning', Title: 'nas is slow', Hint: 'Wait.', Since: null }
  node.answer('/api/health', () => ({
    status: 200,
    body: { Status: 'warning', Ownership: 'enforce', Problems: [problem] },
  }))
  open(node, '/diagnostics')
  await text('nas is slow')
  await text('found 2 peers')
  await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Copy report' })))
  await text(/^Copied/)
  const report = writeText.mock.calls[0]?.[0] ?? ''
  expect(report).toContain('[name] is slow')
  expect(report).not.toContain(SELF.peerId)
})

test('changes the log levels', async () => {
  const node = createFakeNode()
  node.answer('PUT /api/log-level', () => ({
    status: 200,
    body: { Level: 'debug', Kept: true, Subsystems: [] },
  }))
  open(node, '/diagnostics')
  await screen.findByLabelText('Level')
  type('Level', 'info,p2p=debug')
  fireEvent.click(screen.getByRole('checkbox', { name: 'Keep it after a restart' }))
  fireEvent.click(screen.getByRole('button', { name: 'Set the level' }))
  await eventually(() =>
    expect(node.bodies.get('PUT /api/log-level')).toBe('{"Level":"info,p2p=debug","Keep":true}'),
  )
})

test('follows the log while it is open, filters it, and pauses', async () => {
  const node = createFakeNode()
  const answers = [[line(1, 'info', 'first'), line(2, 'error', 'broken')], [line(3, 'info', 'later')]]
  node.answer('/api/log', () => ({ status: 200, body: { Lines: answers.shift() ?? [], Next: 4 } }))
  open(node, '/diagnostics')
  const button = await screen.findByRole('button', { name: 'Show the log' })
  expect(logReads(node.requests)).toBe(0)
  fireEvent.click(button)
  await text('first')
  await pass(1_000)
  await text('later')
  fireEvent.change(screen.getByLabelText('Least level'), { target: { value: 'error' } })
  expect(screen.queryByText('first')).toBeNull()
  expect(screen.getByText('broken')).toBeDefined()
  fireEvent.change(screen.getByLabelText('Least level'), { target: { value: 'debug' } })
  type('Filter the log', 'LATER')
  await eventually(() => expect(screen.queryByText('broken')).toBeNull())
  fireEvent.click(screen.getByRole('button', { name: 'Pause' }))
  const before = logReads(node.requests)
  await pass(5_000)
  expect(logReads(node.requests)).toBe(before)
  fireEvent.click(screen.getByRole('button', { name: 'Hide the log' }))
  await pass(5_000)
  expect(logReads(node.requests)).toBe(before)
})

test('profiles are linked only where the node serves them', async () => {
  const node = createFakeNode()
  const setting = {
    Name: 'debug',
    Group: 'Log',
    Summary: '',
    Value: 'on',
    Source: 'flag',
    Place: '--debug',
  }
  node.answer('/api/node/settings', () => ({ status: 200, body: [setting] }))
  open(node, '/diagnostics')
  const link = await screen.findByRole('link', { name: /^CPU, memory/ })
  expect(link.getAttribute('href')).toMatch(/\/debug\/pprof\/$/)
})
