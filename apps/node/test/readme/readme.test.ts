/**
 * Every command of every README, as it stands and in order, as a newcomer types them: in a clean clone, without pnpm
 * and, but for the VPN, without cargo. Outside of namespaces nodes are kept to loopback by the environment, which the
 * commands leave room for. One clone serves all: installing and building is most of the time.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLab, eventually, type Lab, whyNoNamespaces } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readCommandBlocks } from './command-blocks.ts'
import {
  createNewcomer,
  type Ended,
  hasCargo,
  type Newcomer,
  type Running,
  type Shell,
  whyNoClone,
} from './newcomer.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const DOCUMENTS = globSync(
  [
    '{README,CONTRIBUTING,SECURITY}.md',
    '{packages,apps,examples}/*/README.md',
    'packages/engine/npm/*/README.md',
    'docs/**/*.md',
  ],
  { cwd: ROOT },
)
const INSTALL_WITHIN_MS = 600_000
const COMPILE_WITHIN_MS = 600_000
/** What the README promises from the clone to the first ping, with what this machine's caches hold already. */
const FIRST_PING_WITHIN_MS = 300_000

const LOOPBACK = {
  MESHPRIVATE: 'true',
  MESHMDNS: 'false',
  MESHLISTENMADDRS: '/ip4/127.0.0.1/tcp/0',
  MESHLISTEN: '127.0.0.1:0',
}
/** For machines where root has no need of it. */
const SUDO = { sudo: 'exec "$@"' }

const whyNot = whyNoClone()
const whyNoVpn =
  whyNoNamespaces(['ip', 'ping']) ??
  (hasCargo() ? undefined : 'there is no cargo') ??
  (existsSync('/dev/net/tun') ? undefined : 'there is no /dev/net/tun')
const suite = whyNot === undefined ? 'the READMEs' : `the READMEs (skipped: ${whyNot})`
const vpnSuite = whyNoVpn === undefined ? 'with cargo' : `with cargo (skipped: ${whyNoVpn})`

const taken = new Set<string>()

/** The commands of a document's blocks under a heading; what is taken counts as tried. */
function commandsOf(file: string, heading: string): readonly string[] {
  const blocks = readCommandBlocks(join(ROOT, file)).filter((block) => block.heading === heading)
  expect(blocks, `${file} has commands under "${heading}"`).not.toEqual([])
  taken.add(`${file}: ${heading}`)
  return blocks.flatMap(({ commands }) => commands)
}

