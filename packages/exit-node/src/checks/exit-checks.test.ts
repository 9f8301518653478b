import { expect, test } from 'vitest'
import { findRoutingProblems, type HostFacts, strictInterfaces } from './exit-checks.ts'
import { forwardingTable } from '../kernel/exit-forwarding.ts'
import { guardTable } from '../kernel/exit-guard.ts'
import { findInbound } from '../system/inbound-connections.ts'
import { findOfferProblems, findRouterProblems, type OfferFacts } from './offer-checks.ts'

const FACTS: HostFacts = {
  networks: [
    { interface: 'lo', address: '127.0.0.1' },
    { interface: 'eth0', address: '192.168.1.5' },
    { interface: 'eth0', address: 'fe80::1' },
  ],
  rpFilter: () => 0,
  rules: '0:\tfrom all lookup local\n32766:\tfrom all lookup main\n',
  ruleset: '',
  isResolvedPast: false,
  keepsAnswers: false,
  connections: [],
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
  expect(problemsOf({ networks, keepsAnswers: true })[0]).toMatch(/exit\.inbound .*answered past.*SSH stays/)
  expect(problemsOf({ isResolvedPast: true })[0]).toContain('exit.resolved')
})

test('a bound socket gets out to the local network alone, and a network as large as the Internet is none', () => {
  const networks = ['192.168.7.1/24', '10.0.0.1/8', '10.1.0.1/16', '0.0.0.0/1', '2001:db8::1/64', '2000::1/3']
  const table = guardTable({ mark: 7, interface: 'mesh0', networks, answered: [], begun: [] })
  expect(table.match(/daddr \S+/g)).toEqual(
    [
      '224.0.0.0/4',
      '255.255.255.255',
      'fe80::/10',
      'ff02::/16',
      ...networks.filter((_, at) => ![3, 5].includes(at)),
    ].map((range) => `daddr ${range}`),
  )
  const blocked = guardTable({ mark: 7, interface: 'mesh0', networks: [], answered: [], begun: [] })
  expect(blocked.match(/daddr \S+/g)).toEqual(['daddr fe80::/10', 'daddr ff02::/16'])
})

test('answers of the own addresses alone are marked, and that is no mark of another program', () => {
  const answered = ['203.0.113.5', '2001:db8::5']
  const begun = ['203.0.113.5', '10.1.0.2'].map((local) => ({
    local,
    localPort: 22,
    remote: '198.51.100.9',
    remotePort: 54_321,
  }))
  const table = guardTable({ mark: 7, interface: 'mesh0', networks: [], answered, begun })
  expect(table.match(/.*meta mark set.*/g)?.map((line) => line.trim())).toEqual([
    'ct direction reply ct mark 7 ip saddr 203.0.113.5 meta mark set 7',
    'ct direction reply ct mark 7 ip6 saddr 2001:db8::5 meta mark set 7',
    'ip saddr . tcp sport . ip daddr . tcp dport { 203.0.113.5 . 22 . 198.51.100.9 . 54321 } meta mark set 7',
  ])
  // what begins a connection, and nothing else
  expect(table.match(/.*ct mark set.*/g)?.map((line) => line.trim())).toEqual([
    'iifname != { "lo", "mesh0" } ct state new ct mark 0 tcp flags & (fin | syn | rst | ack) == syn ct mark set 7',
  ])
  expect(problemsOf({ ruleset: table })).toEqual([])
})

test('a rule that leads everything past the exit is named, and one for the answers of an address is none', () => {
  expect(problemsOf({ rules: '99:\tfrom all lookup main\n' })[0]).toContain('past it: 99: from all')
  const networks = [{ interface: 'eth0', address: '203.0.113.5' }]
  const rules = '5099:\tfrom 203.0.113.5 lookup main\n'
  expect(problemsOf({ networks, rules })).toEqual([])
  expect(problemsOf({ networks, rules: rules.replace('5099', '5200') })[0]).toContain('exit.inbound')
})

test('marks in a chain that is jumped to are found, those of other hooks and tables are not', () => {
  const rulesetOf = (hook: string, jump: string) => `table inet own {
	chain base {
		type route hook ${hook} priority mangle; policy accept;
		tcp dport 22 ${jump} marks
	}

	chain marks {
		meta mark set 0x00000001
	}
}
table inet other {
	chain base {
		type filter hook output priority filter; policy accept;
		ct mark set meta mark
	}

	chain marks {
		meta mark set 0x00000002
	}
}`
  expect(problemsOf({ ruleset: rulesetOf('output', 'jump') })[0]).toMatch(
    /exit\.foreign_marks .*\(chain marks\)/,
  )
  expect(problemsOf({ ruleset: rulesetOf('output', 'accept comment') })).toEqual([])
  expect(problemsOf({ ruleset: rulesetOf('prerouting', 'jump') })).toEqual([])
  const legacy = rulesetOf('output', 'goto').replace(
    'meta mark set 0x00000001',
    'counter packets 0 bytes 0 xt target "CONNMARK"',
  )
  expect(problemsOf({ ruleset: legacy })[0]).toContain('exit.foreign_marks')
})

