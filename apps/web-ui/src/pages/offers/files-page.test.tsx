import { eventually } from '@mesh/testkit'
import { act, fireEvent, screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { createFakeNode, NAS, refusal } from '../../../test/support/fake-node.ts'
import { createPageSuite, text } from '../../../test/support/page-suite.tsx'

const { open } = createPageSuite()
const ok = (body: unknown) => () => ({ status: 200, body })

function drop(items: readonly object[]): void {
  const event = new Event('drop', { bubbles: true, cancelable: true })
  Object.assign(event, { dataTransfer: { types: ['Files'], items } })
  act(() => void window.dispatchEvent(event))
}
const item = (file: File, isDirectory = false) => ({
  getAsFile: () => file,
  webkitGetAsEntry: () => ({ isDirectory }),
})
const SENT = { Name: 'a.txt', State: 'offered', Bytes: 5, TotalBytes: 5 }

test('a dropped file is sent while another page is open, and then offered', async () => {
  const node = createFakeNode()
  const gate = Promise.withResolvers<void>()
  node.answer('PUT /api/node/files/a.txt/content', async () => {
    await gate.promise
    return { status: 200, body: SENT }
  })
  const { router } = open(node, '/files')
  await text('Drop files anywhere on this page')
  expect(screen.getByText(/17.2 GB at most/)).toBeDefined()
  screen.getByText('mesh file-send photo.jpg ./photo.jpg')
  drop([item(new File(['hello'], 'a.txt'))])
  await screen.findByText('mesh file-send a.txt ./a.txt')
  expect(screen.getByText(/\/api\/node\/files\/a\.txt\/content\?from=/)).toBeDefined()
  await screen.findByRole('progressbar', { name: 'Sending a.txt' })
  const leaving = new Event('beforeunload', { cancelable: true })
  window.dispatchEvent(leaving)
  expect(leaving.defaultPrevented).toBe(true)
  await act(() => router.navigate({ to: '/names' }))
  await act(async () => gate.resolve())
  await act(() => router.navigate({ to: '/files' }))
  const sent = await screen.findByRole('region', { name: 'Sent from this browser' })
  await within(sent).findByText('offered')
})

test('a refused file says why and can be tried again', async () => {
  const node = createFakeNode()
  node.answer('PUT /api/node/files/a.txt/content', () =>
    refusal(507, 'files.no_space', 'the disk is full', 'Free some space.'),
  )
  open(node, '/files')
  await text('Drop files anywhere on this page')
  drop([item(new File(['hello'], 'a.txt'))])
  await text('Free some space.')
  node.answer('PUT /api/node/files/a.txt/content', ok(SENT))
  fireEvent.click(screen.getByRole('button', { name: 'Try again to send a.txt' }))
  expect(await screen.findByRole('link', { name: 'a.txt' })).toBeDefined()
})

test('a dropped folder is refused, with the form that offers its path', async () => {
  open(createFakeNode(), '/files')
  await text('Drop files anywhere on this page')
  drop([item(new File([''], 'photos'), true)])
  const link = await screen.findByRole('link', { name: 'Offer its path' })
  expect(link.getAttribute('href')).toContain('view=offer&name=photos')
})

test('away from the machine of the node nothing can be dropped', async () => {
  const node = createFakeNode()
  node.answer('/api/node/files', () => refusal(403, 'node.local_only', 'not here', 'Ask there.'))
  open(node, '/files')
  await text('mesh file-send NAME PATH')
  expect(screen.queryByText('Drop files anywhere on this page')).toBeNull()
})

test('the listing of a member shows hostile names with escapes, and is fetched from there', async () => {
  const node = createFakeNode()
  node.answer('/api/files', ok([{ Name: 'photos', PeerID: NAS.peerId }]))
  const entry = { IsFolder: false, Bytes: 2_400, ModifiedAt: '2026-11-28T10:00:00Z' }
  const Entries = [{ ...entry, Path: 'a\u202Egpj.exe' }]
  const listing = { Name: 'photos', IsFolder: true, Files: 1, TotalBytes: 2_400, Entries, More: 7 }
  node.answer('/api/node/inbox/photos', ok(listing))
  node.answer('PUT /api/node/inbox/photos', () => refusal(409, 'files.too_many', 'too many', 'Wait.'))
  open(node, '/files?view=look&name=photos')
  const panel = await screen.findByRole('complementary', { name: 'photos' })
  await within(panel).findByText('a\\u202egpj.exe')
  within(panel).getByText('1 file, 2.4 kB')
  within(panel).getByText('7 more are not listed.')
  fireEvent.click(within(panel).getByRole('button', { name: 'Receive photos' }))
  expect(await within(panel).findByRole('alert')).toBeDefined()
  await eventually(() => expect(node.requests).toContain('PUT /api/node/inbox/photos'))
})
