import { expect, test } from 'vitest'
import {
  findForwardingProblems,
  findRoutingProblems,
  type HostFacts,
  strictInterfaces,
} from './exit-checks.ts'
import { forwardingTable } from './exit-forwarding.ts'
import { guardTable } from './exit-guard.ts'

const FACTS: HostFacts = {
  networks: [
    { interface: 'lo', address: '127.0.0.1' },
    { interface: 'eth0', address: '192.168.1.5' },
    { interface: 'eth0', address: 'fe80::1' },
  ],
  rpFilter: () => 0,
  rules: '0:\tfrom all lookup local\n32766:\tfrom all lookup main\n',
  ruleset: '',
  hasResolved: false,
}

function problemsOf(facts: Partial<HostFacts>) {
  return findRoutingProblems({ ...FACTS, ...facts }).map(
    ({ code, title, hint }) => `${code} ${title} ${hint}`,
  )
}

test('a machine at home has nothing that disturbs', () => {
  expect(problemsOf({})).toEqual([])
})

test('a strict filter is found by the greater of both settings', () => {
  const filters: Record<string, number> = { all: 1, eth0: 2, lo: 1 }
  expect(strictInterfaces({ ...FACTS, rpFilter: (name) => filters[name] })).toEqual([])
  expect(strictInterfaces({ ...FACTS, rpFilter: (name) => ({ all: 1 })[name] })).toEqual(['eth0'])
  expect(problemsOf({ rpFilter: () => 1 })[0]).toMatch(/exit\.rp_filter .*eth0.*sysctl -w/)
})

test('rules of another VPN, marks of a firewall and public addresses are named', () => {
  expect(problemsOf({ rules: '100:\tfrom all lookup 99\n' })[0]).toMatch(
    /exit\.foreign_rules .*past it: 100: from all/,
  )
  expect(problemsOf({ rules: '32765:\tnot from all fwmark 0xca6c lookup 51820\n' })[0]).toContain('no effect')
  const ruleset = `table ip mangle {
	chain OUTPUT {
		type route hook output priority mangle; policy accept;
		meta mark set 0x1
	}
}`
  expect(problemsOf({ ruleset })[0]).toMatch(/exit\.foreign_marks .*OUTPUT/)
  const networks = [{ interface: 'eth0', address: '203.0.113.5' }]
  expect(problemsOf({ networks })[0]).toMatch(
    /exit\.inbound .*203\.0\.113\.5.*ip rule add from 203\.0\.113\.5/,
  )
  expect(problemsOf({ hasResolved: true })[0]).toContain('exit.resolved')
})

test('a bound socket gets out to the local network alone, and a network as large as the Internet is none', () => {
  const networks = ['192.168.7.1/24', '10.0.0.1/8', '10.1.0.1/16', '0.0.0.0/1', '2001:db8::1/64', '2000::1/3']
  const table = guardTable({ mark: 7, interface: 'mesh0', networks })
  expect(table.match(/daddr \S+/g)).toEqual(
    [
      '224.0.0.0/4',
      '255.255.255.255',
      'fe80::/10',
      'ff02::/16',
      ...networks.filter((_, at) => ![3, 5].includes(at)),
    ].map((range) => `daddr ${range}`),
  )
  const blocked = guardTable({ mark: 7, interface: 'mesh0', networks: [] })
  expect(blocked.match(/daddr \S+/g)).toEqual(['daddr fe80::/10', 'daddr ff02::/16'])
})

test('a firewall of an exit that forwards nothing is named', () => {
  const ruleset = `table ip filter {
	chain FORWARD {
		type filter hook forward priority filter; policy drop;
	}
}`
  expect(findForwardingProblems(ruleset, true).map(({ title }) => title)[0]).toContain('FORWARD')
  expect(findForwardingProblems('', false).map(({ code }) => code)).toEqual(['exit.no_resolver'])
})

test('the table of an exit is made in place of the one before, and leaves advertised networks their sources', () => {
  expect(
    forwardingTable({
      interface: 'mesh0',
      ranges: ['10.1.0.0/24', 'fd00::/64'],
      advertised: ['192.168.7.0/24'],
      resolvers: ['192.0.2.53'],
    }),
  ).toMatchInlineSnapshot(`
    "table inet mesh_exit_mesh0 {}
    delete table inet mesh_exit_mesh0
    table inet mesh_exit_mesh0 {
      chain forward {
        type filter hook forward priority filter; policy accept;
        iifname "mesh0" oifname "mesh0" drop
        iifname "mesh0" ip daddr { 0.0.0.0/8, 127.0.0.0/8, 169.254.0.0/16, 224.0.0.0/3 } drop
        iifname "mesh0" ip6 daddr { ::1/128, fe80::/10, ff00::/8 } drop
      }
      chain postrouting {
        type nat hook postrouting priority srcnat; policy accept;
        oifname != "mesh0" ip saddr { 10.1.0.0/24 } ip daddr != { 10.1.0.0/24, 192.168.7.0/24 } masquerade
        oifname != "mesh0" ip6 saddr { fd00::/64 } ip6 daddr != { fd00::/64 } masquerade
      }
      chain prerouting {
        type nat hook prerouting priority dstnat; policy accept;
        iifname "mesh0" ip daddr { 10.0.0.0/8, 100.64.0.0/10, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16 } ip daddr != { 10.1.0.0/24, 192.168.7.0/24 } udp dport 53 dnat ip to 192.0.2.53
        iifname "mesh0" ip daddr { 10.0.0.0/8, 100.64.0.0/10, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16 } ip daddr != { 10.1.0.0/24, 192.168.7.0/24 } tcp dport 53 dnat ip to 192.0.2.53
      }
    }
    "
  `)
})
