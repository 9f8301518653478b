/** The machine's part of an exit, with programs on the PATH that keep rules and tables in files as the kernel does. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type ExitHostInit, openExitHost } from './exit-host.ts'
import type { VpnEvent, VpnExitStatus, VpnStatus } from '@mesh/vpn'
import { playJournals } from '../test/played-journals.ts'
import { CHECK_MS, MEND_MS } from './limits.ts'

/** What `ip rule` and `ip route` do, in a folder. */
const IP = `#!/bin/sh
rules="$STATE/rules$1"; route="$STATE/route$1"; shift
case "$1 $2" in
  'rule show') echo '0:	from all lookup local'; /bin/cat "$rules" 2>/dev/null || true ;;
  'rule add') echo "$4:	$*" >> "$rules" ;;
  'rule del') /bin/grep -v "^$4:" "$rules" > "$rules.new"; /bin/mv "$rules.new" "$rules" ;;
  'route show') [ "$4" = main ] && exit 0; /bin/cat "$route" 2>/dev/null ;;
  'route replace') echo "default dev $5 scope link" > "$route" ;;
  'route del') /bin/rm "$route" ;;
  'route flush') /bin/rm -f "$route" ;;
  'route get') echo "$3 via 192.0.2.254" ;;
esac`

/** What `nft` does with tables: it keeps their names. */
const NFT = `#!/bin/sh
case "$1 $2" in
  '-f -') while read -r word family name rest; do [ "$word" = table ] && : > "$STATE/table-$name"; done; exit 0 ;;
  'list table') [ -e "$STATE/table-$4" ] ;;
  'list ruleset') /bin/cat "$STATE/ruleset" 2>/dev/null || true ;;
  'delete table') /bin/rm "$STATE/table-$4" ;;
esac`

/** What the kernel says without CONFIG_IP_MULTIPLE_TABLES, for the family `$REFUSED`. */
const REFUSING_IP = IP.replace(
  'shift\n',
  `[ "$1" = "$REFUSED" ] && [ "$2" = rule ] && { echo 'RTNETLINK answers: Operation not supported' >&2; exit 2; }; shift\n`,
)

/** What a firewall does that marks packets of its own. */
const MARKING =
  'table ip mangle {\n\tchain OUTPUT {\n\t\ttype route hook output priority mangle;\n\t\tmeta mark set 0x1\n\t}\n}'

/** What a firewall does that forwards nothing. */
const DROPPING =
  'table ip filter {\n\tchain FORWARD {\n\t\ttype filter hook forward priority filter; policy drop;\n\t}\n}'

const SETTINGS = {
  fwmark: 7,
  exitNode: undefined,
  exitNodeBlockLan: false,
  interface: 'mesh0',
  advertiseExit: false,
  advertiseRoute: [],
  router: undefined,
  dnsConfigure: false,
  dnsForwarder: true,
} as ExitHostInit['settings']

let folder = ''
let [state, programs] = ['', '']
let journals = playJournals()
let ruleset = ''
let clock = createManualClock()

// each of the commands is a process, of which a loaded machine starts some ten a second
vi.setConfig({ testTimeout: 60_000 })

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-exit-host-'))
  state = join(folder, 'kernel')
  programs = join(folder, 'bin')
  for (const path of [state, programs]) mkdirSync(path)
  journals = playJournals()
  vi.stubEnv('PATH', programs)
  vi.stubEnv('STATE', state)
  program('ip', IP)
  program('nft', NFT)
  ruleset = ''
  clock = createManualClock()
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

function program(name: string, text: string): void {
  writeFileSync(join(programs, name), text, { mode: 0o755 })
}

function opened(settings: Partial<ExitHostInit['settings']> = {}) {
  const facts = () => ({ networks: [], rpFilter: () => 0, rules: '', ruleset, connections: [] })
  const init = {
    settings: { ...SETTINGS, ...settings },
    journals,
    hasVpn: true,
    clock,
    log: silentLogger,
    facts,
  }
  return openExitHost(init)
}

