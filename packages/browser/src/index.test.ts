import { expect, test } from 'vitest'
import * as browser from './index.ts'

test('the public names', () => {
  expect(Object.keys(browser).toSorted()).toEqual(['MeshError', 'joinMesh'])
})