test("a firewall that drops what leaves is named, unless it lets a mark pass; this node's own guard is none", () => {
  const rulesetOf = (policy: string, rule: string) => `table inet killswitch {
	chain leaving {
		type filter hook output priority filter; policy ${policy};
		oifname "lo" accept
		${rule}
	}
}`
  const named = /exit\.outgoing_firewall .*\(chain leaving\).*meta mark 0x6d657368 accept/
  expect(problemsOf({ ruleset: rulesetOf('drop', 'oifname "wg0" accept') })[0]).toMatch(named)
  expect(problemsOf({ ruleset: rulesetOf('accept', 'counter packets 3 bytes 180 drop') })[0]).toMatch(named)
  expect(problemsOf({ ruleset: rulesetOf('drop', 'meta mark 0x6d657368 accept') })).toEqual([])
  expect(problemsOf({ ruleset: rulesetOf('accept', 'tcp dport 25 reject') })).toEqual([])
  const guard = guardTable({ mark: 7, interface: 'mesh0', networks: [], answered: [], begun: [] })
  expect(problemsOf({ ruleset: guard.split('\n').slice(2).join('\n') })).toEqual([])
})

test('a firewall that filters by the way back is named as rp_filter is', () => {
  const rulesetOf = (rule: string) => `table inet firewalld {
	chain filter_PREROUTING {
		type filter hook prerouting priority filter + 10; policy accept;
		${rule}
	}
}`
  expect(
    problemsOf({ ruleset: rulesetOf('meta nfproto ipv6 fib saddr . mark . iif oif missing drop') })[0],
  ).toMatch(/exit\.rp_filter .*filter_PREROUTING.*loose/)
  expect(problemsOf({ ruleset: rulesetOf('meta nfproto ipv6 fib saddr . mark oif missing drop') })).toEqual(
    [],
  )
})

/** A server at port 22, of another program, and one of this node; each with a connection that somebody began. */
const SOCKETS = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0
   1: 0500000A:0016 057100CB:D431 01 00000000:00000000 00:00000000 00000000     0        0 12 1 0
   2: 0500000A:0FA1 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 13 1 0
   3: 0600000A:0FA1 067100CB:D431 01 00000000:00000000 00:00000000 00000000     0        0 14 1 0
   4: 0700000A:D555 077100CB:01BB 01 00000000:00000000 00:00000000 00000000     0        0 15 1 0
   5: 0000000000000000FFFF00000800000A:0016 0000000000000000FFFF0000087100CB:D431 01 0:0 0:0 0 0 0 16 1 0
   6: B80D0120000000000000000005000000:0016 B80D0120000000000000000006000000:D431 01 0:0 0:0 0 0 0 17 1 0
`

test('connections that others began are found in what Linux says of its sockets, but for those of this node', () => {
  expect(findInbound(SOCKETS, new Set(['13']))).toEqual([
    { local: '10.0.0.5', localPort: 22, remote: '203.0.113.5', remotePort: 54_321 },
    { local: '10.0.0.8', localPort: 22, remote: '203.0.113.8', remotePort: 54_321 },
    { local: '2001:db8::5', localPort: 22, remote: '2001:db8::6', remotePort: 54_321 },
  ])
})

test('whoever is connected from elsewhere to a private address is told of, as in a cloud', () => {
  const networks = [{ interface: 'eth0', address: '10.0.0.5' }]
  const ports = { localPort: 22, remotePort: 54_321 }
  const from = (remote: string) =>
    problemsOf({ networks, connections: [{ local: '10.0.0.5', remote, ...ports }] })
  expect(from('203.0.113.5')[0]).toMatch(/exit\.inbound .*10\.0\.0\.5.*ip rule add from 10\.0\.0\.5/)
  expect(from('10.0.0.9')).toEqual([])
})

const OFFER: OfferFacts = { interface: 'mesh0', ruleset: '', hasResolver: true, wayless: [] }

function offerProblemsOf(facts: Partial<OfferFacts>) {
  return findOfferProblems({ ...OFFER, ...facts }).map(({ code, title, hint }) => `${code} ${title} ${hint}`)
}

test.each([
  ['policy drop;', ''],
  ['policy accept;', 'counter packets 3 bytes 9 drop'],
  ['policy accept;', 'reject with icmpx admin-prohibited'],
])('a firewall of an exit that forwards nothing is named: %s %s', (policy, last) => {
  const rulesetOf = (...rules: string[]) => `table inet filter {
	chain FORWARD {
		type filter hook forward priority filter; ${policy}
		${[...rules, last].join('\n\t\t')}
	}
}`
  const answers = 'ct state { established, related } accept'
  expect(offerProblemsOf({ ruleset: rulesetOf(answers) })[0]).toMatch(/exit\.firewall .*FORWARD.*mesh0/)
  expect(offerProblemsOf({ ruleset: rulesetOf('iifname "mesh0" accept', answers) })).toEqual([])
  expect(
    offerProblemsOf({
      ruleset: rulesetOf('iifname "mesh*" counter packets 0 bytes 0 accept', 'oifname "mesh0" accept'),
    }),
  ).toEqual([])
  expect(offerProblemsOf({ ruleset: rulesetOf('iifname "mesh1" accept', answers) })).toHaveLength(1)
})

test('a firewall of a router that forwards nothing is named, too', () => {
  const ruleset =
    'table ip filter {\n\tchain FORWARD {\n\t\ttype filter hook forward priority filter; policy drop;\n\t}\n}'
  expect(findRouterProblems({ interface: 'mesh0', ruleset: '' })).toEqual([])
  expect(findRouterProblems({ interface: 'mesh0', ruleset })).toMatchObject([
    {
      code: 'vpn.route_firewall',
      title: expect.stringMatching(/chain FORWARD.*--advertise-route/),
      hint: expect.stringContaining('-i mesh0 -j ACCEPT'),
    },
  ])
})

test('an exit without a resolver or a way to the Internet says so', () => {
  expect(offerProblemsOf({})).toEqual([])
  expect(offerProblemsOf({ hasResolver: false })[0]).toContain('exit.no_resolver')
  expect(offerProblemsOf({ wayless: ['ipv6'] })[0]).toMatch(/exit\.no_route .*IPv6.*all\.forwarding=0/)
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