const vpn = {
  interface: { name: 'mesh0', mtu: 1_280 } as never,
  status: (): VpnStatus => ({ exit: undefined }) as VpnStatus,
  subscribe: () => () => {},
  announceAgain: () => {},
}

function kernel(): readonly string[] {
  return readdirSync(state).filter(
    (name) => !name.startsWith('rules') || readFileSync(join(state, name), 'utf8') !== '',
  )
}

test.each(['-4', '-6'])(
  'a kernel without policy routing for %s is told by name, and nothing of the exit is left',
  (family) => {
    program('ip', REFUSING_IP)
    vi.stubEnv('REFUSED', family)
    const host = opened()
    // again, as a person would: what is left of the first try does not stand in the way
    for (const _ of [1, 2]) {
      expect(() => host.use('gate')).toThrow(
        expect.objectContaining({
          code: 'exit.no_policy_routing',
          message: 'the kernel refused a routing rule: RTNETLINK answers: Operation not supported',
          hint: expect.stringContaining('CONFIG_IPV6_MULTIPLE_TABLES'),
        }),
      )
      expect([kernel(), [...journals.kept.keys()]]).toEqual([[], []])
    }
    expect(() => opened({ exitNode: 'gate' })).toThrow('Operation not supported')
  },
)

test('without the command `ip` there is no exit', () => {
  rmSync(join(programs, 'ip'))
  expect(() => opened().use('gate')).toThrow(expect.objectContaining({ code: 'exit.no_ip_command' }))
  expect([kernel(), [...journals.kept.keys()]]).toEqual([[], []])
})

test('without nftables an exit is used all the same, and people are told what is not kept in', () => {
  rmSync(join(programs, 'nft'))
  const host = opened({ exitNode: 'gate' })
  expect(host.problems()).toEqual([expect.objectContaining({ code: 'exit.no_guard' })])
  expect(kernel()).toContain('rules-4')
})

test('without nftables there is no exit for members', () => {
  rmSync(join(programs, 'nft'))
  const host = opened({ advertiseExit: true })
  expect(() => host.offer(['10.1.0.0/24'])).toThrow(
    expect.objectContaining({ code: 'exit.no_nftables', hint: expect.stringContaining('Install nftables') }),
  )
})

test('what another program takes away is set again, and people are told', async () => {
  const host = opened({ exitNode: 'gate' })
  host.attach(vpn)
  const stood = kernel()
  expect(stood).toEqual(['route-4', 'route-6', 'rules-4', 'rules-6', 'table-mesh_exit_guard'])
  const rules = readFileSync(join(state, 'rules-4'), 'utf8')
  let told = 0
  host.watchProblems(() => told++)
  for (const name of stood) rmSync(join(state, name))
  await clock.advance(MEND_MS)
  await expect.poll(() => told, { timeout: 30_000 }).toBe(1)
  expect(kernel()).toEqual(stood)
  expect(readFileSync(join(state, 'rules-4'), 'utf8')).toBe(rules)
  expect(host.problems()).toEqual([
    expect.objectContaining({
      code: 'exit.taken_away',
      title: expect.stringContaining('nftables table, routing rules, route'),
    }),
  ])
  host.stop()
  expect([kernel(), [...journals.kept.keys()]]).toEqual([[], []])
})

test('when no exit is wanted any more, who hears of it leads nothing into the VPN again', () => {
  ruleset = MARKING
  const host = opened({ exitNode: 'gate' })
  let tell = () => {}
  const subscribe = (listener: (event: VpnEvent) => void) => {
    tell = () => listener({ type: 'problems' })
    return () => {}
  }
  host.attach({ ...vpn, subscribe })
  expect(host.problems()).toHaveLength(1)
  // as the VPN does, which tells of problems that have changed
  host.watchProblems(() => {
    tell()
    told.push(...kernel().filter((name) => name.startsWith('route')))
  })
  const told: string[] = []
  rmSync(join(state, 'route-4'))
  host.use(undefined)
  expect([told, kernel(), host.problems()]).toEqual([['route-6'], [], []])
})

