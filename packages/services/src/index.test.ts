import { expect, it } from 'vitest'
import * as client from './client.ts'
import * as endpoint from './endpoint.ts'
import * as services from './index.ts'

it('has these public names', () => {
  expect(Object.keys(services).toSorted()).toEqual([
    'Downloads',
    'FileSharing',
    'SERVED_CONNECTIONS',
    'createEgress',
    'createOwnUser',
    'createProxy',
    'createServices',
    'createUnwritten',
    'fetchOver',
    'listShare',
    'receiveFile',
    'serviceNameIn',
  ])
  expect(Object.keys(client).toSorted()).toEqual(['createServiceClient', 'serviceNameIn'])
  expect(Object.keys(endpoint).toSorted()).toEqual([
    'checkServiceName',
    'formatEndpoint',
    'kindOf',
    'parseEndpoint',
  ])
})
