import { networkInterfaces } from 'node:os'
import { ApiError, createClient } from '@mesh/api-client'
import { MeshError } from '@mesh/core'
import { afterEach, expect, test } from 'vitest'
import type { OffersPort } from '../src/index.ts'
import { createFakeOffers } from './fake-offers.ts'
import { startTestNode, type TestNode } from './fixture.ts'

let node: TestNode | undefined
afterEach(() => node?.stop())

async function start(offers: OffersPort | undefined): Promise<TestNode> {
  node = await startTestNode({})
  if (offers !== undefined) node.server.attachOffers(offers)
  return node
}

test('what is offered is put, read, listed and removed, and each change is told', async () => {
  const { client } = await start(createFakeOffers())
  const ended = new AbortController()
  const events = client.events({
    types: ['service.changed', 'file.changed'],
    signal: ended.signal,
    lastEventId: '',
  })
  await client.putNodeService({ name: 'web/1', body: { Target: '127.0.0.1:80' } })
  await client.putNodeFile({ name: 'photos', body: { Path: '/srv/photos' } })
  expect(await client.listNodeServices()).toMatchObject([
    { Name: 'web/1', Target: '127.0.0.1:80', Kept: true },
  ])
  expect(await client.getNodeFile({ name: 'photos' })).toMatchObject({ Path: '/srv/photos', Completed: 3 })
  expect(await client.deleteNodeService({ name: 'web/1' })).toEqual({ State: 'Removed' })
  expect(await client.listNodeServices()).toEqual([])
  ended.abort()
  await events.return?.(undefined)
})

test('a name that is not there is 404, for reading and for removing', async () => {
  const { client } = await start(createFakeOffers())
  for (const asked of [client.getNodeConnection({ name: 'x' }), client.deleteNodeFile({ name: 'x' })]) {
    await expect(asked).rejects.toMatchObject({ status: 404, code: 'services.unknown' })
  }
})

test('before the node has joined it is 503, and what the node refuses has its own code', async () => {
  const { client, server } = await start(undefined)
  await expect(client.listNodeFiles()).rejects.toMatchObject({ status: 503, code: 'services.not_running' })
  const offers = createFakeOffers()
  server.attachOffers({
    ...offers,
    files: {
      ...offers.files,
      async put() {
        throw new MeshError('files.unreadable', '/nothing does not exist')
      },
    },
  })
  const refused = client.putNodeFile({ name: 'f', body: { Path: '/nothing' } })
  await expect(refused).rejects.toMatchObject({ status: 400, code: 'files.unreadable' })
})

const outward = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address

test.skipIf(outward === undefined)(
  `from beyond loopback it is refused, while the rest answers${outward === undefined ? ' (no other address here)' : ''}`,
  async () => {
    const { server } = await start(createFakeOffers())
    const listener = await server.listen({ kind: 'tcp', host: '0.0.0.0', port: 0 })
    const { port } = new URL(listener.url)
    const client = createClient({ baseUrl: `http://${outward}:${port}` })
    expect(await client.listServices()).toEqual([])
    const calls = [
      client.listNodeServices(),
      client.putNodeFile({ name: 'etc', body: { Path: '/etc' } }),
      client.putNodeConnection({ name: 'web', body: { Listen: ':80' } }),
    ]
    for (const call of calls) {
      await expect(call).rejects.toBeInstanceOf(ApiError)
      await expect(call).rejects.toMatchObject({ status: 403, code: 'node.local_only' })
    }
  },
)
