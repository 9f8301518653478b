import { expect, test } from 'vitest'
import { heldModules } from './held-modules.ts'

const HERE = 'file:///held/'
const { resolve, load } = heldModules(HERE, (name) => `source of ${name}`)
const from = (parentURL: string) => ({ conditions: [], importAttributes: {}, parentURL })
const loading = { conditions: [], format: undefined, importAttributes: {} }
const later = () => ({ url: 'asked Node', format: 'module', source: 'asked Node' })

test('a module that a held one imports is held, and read at once', () => {
  const found = resolve('./chunk.js', from(`${HERE}main.js`), later)
  expect(found).toMatchObject({ url: 'file:///held/chunk.js', shortCircuit: true })
  expect(load('file:///held/chunk.js', loading, later)).toMatchObject({ source: 'source of chunk.js' })
})

test.each([
  ['node:fs', `${HERE}main.js`],
  ['a-package', `${HERE}main.js`],
  ['./other.js', `${HERE}node_modules/a-package/index.js`],
  ['./other.js', 'file:///elsewhere/main.js'],
])('%s from %s is for Node', (specifier, parent) => {
  expect(resolve(specifier, from(parent), later)).toMatchObject({ url: 'asked Node' })
})

test('what is in a folder below, or elsewhere, is for Node', () => {
  for (const url of [`${HERE}node_modules/a-package/index.js`, 'file:///elsewhere/main.js', HERE])
    expect(load(url, loading, later)).toMatchObject({ source: 'asked Node' })
})
