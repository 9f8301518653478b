import { eventually } from '@mesh/testkit'
import { act, fireEvent, screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { answerBlock, answerChain, blockHead, signedEntry } from '../../../test/support/fake-chain.ts'
import { createFakeNode, NAS, refusal } from '../../../test/support/fake-node.ts'
import { createPageSuite, text } from '../../../test/support/page-suite.tsx'

const { open, pass } = createPageSuite()

const AT = { bucket: 'notes', key: 'menu' }
const rows = () => screen.getByRole('table', { name: 'Blockchain' }).getAttribute('aria-rowcount')

function committed(node: ReturnType<typeof createFakeNode>, Index: number): void {
  const { Hash, Timestamp } = blockHead(Index)
  node.send('block.committed', { Index, Hash, Timestamp, Changes: 1 })
}

/** A block that changed `notes/menu` from soup to bread, signed by `nas`. */
function changingBlock(After = signedEntry(NAS, AT, '"bread"')) {
  const Before = signedEntry(NAS, AT, '"soup"')
  return { ...blockHead(5), Changed: [{ Bucket: AT.bucket, Key: AT.key, Before, After }], More: 0 }
}

test('blocks that were not read yet load, and then stand with the end of the chain', async () => {
  const node = createFakeNode()
  const gate = Promise.withResolvers<void>()
  node.answer('/api/blocks', async () => {
    await gate.promise
    return { status: 200, body: { Head: 5, First: 5, Blocks: [blockHead(5)] } }
  })
  open(node, '/blockchain')
  await screen.findByRole('status', { name: 'Reading the blocks' })
  gate.resolve()
  await screen.findByRole('link', { name: 'Block 5' })
  screen.getByText(/This node keeps the last 1 block since it started at .*; the oldest is block 5\.$/)
  expect(screen.queryByRole('button', { name: 'Read older blocks' })).toBeNull()
})

test('blocks that could not be read say why, and are read again when asked', async () => {
  const node = createFakeNode()
  node.answer('/api/blocks', () => refusal(503, 'node.not_ready', 'not yet', 'Ask again soon.'))
  open(node, '/blockchain')
  const note = await screen.findByRole('alert')
  within(note).getByText('The blocks could not be read')
  within(note).getByText('Ask again soon.')
  answerChain(node, { head: 5, first: 1 })
  fireEvent.click(within(note).getByRole('button', { name: 'Try again' }))
  expect(await screen.findByRole('link', { name: 'Block 5' })).toBeDefined()
})

test('a node without a block says what makes one', async () => {
  const node = createFakeNode()
  answerChain(node, { head: 0, first: 1 })
  const { router } = open(node, '/blockchain')
  await text('No block since this node started')
  fireEvent.click(screen.getByRole('link', { name: 'Write a key' }))
  await eventually(() => expect(router.state.location.search).toEqual({ view: 'new' }))
})

test('blocks stay while the node is away, with their age', async () => {
  const node = createFakeNode()
  answerChain(node, { head: 5, first: 1 })
  open(node, '/blockchain')
  await screen.findByRole('link', { name: 'Block 5' })
  await act(async () => node.down())
  await text('not connected')
  await pass(7_000)
  await text('7 s old')
  expect(screen.getByRole('link', { name: 'Block 5' })).toBeDefined()
})

test('older blocks are read when asked, until the oldest that the node keeps', async () => {
  const node = createFakeNode()
  answerChain(node, { head: 240, first: 90 })
  open(node, '/blockchain')
  await screen.findByRole('link', { name: 'Block 240' })
  expect(rows()).toBe('101')
  fireEvent.click(screen.getByRole('button', { name: 'Read older blocks' }))
  await eventually(() => expect(rows()).toBe('152'))
  expect(screen.queryByRole('button', { name: 'Read older blocks' })).toBeNull()
  screen.getByText(/keeps the last 151 blocks .* the oldest is block 90\.$/)
})

test('a node that dropped the older blocks meanwhile says so', async () => {
  const node = createFakeNode()
  answerChain(node, { head: 240, first: 1 })
  open(node, '/blockchain')
  await screen.findByRole('link', { name: 'Block 240' })
  answerChain(node, { head: 240, first: 141 })
  fireEvent.click(screen.getByRole('button', { name: 'Read older blocks' }))
  await text('This node keeps no older blocks.')
  expect(screen.queryByRole('button', { name: 'Read older blocks' })).toBeNull()
})

test('older blocks that could not be read say why', async () => {
  const node = createFakeNode()
  answerChain(node, { head: 240, first: 1 })
  open(node, '/blockchain')
  await screen.findByRole('link', { name: 'Block 240' })
  node.answer('/api/blocks', () => refusal(503, 'node.not_ready', 'not yet', 'Ask again soon.'))
  fireEvent.click(screen.getByRole('button', { name: 'Read older blocks' }))
  await text('Older blocks could not be read')
  expect(screen.getByRole('link', { name: 'Block 240' })).toBeDefined()
})

test('a new block comes above the others', async () => {
  const node = createFakeNode()
  answerChain(node, { head: 5, first: 1 })
  open(node, '/blockchain')
  await screen.findByRole('link', { name: 'Block 5' })
  await text('live')
  answerChain(node, { head: 6, first: 1 })
  await act(async () => committed(node, 6))
  await pass(250)
  await screen.findByRole('link', { name: 'Block 6' })
  expect(rows()).toBe('7')
})

test('a block that another one replaced is read again, in the list and in its panel', async () => {
  const node = createFakeNode()
  answerChain(node, { head: 5, first: 1 })
  answerBlock(node, changingBlock())
  open(node, '/blockchain/5')
  const panel = await screen.findByRole('complementary', { name: 'Block 5' })
  await within(panel).findByText('bread')
  await text('live')
  const replaced = { ...changingBlock(signedEntry(NAS, AT, '"cake"')), ...blockHead(5, ['notes'], 'fork') }
  answerBlock(node, replaced)
  answerChain(node, { head: 5, first: 1, at: (index) => blockHead(index, ['notes'], 'fork') })
  await act(async () => committed(node, 5))
  await pass(250)
  await within(panel).findByText('cake')
  expect(within(panel).queryByText('bread')).toBeNull()
  await eventually(() => {
    const link = screen.getByRole('link', { name: /^Previous block, 4: a+$/ })
    expect(link).toBeDefined()
  })
})

test('a block shows the difference of a value, and that the signature fits', async () => {
  const node = createFakeNode()
  answerChain(node, { head: 5, first: 1 })
  answerBlock(node, changingBlock())
  open(node, '/blockchain/5')
  const change = await screen.findByRole('region', { name: 'notes/menu' })
  const lines = within(change).getByRole('list', { name: 'What changed' })
  expect(
    within(lines)
      .getAllByRole('listitem')
      .map(({ textContent }) => textContent),
  ).toEqual(['−before: soup', '+now: bread'])
  within(change).getByText('changed')
  within(change).getByText('signature verified here')
  within(change).getByRole('link', { name: 'nas' })
})

test('a value that its owner did not sign is shown as such', async () => {
  const node = createFakeNode()
  answerChain(node, { head: 5, first: 1 })
  const forged = { ...signedEntry(NAS, AT, '"bread"'), Value: '"stones"' }
  answerBlock(node, changingBlock(forged))
  open(node, '/blockchain/5')
  const change = await screen.findByRole('region', { name: 'notes/menu' })
  within(change).getByText('stones')
  expect(within(change).getByText('signature does not fit')).toBeDefined()
})

test('a block tells what it deleted, and that further changes are not kept', async () => {
  const node = createFakeNode()
  answerChain(node, { head: 5, first: 1 })
  const gone = { ...signedEntry(NAS, AT, ''), Deleted: true, Sig: null }
  answerBlock(node, { ...changingBlock(gone), More: 3 })
  open(node, '/blockchain/5')
  const change = await screen.findByRole('region', { name: 'notes/menu' })
  within(change).getByText('deleted')
  within(change).getByText('removed by this node')
  expect(await text('3 further changes of this block are not kept, since it had too many.')).toBeDefined()
})

test('a block that the node does not keep says so, whatever stands in the address', async () => {
  const node = createFakeNode()
  answerChain(node, { head: 5, first: 3 })
  node.answer('/api/blocks/2', () => refusal(404, 'ledger.no_block', 'not kept', 'Look at the list.'))
  const { router } = open(node, '/blockchain/2')
  await text('This node does not keep this block')
  await act(() => router.navigate({ to: '/blockchain/$index', params: { index: 'nonsense' } }))
  await screen.findByRole('complementary', { name: 'No such block' })
  expect(node.requests).not.toContain('GET /api/blocks/nonsense')
})

test('blocks of heartbeats can be hidden, and a filter leaves those of a bucket', async () => {
  const node = createFakeNode()
  const at = (index: number) => blockHead(index, [['healthcheck'], ['dns'], ['notes']][index % 3])
  answerChain(node, { head: 5, first: 3, at })
  const { router } = open(node, '/blockchain')
  await screen.findByRole('link', { name: 'Block 3' })
  fireEvent.click(screen.getByRole('switch', { name: 'Hide heartbeats' }))
  await eventually(() => expect(screen.queryByRole('link', { name: 'Block 3' })).toBeNull())
  expect(router.state.location.search).toEqual({ heartbeats: 'hidden' })
  fireEvent.change(screen.getByRole('searchbox'), { target: { value: 'bucket:dns' } })
  await eventually(() => expect(screen.queryByRole('link', { name: 'Block 5' })).toBeNull())
  screen.getByRole('link', { name: 'Block 4' })
})
