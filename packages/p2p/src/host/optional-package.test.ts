import { expect, test } from 'vitest'
import { loadOptional } from './optional-package.ts'

const QUIC = { feature: 'QUIC', packages: ['not-installed', '@scope/native'] }

/** As Node rejects an import. */
function notFound(name: string): Error {
  const message = `Cannot find package '${name}' imported from /app/node_modules/@mesh/p2p/dist/node.js`
  return Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' })
}

test('a package that is not installed is named, with what to install', async () => {
  for (const missing of QUIC.packages) {
    const loading = loadOptional(QUIC, () => Promise.reject(notFound(missing)))
    await expect(loading).rejects.toMatchObject({
      code: 'p2p.missing_package',
      message: `QUIC needs the package ${missing}, which is not installed`,
      hint: 'Install not-installed and @scope/native beside @mesh/p2p, or switch QUIC off.',
    })
  }
})

test('what the package itself lacks, and every other failure, comes as it is', async () => {
  for (const error of [notFound('@scope/native-linux-x64'), new Error('wrong ELF class')]) {
    await expect(loadOptional(QUIC, () => Promise.reject(error))).rejects.toBe(error)
  }
})

test('gives what was loaded', async () => {
  expect(await loadOptional(QUIC, async () => 'loaded')).toBe('loaded')
})
