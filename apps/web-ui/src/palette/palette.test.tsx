import { eventually } from '@mesh/testkit'
import { act, fireEvent, screen, within } from '@testing-library/react'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createFakeNode, type FakeNode, NAS, peer } from '../../test/support/fake-node.ts'
import { createPageSuite, text } from '../../test/support/page-suite.tsx'

// what cmdk needs and jsdom does not have; other files of the worker must not find it, as charts load a library with it
beforeAll(() => {
  vi.stubGlobal(
    'ResizeObserver',
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  )
})
afterAll(() => void vi.unstubAllGlobals())
Element.prototype.scrollIntoView ??= () => {}

const { open } = createPageSuite()

const dialog = () => screen.findByRole('dialog', { hidden: true, name: 'Search everything' })

/** Opens the search with its keys and types into it. */
async function search(node: FakeNode, query: string, address = '/') {
  const page = open(node, address)
  await text('live')
  fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true })
  const field = await within(await dialog()).findByRole('combobox', { hidden: true })
  fireEvent.change(field, { target: { value: query } })
  return { ...page, field }
}

const option = (name: string | RegExp) => screen.findByRole('option', { hidden: true, name })

test('finds a machine by a part of its name and opens it', async () => {
  const { router, field } = await search(createFakeNode(), 'na')
  await option(/^nas/)
  fireEvent.keyDown(field, { key: 'Enter' })
  await eventually(() => expect(router.state.location.pathname).toBe(`/machines/${NAS.peerId}`))
  expect(screen.queryByRole('dialog', { hidden: true })).toBeNull()
})

test('finds keys in buckets that were never opened', async () => {
  const node = createFakeNode()
  await node.ledger.put('notes', 'shopping', '"milk"').settled
  const { router } = await search(node, 'shop')
  fireEvent.click(await option(/^shopping/))
  await eventually(() => expect(router.state.location.search).toEqual({ bucket: 'notes', key: 'shopping' }))
})

test('reads no key before somebody types two letters', async () => {
  const node = createFakeNode()
  await node.ledger.put('notes', 'shopping', '"milk"').settled
  const { field } = await search(node, 's')
  await option(/^Go to Services/)
  expect(node.requests).not.toContain('GET /api/ledger/notes')
  fireEvent.change(field, { target: { value: 'sh' } })
  await option(/^shopping/)
  expect(node.requests).toContain('GET /api/ledger/notes')
})

test('finds names, services, settings and peers that are no members', async () => {
  const node = createFakeNode()
  node.answer('/api/dns', () => ({ status: 200, body: [{ Regex: '^web-git$', Records: { A: '10.1.0.5' } }] }))
  node.answer('/api/services', () => ({ status: 200, body: [{ PeerID: NAS.peerId, Name: 'webmail' }] }))
  const stranger = peer('12D3KooWweb', 'webcrawler', { Member: false })
  node.answer('/api/peers', () => ({ status: 200, body: [peer(NAS.peerId, 'nas'), stranger] }))
  await search(node, 'web')
  await option(/^\^web-git\$/)
  await option(/^webmail/)
  await option(/^webcrawler/)
  fireEvent.change(screen.getByRole('combobox', { hidden: true }), { target: { value: 'token-file' } })
  expect(await option(/^token-file/)).toBeDefined()
})

test('runs actions: a new name, the theme, the keys', async () => {
  const { router } = await search(createFakeNode(), 'add a name')
  fireEvent.click(await option('Add a name'))
  await eventually(() => expect(router.state.location.search).toEqual({ view: 'new' }))
  fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true })
  fireEvent.click(await option('Show the keyboard shortcuts'))
  expect(await screen.findByRole('dialog', { hidden: true, name: 'Keyboard' })).toBeDefined()
})

test('copies the id of this node and says so', async () => {
  const writeText = vi.fn(async () => {})
  Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText } })
  await search(createFakeNode(), 'copy')
  await act(async () => fireEvent.click(await option('Copy the id of this node')))
  expect(await text('Copied.')).toBeDefined()
  expect(writeText).toHaveBeenCalledOnce()
})

test('pings a machine that is chosen next', async () => {
  const node = createFakeNode()
  node.answer(`/api/peers/${NAS.peerId}/ping`, () => ({
    status: 200,
    body: { PeerID: NAS.peerId, Name: 'nas', Member: true, Path: 'direct', Transport: 'tcp', RoundTripMs: 4 },
  }))
  await search(node, 'ping')
  fireEvent.click(await option('Ping a machine'))
  fireEvent.click(await option(/^nas/))
  expect(await text('nas answered: direct, 4 ms.')).toBeDefined()
})

test('says when nothing is found', async () => {
  await search(createFakeNode(), 'zzzz')
  expect(await text(/^Nothing found/)).toBeDefined()
})