test('a family that the exit does not forward is refused at once, and is led again when it does', () => {
  const host = opened({ exitNode: 'gate' })
  const exit = { state: 'up', families: ['ipv4'] as VpnExitStatus['families'] }
  let tell = () => {}
  const subscribe = (listener: (event: VpnEvent) => void) => {
    tell = () => listener({ type: 'problems' })
    return () => {}
  }
  const routesWith = (told: Partial<typeof exit>) => {
    Object.assign(exit, told)
    tell()
    return kernel().filter((name) => name.startsWith('route'))
  }
  host.attach({ ...vpn, subscribe, status: () => ({ exit }) as VpnStatus })
  expect(routesWith({})).toEqual(['route-4'])
  expect(routesWith({ state: 'gone' })).toEqual(['route-4', 'route-6'])
  expect(routesWith({ state: 'up', families: ['ipv4', 'ipv6'] })).toEqual(['route-4', 'route-6'])
  expect(routesWith({ families: ['ipv6'] })).toEqual(['route-6'])
})

test('a route that the kernel refused, as the interface was down, is there soon after', async () => {
  program(
    'ip',
    IP.replace(
      "'route replace')",
      `'route replace') [ -e "$STATE/down" ] && { echo 'Network is down' >&2; exit 2; };`,
    ),
  )
  writeFileSync(join(state, 'down'), '')
  const host = opened({ exitNode: 'gate' })
  host.attach(vpn)
  const routes = () => kernel().filter((name) => name.startsWith('route'))
  expect(routes()).toEqual([])
  rmSync(join(state, 'down'))
  await clock.advance(MEND_MS)
  await expect.poll(routes, { timeout: 30_000 }).toEqual(['route-4', 'route-6'])
})

test('the table of an exit is set again as well', async () => {
  const host = opened({ advertiseExit: true })
  host.offer(['10.1.0.0/24'])
  // before the VPN stands, as members may send at once
  expect(kernel()).toEqual(['table-mesh_exit_mesh0'])
  host.attach(vpn)
  rmSync(join(state, 'table-mesh_exit_mesh0'))
  await clock.advance(MEND_MS)
  await expect.poll(() => kernel(), { timeout: 30_000 }).toEqual(['table-mesh_exit_mesh0'])
  expect(host.problems().map(({ code }) => code)).toContain('exit.taken_away')
  host.stop()
  expect(kernel()).toEqual([])
})

test('members hear of a firewall that drops what an exit forwards, and of its end', async () => {
  const host = opened({ advertiseExit: true })
  host.offer(['10.1.0.0/24'])
  const heard: boolean[] = []
  const announceAgain = () => void heard.push(host.faults().includes('exit.firewall'))
  host.attach({ ...vpn, announceAgain })
  expect(host.faults()).not.toContain('exit.firewall')
  heard.length = 0
  writeFileSync(join(state, 'ruleset'), DROPPING)
  await clock.advance(CHECK_MS)
  await expect.poll(() => heard, { timeout: 30_000 }).toEqual([true])
  rmSync(join(state, 'ruleset'))
  await clock.advance(CHECK_MS)
  await expect.poll(() => heard, { timeout: 30_000 }).toEqual([true, false])
})

test('what begins to disturb an exit while the node runs is told within half a minute', async () => {
  const host = opened({ exitNode: 'gate' })
  host.attach(vpn)
  expect(host.problems()).toEqual([])
  let told = 0
  host.watchProblems(() => told++)
  ruleset = MARKING
  await clock.advance(CHECK_MS)
  await expect.poll(() => told, { timeout: 30_000 }).toBe(1)
  expect(host.problems()).toEqual([expect.objectContaining({ code: 'exit.foreign_marks' })])
  ruleset = ''
  await clock.advance(CHECK_MS)
  await expect.poll(() => told, { timeout: 30_000 }).toBe(2)
  expect(host.problems()).toEqual([])
})
