import { expect, test } from 'vitest'
import { redact } from './redact.ts'

const ID = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'

test.each([
  ['peer ids are shortened', `dialled ${ID} twice`, 'dialled …dBfeSB twice'],
  ['outer IPv4 goes', 'at 198.51.100.7:4001', 'at [address]:4001'],
  ['inner IPv4 stays', 'at 192.168.1.5, 10.1.0.2 and 172.20.0.1', 'at 192.168.1.5, 10.1.0.2 and 172.20.0.1'],
  ['only 172.16 to 172.31 are inner', 'at 172.32.0.1', 'at [address]'],
  ['outer IPv6 goes', 'at 2001:db8::7 and [2001:db8:1:2:3:4:5:6]:80', 'at [address] and [[address]]:80'],
  ['inner IPv6 stays', 'at ::1, fe80::1 and fd00:1::2', 'at ::1, fe80::1 and fd00:1::2'],
  ['times are no addresses', 'since 14:02:09', 'since 14:02:09'],
  ['hosts of URLs go', 'GET http://files.example.org:8080/x', 'GET http://[name]/x'],
  ['hosts of multiaddrs go', '/dns4/relay.example.org/tcp/4001', '/dns4/[name]/tcp/4001'],
  ['users in paths go', 'cannot read /home/anna/net.token', 'cannot read /home/[name]/net.token'],
])('%s', (_name, text, redacted) => {
  expect(redact(text, [])).toBe(redacted)
})

test('names go as words, in any case, the longest first', () => {
  expect(redact('NAS and nas-2 are not nasty', ['nas', 'nas-2'])).toBe('[name] and [name] are not nasty')
})

test('names are no patterns', () => {
  expect(redact('a.b and axb', ['a.b'])).toBe('[name] and axb')
})
