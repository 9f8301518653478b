import { expect, test } from 'vitest'
import { isMarked, nameServersOf, withNameServer } from './resolv-conf.ts'

const ORIGINAL =
  '# by hand\nsearch example.org\nnameserver 192.0.2.1\n nameserver fe80::1%eth0\noptions edns0\n'

test('our server comes before those that were there, and all else stays', () => {
  const written = withNameServer(ORIGINAL, '10.1.0.5')
  expect(nameServersOf(written)).toEqual(['10.1.0.5', '192.0.2.1', 'fe80::1%eth0'])
  expect(written).toContain('\n# by hand\nsearch example.org\noptions edns0\n')
  expect([isMarked(written), isMarked(ORIGINAL)]).toEqual([true, false])
})

test('no more servers are named than the C library reads, and ours once', () => {
  const many = Array.from({ length: 5 }, (_, at) => `nameserver 192.0.2.${at}\n`).join('')
  expect(nameServersOf(withNameServer(many, '192.0.2.3'))).toEqual(['192.0.2.3', '192.0.2.0', '192.0.2.1'])
  expect(withNameServer('', '10.1.0.5')).toMatch(/\nnameserver 10\.1\.0\.5\n$/)
})
