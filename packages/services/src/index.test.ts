import { expect, it } from 'vitest'
import * as endpoint from './endpoint.ts'
import * as services from './index.ts'

it('has these public names', () => {
  expect(Object.keys(services).toSorted()).toEqual([
    'SERVED_CONNECTIONS',
    'Downloads',
    'createEgress',
    'FileSharing',
    'createOwnUser',
    'createProxy',
    'createServices',
    'createUnwritten',
    'receiveFile',
  ])
  expect(Object.keys(endpoint).toSorted()).toEqual([
    'checkServiceName',
    'formatEndpoint',
    'kindOf',
    'parseEndpoint',
  ])
})
