import { expect, test } from 'vitest'
import { operationsByTag } from './api-document.ts'

test('gives the operations of each tag with their parameters', () => {
  const parameters = [
    { name: 'name', in: 'path', required: true, schema: { type: 'string', example: 'laptop.mesh' } },
    { name: 'type', in: 'query', required: false, description: 'Record type', schema: {} },
  ]
  const get = { operationId: 'resolveName', summary: 'Test a name', tags: ['dns'], parameters }
  const groups = operationsByTag({ paths: { '/api/dns/resolve/{name}': { get } } })
  expect([...groups]).toEqual([
    [
      'dns',
      [
        {
          id: 'resolveName',
          method: 'GET',
          path: '/api/dns/resolve/{name}',
          summary: 'Test a name',
          parameters: [
            { name: 'name', in: 'path', required: true, description: '', example: 'laptop.mesh' },
            { name: 'type', in: 'query', required: false, description: 'Record type', example: '' },
          ],
        },
      ],
    ],
  ])
})

test('what is no document has no operations', () => {
  expect(operationsByTag(undefined).size).toBe(0)
  expect(operationsByTag({ paths: { '/x': null } }).size).toBe(0)
})
