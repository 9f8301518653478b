import { expect, test } from 'vitest'
import { exitRules } from './exit-rules.ts'
import { foreignRules, ownPreferences, readRoutes } from '../system/foreign-rules.ts'

const wordsOf = (family: 'ipv4' | 'ipv6', blockLan: boolean) =>
  exitRules(family, { mark: 7, blockLan }).map(({ preference, words }) => `${preference} ${words}`)

test('marked packets go first, all else ends in the VPN or nowhere', () => {
  expect(wordsOf('ipv4', false)).toEqual([
    '5100 fwmark 7 lookup main',
    '5101 fwmark 7 unreachable',
    '5102 ipproto udp dport 53 lookup 28005',
    '5103 ipproto tcp dport 53 lookup 28005',
    '5104 ipproto udp dport 53 unreachable',
    '5105 ipproto tcp dport 53 unreachable',
    '5106 lookup main suppress_prefixlength 7',
    '5107 lookup 28005',
    '5108 unreachable',
  ])
  expect(wordsOf('ipv6', false)).toContain('5106 lookup main suppress_prefixlength 15')
})

test('without the local network, the routes of the machine are not asked', () => {
  expect(wordsOf('ipv4', true).some((rule) => rule.startsWith('5106'))).toBe(false)
})

const SHOWN = `0:	from all lookup local
5099:	from 203.0.113.5 lookup main
5100:	from all fwmark 0x7 lookup main
5210:	from all fwmark 0x80000/0xff0000 lookup main
32764:	from all lookup main suppress_prefixlength 0
32765:	not from all fwmark 0xca6c lookup 51820
32766:	from all lookup main
32767:	from all lookup default
`

test('rules of other programs are told apart from the kernel and this node', () => {
  expect(ownPreferences(SHOWN)).toEqual([5100])
  expect(foreignRules(SHOWN)).toEqual([
    '5210: from all fwmark 0x80000/0xff0000 lookup main',
    '32764: from all lookup main suppress_prefixlength 0',
    '32765: not from all fwmark 0xca6c lookup 51820',
  ])
})

test('networks behind a router are read with those of interfaces, default routes and the VPN itself are not', () => {
  const shown = `default via 192.168.7.254 dev eth1
10.77.0.0/16 via 192.168.7.53 dev eth1 proto static
10.1.0.0/24 dev mesh0 proto kernel scope link src 10.1.0.2
192.0.2.9 via 192.168.7.254 dev eth1
unreachable 10.99.0.0/16
2001:db8:a::/64 dev eth0 proto kernel metric 256 pref medium
`
  expect(readRoutes(shown, 'mesh0')).toEqual(['10.77.0.0/16', '192.0.2.9/32', '2001:db8:a::/64'])
})