describe.skipIf(whyNot !== undefined)(suite, () => {
  let newcomer: Newcomer
  let shell: Shell
  /** Milliseconds that a newcomer on the way to the VPN would have waited. */
  let waitedMs = 0

  beforeAll(async () => {
    waitedMs += await timed(async () => {
      newcomer = createNewcomer()
    })
    shell = newcomer.shell({ hasCargo: false, home: 'alone', environment: LOOPBACK, standIns: SUDO })
  })
  afterAll(() => newcomer.close())

  const must = async (command: string, withinMs?: number): Promise<Ended> => {
    const ended = await shell.run(command, withinMs === undefined ? {} : { withinMs })
    expect(ended).toMatchObject({ command, code: 0 })
    return ended
  }

  /** Commands that end by themselves with 0; `expected` are what their outputs hold, in order. */
  async function mustAll(commands: readonly string[], expected: readonly (string | RegExp)[]): Promise<void> {
    expect(commands).toHaveLength(expected.length)
    for (const [at, command] of commands.entries()) {
      expect((await must(command)).output).toMatch(expected[at] ?? /^$/)
    }
  }

  async function mustRefuseVpn(command: string): Promise<void> {
    const { code, output } = await shell.run(command)
    expect(command).toMatch(/^sudo \.\/mesh --token-file/)
    expect(code).toBe(6)
    expect(output).toContain('`npm run setup`')
    expect(output).toContain('rustup.rs')
    expect(output).toContain('`./mesh api`')
  }

  test('`npm start` alone brings a node with its API, and `./mesh`', {
    timeout: INSTALL_WITHIN_MS,
  }, async () => {
    const [start = '', all = '', ...others] = commandsOf('README.md', 'Two commands')
    expect(start).toMatch(/^npm start /)
    // this test is a part of it
    expect(all).toMatch(/^npm test /)
    let node: Running | undefined
    waitedMs += await timed(async () => {
      node = await shell.start(start, /API and web page: (http\S+)/, { withinMs: INSTALL_WITHIN_MS })
    })
    const url = node?.match[1] ?? ''
    const said = node?.output() ?? ''
    expect(said).toMatch(
      /Ready on this machine: API, page, ledger\. VPN: not available: cargo \(Rust 1\.\d+ or later\) was not found; .*run `npm run setup` again\./,
    )
    const token = readFileSync(join(newcomer.checkout, '.mesh/token'), 'utf8').trim()
    expect(said).not.toContain(token)
    const here = others.map((command) => command.replaceAll('http://127.0.0.1:8080', url))
    await mustAll(here, [/"State":"Committed"/, /\{"hello":"world"\}/, /^world$/m, /12D3KooW/])
    expect((await must('./mesh token show')).output).toBe(`${token}\n`)
    await node?.interrupt()
  })

  test('without cargo, set-up and the VPN say what is missing', { timeout: INSTALL_WITHIN_MS }, async () => {
    const [setup = '', make = '', vpn = ''] = commandsOf('docs/from-source.md', 'Two machines')
    let output = ''
    waitedMs += await timed(async () => {
      output = (await must(setup, INSTALL_WITHIN_MS)).output
    })
    expect(output).toMatch(
      /VPN: not available: cargo \(Rust 1\.\d+ or later\) was not found; install it from https:\/\/rustup\.rs/,
    )
    await must(make)
    await mustRefuseVpn(vpn)
  })

  test('day to day', { timeout: INSTALL_WITHIN_MS }, async () => {
    const [setup = '', make = '', api = '', ...others] = commandsOf('docs/from-source.md', 'Day to day')
    await must(setup, INSTALL_WITHIN_MS)
    await must(make)
    await (await shell.start(api, /API and web page: http/)).interrupt()
    await mustAll(others, [/^[A-Za-z0-9+/]{100,}=*$/m, /\b[0-9a-f]{20}\b/])
    for (const { output } of [await must('ls -l net.token')]) expect(output).toMatch(/^-rw-------/)
  })

  test('what members offer each other', async () => {
    const commands = commandsOf('docs/from-source.md', 'What members offer each other')
    const node = await shell.start('./mesh api --token-file net.token', /API and web page: http/)
    // the node says so once it has joined, which it may not have yet
    await eventually(async () => expect((await shell.run('./mesh services')).code).toBe(0), {
      withinMs: 60_000,
    })
    await mustAll(commands, [
      /from now on.*127\.0\.0\.1:8080/,
      /from now on.*127\.0\.0\.1:9000/,
      /from now on.*README\.md/,
      /readme +.*README\.md/,
    ])
    await node.interrupt()
  })

  test('moving from EdgeVPN, and a node behind a reverse proxy', { timeout: INSTALL_WITHIN_MS }, async () => {
    const [setup = '', ...others] = commandsOf('docs/edgevpn.md', 'Move one machine')
    await must(setup, INSTALL_WITHIN_MS)
    const [proxied = '', ...more] = commandsOf('docs/OPERATION.md', 'Behind a reverse proxy')
    expect(more).toEqual([])
    const node = await shell.start(proxied.replace(':8080', ':0'), /API and web page: http/)
    const [folder = '', link = '', config = '', status = '', doctor = ''] = others
    expect(others).toHaveLength(5)
    await mustAll([folder, link], [/^/, /^/])
    const called = (command: string) => `PATH=~/.local/bin:$PATH ${command}`
    expect((await must(called(config))).output).toMatch(/--interface +edgevpn0/)
    expect((await must(called(status))).output).toMatch(/^node /m)
    expect((await shell.run(called(doctor))).output).toMatch(/^(ok|warn) +health/m)
    await node.interrupt()
  })

  test('the README of the page', { timeout: INSTALL_WITHIN_MS }, async () => {
    const [build = '', units = '', dev = '', ...more] = commandsOf('apps/web-ui/README.md', 'web-ui')
    expect(more).toEqual([])
    await must(build, INSTALL_WITHIN_MS)
    await must(units, INSTALL_WITHIN_MS)
    await (await shell.start(dev, /Local: +http/)).interrupt()
  })

  test('the README of the example, and of those who change mesh', async () => {
    const [run = '', dev = '', ...more] = commandsOf('examples/embed-ledger/README.md', 'embed-ledger')
    expect(more).toEqual([])
    await must(run)
    await (await shell.start(dev, /Local: +http/)).interrupt()
    await mustAll(commandsOf('CONTRIBUTING.md', 'Set up'), [/Ready on this machine/, /^\d+\.\d+\.\d+$/m])
  })

  describe.skipIf(whyNoVpn !== undefined)(vpnSuite, () => {
    test(
      'two machines ping each other within five minutes',
      { timeout: 2 * COMPILE_WITHIN_MS },
      joinTwoMachines,
    )
  })

  async function joinTwoMachines() {
    const commands = commandsOf('docs/from-source.md', 'Two machines')
    const [setup = '', make = '', joinFirst = '', setupSecond = '', fetch = '', joinSecond = '', ...others] =
      commands
    const lab = createLab(['first', 'second'])
    try {
      lab.wire(
        { host: 'first', device: 'eth0', addresses: ['192.168.96.1/24'] },
        { host: 'second', device: 'eth0', addresses: ['192.168.96.2/24'] },
      )
      reuseCompiledCrates(newcomer.checkout)
      waitedMs += await timed(async () => {
        const online = newcomer.shell({ hasCargo: true, home: 'first', standIns: SUDO })
        const built = await online.run(setup, { withinMs: COMPILE_WITHIN_MS })
        expect(built.code).toBe(0)
        expect(built.output).toMatch(/Ready on this machine: API, page, ledger, VPN /)
        const first = machineShell(newcomer, lab, 'first')
        await first.run(make)
        await first.start(joinFirst, /VPN: mesh0 has 10\.1\.0\.1\/24/)
      })
      // what the second machine installs and builds takes as long as on the first one, at the same time
      newcomer.copyCheckout('second')
      const secondOnline = newcomer.shell({ hasCargo: true, home: 'second', checkout: 'second' })
      const again = await secondOnline.run(setupSecond, { withinMs: COMPILE_WITHIN_MS })
      expect(again.output).toMatch(/Ready on this machine: API, page, ledger, VPN /)
      const second = machineShell(newcomer, lab, 'second')
      waitedMs += await timed(async () => {
        expect(await second.run(fetch)).toMatchObject({ code: 0 })
        await second.start(joinSecond, /VPN: mesh0 has 10\.1\.0\.2\/24/)
        const [ping = '', ...asking] = others
        await eventually(async () => expect(await second.run(ping)).toMatchObject({ code: 0 }), {
          withinMs: 60_000,
        })
        const outputs = await Promise.all(asking.map((command) => second.run(command)))
        expect(outputs.map(({ code }) => code)).toEqual([0, 0])
        const [status, pong] = outputs.map(({ output }) => output)
        expect(status).toMatch(/^10\.1\.0\.1 /m)
        expect(pong).toMatch(/\(10\.1\.0\.1\) by direct /)
      })
      expect(waitedMs).toBeLessThan(FIRST_PING_WITHIN_MS)
    } finally {
      await newcomer.endAll()
      lab.close()
    }
  }

  test('no command of a document was left out', () => {
    const all = DOCUMENTS.flatMap((file) =>
      readCommandBlocks(join(ROOT, file)).map(({ heading }) => `${file}: ${heading}`),
    )
    // `browser-member.test.ts` opens its page in a browser
    taken.add('examples/browser-member/README.md: A member in a browser tab')
    expect([...new Set(all)].sort()).toEqual([...taken].sort())
  })
})

/** Inside its namespace, where nothing but the other machine is; `scp` reaches the first one's checkout. */
function machineShell(newcomer: Newcomer, lab: Lab, host: 'first' | 'second'): Shell {
  return newcomer.shell({
    hasCargo: true,
    home: host,
    ...(host === 'second' && { checkout: host }),
    prefix: lab.inside(host, []),
    standIns: { ...SUDO, scp: `exec cp -p "${newcomer.checkout}/\${1#FIRST:mesh/}" "$2"` },
  })
}

/** The crates of others that this checkout's own build has compiled; ours is compiled anew, since its files are new. */
function reuseCompiledCrates(checkout: string): void {
  const target = join(ROOT, 'packages/engine/target')
  if (existsSync(target))
    spawnSync('cp', ['-a', '--reflink=auto', target, join(checkout, 'packages/engine/target')])
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
