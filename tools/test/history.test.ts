import { expect, test } from 'vitest'
import { figuresOf } from '../bench/history.ts'

test('the numbers of a run stand under their paths, and nothing else', () => {
  const results = {
    dns: { host: { ratio: 1.1, of: 'dnsmasq' }, sizes: [3, 4] },
    page: { skipped: 'none' },
    put: null,
  }
  expect(figuresOf(results)).toEqual({ 'dns.host.ratio': 1.1, 'dns.sizes.0': 3, 'dns.sizes.1': 4 })
})
