import { parsePeerId } from '@mesh/core'
import type { ReceivedFile, ReceiveFileInit } from '@mesh/services'
import { expect, test } from 'vitest'
import { createNodeTransfers } from './node-transfers.ts'

const provider = parsePeerId('12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA')

test('what is fetched is listed with its way, or with what broke it off, until it ends', async () => {
  const fetched = Promise.withResolvers<ReceivedFile>()
  let given: ReceiveFileInit | undefined
  const transfers = createNodeTransfers((init) => {
    given = init
    return fetched.promise
  })
  const signal = new AbortController().signal
  const done = transfers.receive({ name: 'photos', destination: '/srv/photos', processId: 1, signal })
  const waiting = { name: 'photos', destination: '/srv/photos', state: 'waiting', provider: undefined }
  expect(transfers.list()).toMatchObject([{ ...waiting, path: undefined, bytes: 0 }])
  given?.onState?.({
    type: 'receiving',
    provider,
    path: 'direct',
    transport: 'tcp tls',
    fileCount: 2,
    bytes: 7,
    totalBytes: 9,
    rate: 3,
    leftMs: undefined,
  })
  const way = { provider, path: 'direct', transport: 'tcp tls' }
  expect(transfers.list()).toMatchObject([{ ...way, bytes: 7, totalBytes: 9, rate: 3, lastError: undefined }])
  given?.onState?.({ type: 'retrying', reason: 'the connection broke off', inMs: 500 })
  expect(transfers.list()).toMatchObject([{ state: 'retrying', lastError: 'the connection broke off' }])
  fetched.resolve({ path: '/srv/photos', provider, isVerified: true, bytes: 9 })
  await done
  expect(transfers.list()).toEqual([])
})
