/**
 * Every command of the tutorial and the how-tos, as it stands and in order, on machines that are namespaces in one local
 * network. A block says where it is typed (`sh laptop`) and whether it goes on until Ctrl-C (`sh laptop stays`).
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bridge, createLab, eventually, type Lab } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { readCommandBlocks } from './readme/command-blocks.ts'
import { createNewcomer, type Newcomer, type Shell } from './readme/newcomer.ts'
import { whyNoVpn } from './vpn-lab.ts'

const ROOT = join(import.meta.dirname, '../../..')
const isBuilt = process.env['MESH_TEST_BUILD'] === '1'
const why =
  whyNoVpn(['ip', 'ping', 'dig', 'nft', 'python3', 'curl']) ?? (isBuilt ? undefined : 'nothing is built')
const suffix = why === undefined ? '' : ` (skipped: ${why})`

/** What a command that stays says once it is ready. */
const READY = /VPN: mesh0 has|Serving HTTP on|API and web page: http|all transports stand|proxy: http/i
const PAGES = [
  'tutorial',
  ...[
    'database',
    'files',
    'names',
    'phone',
    'office',
    'exit',
    'proxy',
    'invites',
    'contractors',
    'browser',
    'script',
  ].map((name) => `how-to/${name}`),
  ...['two-routers', 'two-databases'].map((name) => `how-to/${name}`),
]

/** The machines that stand in the office network. */
const ROUTERS: Readonly<Record<string, readonly string[]>> = {
  'how-to/office': ['office'],
  'how-to/two-routers': ['first', 'second'],
}

test.skipIf(why !== undefined).for(PAGES)(
  `every command of %s${suffix}`,
  { timeout: 120_000 },
  async (page) => {
    const blocks = blocksOf(page)
    const machines = [...new Set(blocks.map(({ machine }) => machine))]
    expect(machines.length).toBeGreaterThan(0)
    const newcomer = createNewcomer('homes')
    const lab = createLab(['switch', ...machines])
    try {
      const addresses = machines.map((machine, at) => [machine, [`192.168.95.${at + 1}/24`]] as const)
      bridge(lab, 'switch', Object.fromEntries(addresses))
      for (const router of ROUTERS[page] ?? [])
        lab.run(router, ['ip', 'addr', 'add', '192.168.7.1/24', 'dev', 'lo'])
      const shells = new Map(machines.map((machine) => [machine, shellOf(newcomer, lab, machine)]))
      for (const { machine, stays, commands } of blocks) {
        const shell = shells.get(machine)
        for (const command of commands) {
          if (stays) await shell?.start(command, READY)
          else await untilItWorks(shell, command)
        }
      }
    } finally {
      await newcomer.close()
      for (const machine of machines)
        rmSync(`/etc/netns/${lab.name(machine)}`, { recursive: true, force: true })
      lab.close()
    }
  },
)

test('every page with commands for machines is one of those', () => {
  const found = execFileSync('grep', ['-rlE', '^```sh [a-z]+', '--include=*.md', 'docs'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const pages = found
    .trim()
    .split('\n')
    .map((file) => file.replace(/^docs\/|\.md$/g, ''))
  expect(pages.sort()).toEqual([...PAGES].sort())
})

/** What was announced a moment ago may not have arrived: a person types the command again. */
function untilItWorks(shell: Shell | undefined, command: string): Promise<void> {
  return eventually(async () => expect(await shell?.run(command)).toMatchObject({ command, code: 0 }), SOON)
}

const SOON = { withinMs: 40_000, everyMs: 300 }

/** The blocks of a page with the machine on which they are typed. */
function blocksOf(page: string) {
  return readCommandBlocks(join(ROOT, `docs/${page}.md`), (language) => language.startsWith('sh ')).map(
    ({ language, commands }) => {
      const [, machine = '', stays] = language.split(' ')
      return { machine, stays: stays !== undefined, commands }
    },
  )
}

/** A machine has a home and a resolver of its own; `mesh` is what was built, and `scp` reaches the other homes. */
function shellOf(newcomer: Newcomer, lab: Lab, machine: string): Shell {
  const folder = `/etc/netns/${lab.name(machine)}`
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'resolv.conf'), 'nameserver 192.0.2.1\n')
  return newcomer.shell({
    hasCargo: false,
    home: machine,
    checkout: machine,
    prefix: lab.inside(machine, []),
    environment: { PYTHONUNBUFFERED: '1', MESHPRIVATE: 'true' },
    standIns: {
      sudo: 'exec "$@"',
      mesh: `exec ${process.execPath} ${join(ROOT, 'apps/node/dist/main.js')} "$@"`,
      scp: `exec cp -p "${newcomer.folder}/\${1%%:*}/\${1#*:}" "$2"`,
    },
  })
}
