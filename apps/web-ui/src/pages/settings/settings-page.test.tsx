import { eventually } from '@mesh/testkit'
import { fireEvent, screen } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { createFakeNode, NAS, refusal } from '../../../test/support/fake-node.ts'
import { createPageSuite, text, type } from '../../../test/support/page-suite.tsx'
import { density, theme } from '../../parts/theme.ts'

const { open } = createPageSuite()

afterEach(() => {
  theme.choose('system')
  density.choose('comfortable')
})

test('shows each value and where it came from, and filters', async () => {
  const { router } = open(createFakeNode(), '/settings')
  await text('/etc/mesh/net.token')
  await text('/etc/mesh/config.yaml:4')
  await text('flag')
  fireEvent.change(screen.getByRole('searchbox'), { target: { value: 'private' } })
  await eventually(() => expect(screen.queryByText('/etc/mesh/net.token')).toBeNull())
  await text('/etc/mesh/config.yaml:4')
  expect(router.state.location.search).toEqual({ q: 'private' })
})

test('says why settings cannot be read', async () => {
  const node = createFakeNode()
  node.answer('/api/node/settings', () => refusal(503, 'node.not_ready', 'not yet', 'Ask again soon.'))
  open(node, '/settings')
  expect(await text('The settings could not be read')).toBeDefined()
  expect(await text('Ask again soon.')).toBeDefined()
})

test('keeps the theme and the density in this browser', async () => {
  open(createFakeNode(), '/settings')
  fireEvent.click(await screen.findByRole('radio', { name: 'Dark' }))
  fireEvent.click(screen.getByRole('radio', { name: 'Compact' }))
  expect(document.documentElement.dataset).toMatchObject({ theme: 'dark', density: 'compact' })
  expect(localStorage.getItem('mesh.theme')).toBe('dark')
  expect(localStorage.getItem('mesh.density')).toBe('compact')
  fireEvent.click(screen.getByRole('radio', { name: 'System' }))
  expect(localStorage.getItem('mesh.theme')).toBeNull()
})

test('reads the API by tag, and tries a route that reads', async () => {
  const node = createFakeNode()
  const parameters = [
    { name: 'peer', in: 'path', required: true, schema: { type: 'string', example: 'nas' } },
  ]
  node.answer('/api/openapi.json', () => ({
    status: 200,
    body: {
      openapi: '3.1.0',
      paths: {
        '/api/peers/{peer}/ping': {
          get: { operationId: 'pingPeer', summary: 'Reach a peer', tags: ['network'], parameters },
        },
        '/api/dns': { post: { operationId: 'createDns', summary: 'Register a name', tags: ['dns'] } },
      },
    },
  }))
  node.answer('/api/peers/nas/ping', () => ({
    status: 200,
    body: {
      PeerID: NAS.peerId,
      Name: 'nas',
      Member: true,
      Path: 'direct',
      Transport: 'tcp',
      RoundTripMs: 4.5,
    },
  }))
  open(node, '/settings?view=api')
  await text('Register a name')
  await screen.findByRole('heading', { name: /^network/ })
  const tries = screen.getAllByRole('button', { hidden: true, name: 'Try it' })
  expect(tries).toHaveLength(1)
  type('peer', 'nas')
  fireEvent.click(tries[0] as HTMLElement)
  const answer = await screen.findByLabelText('Answer')
  expect(answer.textContent).toMatch(/"RoundTripMs": ?4.5/)
  expect(node.requests).toContain('GET /api/peers/nas/ping')
})
