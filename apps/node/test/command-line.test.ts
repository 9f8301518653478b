/** The commands as a person calls them: what they print, where, and what they end with. */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { eventually } from '@mesh/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { commandWords, createMesh, LOOPBACK_ARGS, makeToken, type Mesh, type NodeProcess } from './harness.ts'

/** Any network's. */
const CONFIG = Buffer.from(makeToken(), 'base64').toString()

describe('without a node', () => {
  let mesh: Mesh
  beforeEach(() => {
    mesh = createMesh()
  })
  afterEach(() => mesh.cleanUp())

  test('a new network is a configuration file or a token, which the others take', async () => {
    const yaml = await mesh.run(['-g'])
    expect(yaml).toMatchObject({ code: 0, stderr: '' })
    expect(yaml.stdout).toMatch(/^otp:\n {2}dht:\n {4}interval: 360\n/)
    const token = await mesh.run(['-g', '-b', '--key-otp-interval=9000'])
    expect(Buffer.from(token.stdout, 'base64').toString()).toContain('interval: 9000\n')
    expect(token.stdout).toMatch(/^[A-Za-z0-9+/]+=*\n$/)
    // what Kairos writes; a rounded number would end every legacy node
    const endless = await mesh.run(['-g', '-b', '--key-otp-interval=9223372036854775807'])
    expect(await mesh.run(['token', 'show', '--token', endless.stdout.trim()])).toEqual(endless)
    const named = await mesh.run(['admin', 'init', '--token', endless.stdout.trim()])
    for (const { stdout } of [endless, named]) {
      expect(Buffer.from(stdout, 'base64').toString()).toContain('interval: 9223372036854775807\n')
    }
    expect((await mesh.run(['-gb'])).stdout).toMatch(/^[A-Za-z0-9+/]+=*\n$/)
    // that a network is there already hinders nobody from making another
    expect(await mesh.run(['-gb'], { environment: { MESHTOKEN: token.stdout } })).toMatchObject({ code: 0 })

    writeFileSync(join(mesh.folder, 'net.yaml'), yaml.stdout)
    const shown = await mesh.run(['config', '--config', 'net.yaml', '--json'])
    expect(JSON.parse(shown.stdout)).toMatchObject({
      network: expect.stringMatching(/^[0-9a-f]{20}$/) as string,
    })
  })

  test('`mesh config` tells where each value came from, and no secret', async () => {
    const token = makeToken()
    mkdirSync(join(mesh.folder, '.config/mesh'), { recursive: true })
    writeFileSync(join(mesh.folder, '.config/mesh/defaults'), 'private\nquic = true\n')
    const environment = { MESHTOKEN: token, MESHQUIC: 'false' }
    for (const format of [[], ['--json']]) {
      const { code, stdout } = await mesh.run(['config', '--listen=:9000', ...format], { environment })
      expect(code).toBe(0)
      expect(stdout).not.toContain(token.slice(0, 20))
      expect(stdout).toContain(`*** (${token.length} characters)`)
    }
    const { stdout } = await mesh.run(['config', '--listen=:9000', '--json'], { environment })
    const { options } = JSON.parse(stdout) as { options: unknown[] }
    expect(options).toEqual(
      expect.arrayContaining([
        { name: 'listen', value: ':9000', source: 'flag', place: '--listen' },
        { name: 'quic', value: false, source: 'environment', place: 'MESHQUIC' },
        { name: 'private', value: true, source: 'file', place: join(mesh.folder, '.config/mesh/defaults:1') },
        { name: 'mdns', value: true, source: 'default', place: null },
      ]),
    )
  })

  test('`mesh config` shows what follows from other options, and why', async () => {
    writeFileSync(join(mesh.folder, 'net.yaml'), CONFIG)
    const inForce = async (...args: string[]) => {
      const { stdout } = await mesh.run(['config', '--config', 'net.yaml', '--json', ...args])
      const { options } = JSON.parse(stdout) as {
        options: { name: string; value: unknown; place: string | null }[]
      }
      return new Map(options.map(({ name, value, place }) => [name, [value, place]]))
    }
    const plain = await inForce()
    expect(plain.get('natmap')).toEqual([true, null])
    expect(plain.get('dhcp')).toEqual([true, 'on without --address'])
    expect(plain.get('state-dir')?.[0]).toBe(join(mesh.folder, '.local/state/mesh'))
    expect(plain.get('ledger-state')?.[0]).toMatch(/mesh\/[0-9a-f]{20}\/node$/)
    expect(plain.get('log-format')).toEqual(['json', 'auto: standard error is no terminal'])

    const isolated = await inForce('--private', '--address=10.1.0.2/24', '--ephemeral')
    expect(isolated.get('natmap')).toEqual([false, 'off with --private'])
    expect(isolated.get('natservice')).toEqual([false, 'off with --private'])
    expect(isolated.get('dht')).toEqual([false, 'off with --private: members tell of each other'])
    expect(isolated.get('dhcp')).toEqual([false, null])
    expect(isolated.get('ledger-state')).toEqual([null, 'nothing is kept with --ephemeral'])
    expect(isolated.get('instance')?.[0]).toBe('ephemeral-PID')
    expect((await inForce('--private', '--no-peer-exchange')).get('dht')).toEqual([true, null])

    const { stdout } = await mesh.run(['config', '--private'])
    expect(stdout).toMatch(/^--natmap +off +built in; off with --private$/m)
    expect(stdout).toMatch(/^--api-listen +127.0.0.1:8080 +built in; only with --api$/m)
    expect(stdout).toMatch(/^--address +one is leased in 10\.1\.0\.0\/24 +built in$/m)
    expect(stdout).toMatch(/^--aliveness-healthcheck-interval +2m +built in; 120s, 40s while/m)
  })

  test.each([
    [['api'], 2, 'needs to know which network to join', 'mesh -g -b'],
    [['start'], 2, '[node.no_network]', 'MESHTOKEN'],
    [['api', '--token', 'abc'], 2, '[network.bad_token]', 'base64'],
    [['api', '--token-file', 'none'], 2, 'cannot read', 'none'],
    [['api', '--listen', 'nonsense', '--config', 'net.yaml'], 2, 'cannot listen on "nonsense"', 'HOST:PORT'],
    [[], 2, '`mesh` needs to know which network to join', 'mesh --token-file mesh.token'],
    [['ping'], 2, 'MACHINE is missing', 'mesh ping MACHINE'],
    [['ping', '10.1.0.2'], 5, 'no node is running here', '`mesh`'],
    [['--api-listen', ':1', '--token', 'x'], 2, '--api-listen', 'only together with --api'],
    [['--address', '10.1.0.0/24', '--token', 'x'], 2, '--address', '--dhcp'],
    [['statsu'], 2, 'unknown command: mesh statsu', '`mesh status`'],
    [['ledger', 'gte'], 2, 'unknown command: mesh ledger gte', '`mesh ledger get`'],
    [['ledger', 'put', 'a', 'b'], 2, 'VALUE is missing', 'mesh ledger put BUCKET KEY VALUE'],
    [['status', 'now'], 2, 'unexpected argument "now"', 'mesh status'],
    [['--token', 'x', 'api'], 2, 'unexpected argument "api"', 'Options follow the command: mesh api'],
    [
      ['api', '--config', 'net.yaml', '--state-dir', '/proc/mesh/state'],
      1,
      'cannot make the folder',
      'ENOENT',
    ],
    [
      ['api', '--config', 'net.yaml', '--state-dir', '/dev/null/state'],
      1,
      'cannot make the folder',
      "mkdir '/dev/null'",
    ],
    [
      ['api', '--config', 'net.yaml', '--state-dir', 'here', '--ledger-state', '/proc/mesh'],
      1,
      '--ledger-state',
      '/proc/mesh',
    ],
    [['-b'], 2, '-b', 'only together with'],
    [
      ['-g', '--config', 'net.yaml'],
      2,
      '--config: contradicts -g',
      '-g makes a new network, --config names one',
    ],
    [
      ['--token=x', '--generate', '--address', '10.1.0.2/24'],
      2,
      '--token: contradicts --generate',
      '--address: contradicts',
    ],
    [
      ['api', '--log-level', 'info,nothing=debug'],
      2,
      'in place of "nothing"',
      'ledger, p2p, p2p/bulk, p2p/channels',
    ],
    [['api', '--log-level', 'ledgr=debug'], 2, 'did you mean ledger?', 'replication'],
    [['api', '--log-level', 'loud'], 2, '--log-level: expected debug, info', 'got "loud"'],
    [['api', '--lisen=:1'], 2, '--lisen', 'did you mean --listen?'],
    [['status'], 5, 'no node is running here', 'mesh api'],
    [['status', '--api-url', 'http://127.0.0.1:1'], 5, '[client.unreachable]', 'Start the node'],
  ] as const)('%j ends with %d and says %j', async (args, code, ...texts) => {
    writeFileSync(join(mesh.folder, 'net.yaml'), CONFIG)
    const result = await mesh.run(args)
    expect(result.code).toBe(code)
    expect(result.stdout).toBe('')
    for (const text of texts) expect(result.stderr).toContain(text)
    expect(result.stderr).not.toContain('    at ')
  })

  test('a cache that cannot be made costs nothing but time', async () => {
    const environment = { XDG_CACHE_HOME: '/proc/mesh', NODE_COMPILE_CACHE: '' }
    expect(await mesh.run(['version'], { environment })).toMatchObject({ code: 0, stderr: '' })
  })

  test('help begins with the five commands that people begin with, on one screen', async () => {
    const { stdout } = await mesh.run(['help'])
    expect((await mesh.run(['--help'])).stdout).toBe(stdout)
    expect(stdout.split('\n').length).toBeLessThan(24)
    for (const begin of ['mesh -g -b', 'mesh --token-file', 'mesh api', 'mesh status', 'mesh ping']) {
      expect(stdout).toMatch(new RegExp(`^  (sudo )?${begin}`, 'm'))
    }
    for (const more of ['completion', 'mesh help COMMAND', 'mesh help --all']) expect(stdout).toContain(more)
    const all = (await mesh.run(['help', '--all'])).stdout
    for (const option of ['--static-peertable', '--relay-service-max-data']) {
      expect(stdout).not.toContain(option)
      expect(all).toContain(option)
    }
    expect((await mesh.run(['--help', '--all'])).stdout).toBe(all)
  })

  test('help is for every command, and fits a terminal', async () => {
    for (const args of [
      ['help', '--all'],
      ['api', '--help'],
      ['help', 'ledger', 'put'],
      ['ledger', '--help'],
    ]) {
      const { code, stdout, stderr } = await mesh.run(args)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(112)
    }
    expect((await mesh.run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(await mesh.run(['version'])).toEqual(await mesh.run(['--version']))
  })
})

describe('with a node', () => {
  let mesh: Mesh
  let node: NodeProcess
  beforeAll(async () => {
    mesh = createMesh()
    node = await mesh.start({ token: makeToken() })
  })
  afterAll(() => mesh.cleanUp())
  const ask = (args: readonly string[], input?: string) =>
    mesh.run([...args, `--state-dir=${node.stateDir}`], input === undefined ? {} : { input })

  test('writes, reads, lists and deletes through the control socket, without being told where', async () => {
    expect(await ask(['ledger', 'put', 'notes', 'a/b', 'hello'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^committed in block \d+\n$/) as string,
    })
    expect((await ask(['ledger', 'get', 'notes', 'a/b'])).stdout).toBe('hello\n')
    expect((await ask(['ledger', 'get', 'notes', 'a/b', '--json'])).stdout).toBe('"hello"\n')
    const big = '{"n":1795228706793270807,"list":[1,2]}'
    await ask(['ledger', 'put', 'notes', 'object', '-', '--json'], big)
    expect((await ask(['ledger', 'get', 'notes', 'object'])).stdout).toContain('1795228706793270807')
    expect((await ask(['ledger', 'list'])).stdout).toMatch(/^notes +2$/m)
    expect((await ask(['ledger', 'list', 'notes'])).stdout).toBe('a/b\nobject\n')
    expect((await ask(['ledger', 'delete', 'notes', 'a/b'])).code).toBe(0)
    expect(await ask(['ledger', 'get', 'notes', 'a/b'])).toMatchObject({ code: 3, stdout: '' })
    expect((await ask(['ledger', 'delete', 'notes', '--json'])).stdout).toContain('"State": "Committed"')
    expect((await ask(['ledger', 'get', 'notes'])).stdout).toBe('KEY  VALUE\n')
  })

  test('a delete of what nobody holds says so', async () => {
    expect(await ask(['ledger', 'delete', 'notes', 'never'])).toMatchObject({
      code: 0,
      stdout: 'nothing to delete: notes has no key never\n',
    })
    expect(await ask(['ledger', 'delete', 'nothing'])).toMatchObject({
      code: 0,
      stdout: 'nothing to delete: nothing is empty\n',
    })
    const json = await ask(['ledger', 'delete', 'notes', 'never', '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({ State: 'Committed', Absent: true })
  })

  test('its own heartbeat is the business of the node', async () => {
    const own = ['healthcheck', node.id]
    expect(await ask(['ledger', 'put', ...own, 'notatime'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('RFC 3339') as string,
    })
    expect(await ask(['ledger', 'delete', ...own])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('[ledger.written_by_node]') as string,
    })
    const beats = async () =>
      expect((await ask(['ledger', 'get', ...own])).stdout).toMatch(/^\d{4}-\d\d-\d\dT/)
    await eventually(beats, { withinMs: 20_000 })
  })

  test('a write that is not ours to make ends with its own code', async () => {
    const refused = await ask(['ledger', 'put', 'machines', '10.1.0.9', '{"PeerID":"someone"}', '--json'])
    expect(refused.code).toBe(4)
    expect(refused.stderr).toContain('[ledger.not_owner]')
  })

  test('bad JSON is refused before anything is asked', async () => {
    const refused = await ask(['ledger', 'put', 'notes', 'x', '{', '--json'])
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('VALUE is not JSON')
  })

  test('status is for people, and for programs', async () => {
    const { code, stdout } = await ask(['status'])
    expect(code).toBe(0)
    const [first, second, third, fourth] = stdout.split('\n')
    expect(first).toMatch(new RegExp(`^node {6}[A-Za-z0-9-]+ \\(${node.id}\\)$`))
    expect(second).toMatch(/^network {3}[0-9a-f]{20}, instance node$/)
    expect(third).toBe(`api       ${node.url}`)
    expect(fourth).toMatch(/^running {3}for \d+ (s|min).*, since 20.*, mesh \d/)
    const json = JSON.parse((await ask(['status', '--json'])).stdout) as { Summary: { NodeID: string } }
    expect(json.Summary.NodeID).toBe(node.id)
  })

  test('away from a terminal every line that a node prints is JSON', async () => {
    const stateDir = mesh.makeFolder()
    const { child, lines } = spawnMesh([
      'api',
      '--token',
      makeToken(),
      `--state-dir=${stateDir}`,
      ...LOOPBACK_ARGS,
      '--listen=127.0.0.1:0',
    ])
    await eventually(() => expect(lines.join('\n')).toContain('all transports listening'), {
      withinMs: 30_000,
    })
    child.kill('SIGTERM')
    await new Promise((resolve) => child.once('close', resolve))
    const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    for (const line of parsed) {
      expect(line).toMatchObject({
        time: expect.any(String) as string,
        level: 'info',
        message: expect.any(String) as string,
      })
    }
    expect(parsed).toContainEqual(
      expect.objectContaining({
        message: 'api and web page',
        url: expect.stringMatching(/^http:/) as string,
      }),
    )
  })

  test('an error of the node is told in the words of the command line', async () => {
    const absent = await ask(['ledger', 'get', 'notes', 'nothing'])
    expect(absent.stderr).toContain('`mesh ledger list BUCKET`')
    const answer = await fetch(`${node.url}/api/ledger/notes/nothing`)
    expect(await answer.json()).toMatchObject({ Hint: expect.stringContaining('GET the bucket') as string })
    const unknown = await ask(['ping', 'nobody'])
    expect(unknown).toMatchObject({ code: 3, stdout: '' })
    expect(unknown.stderr).toContain('`mesh status` lists the peers')
    expect(unknown.stderr).not.toContain('GET ')
  })

  test('a node without a VPN is pinged, and pings, by its peer id', async () => {
    const token = makeToken()
    const first = await mesh.start({ token, command: 'start' })
    const second = await mesh.start({
      token,
      command: 'start',
      args: [`--discovery-bootstrap-peers=${first.addresses[0]}`],
    })
    const ping = (...args: string[]) => mesh.run(['ping', `--state-dir=${second.stateDir}`, ...args])
    await eventually(async () => {
      expect(await second.client.listPeers()).toContainEqual(
        expect.objectContaining({ ID: first.id, Member: true }),
      )
    })
    const { code, stdout } = await ping(first.id, '--count=2')
    expect(code).toBe(0)
    expect(stdout.trim().split('\n')).toEqual(
      Array.from(
        { length: 2 },
        () => expect.stringMatching(/by direct tcp: \d+\.\d ms, over libp2p$/) as string,
      ),
    )
    expect(JSON.parse((await ping(first.id, '--count=1', '--json')).stdout)).toMatchObject({
      PeerID: first.id,
      Member: true,
      Path: 'direct',
    })
    expect((await ping(second.id)).stderr).toContain('is this node itself')
    await first.stop()
    const gone = await ping(first.id, '--count=1')
    expect(gone).toMatchObject({ code: 1, stdout: '' })
    expect(gone.stderr).toContain('no answer from')
    await second.stop()
  })

  test('asks another address when told so', async () => {
    const { stdout } = await mesh.run(['status', '--json', '--api-url', node.url])
    expect(stdout).toContain(node.id)
  })

  test('of several nodes it asks which one', async () => {
    const second = await mesh.start({
      token: makeToken(),
      stateDir: node.stateDir,
      args: ['--instance=second'],
    })
    const third = await mesh.start({
      token: makeToken(),
      stateDir: node.stateDir,
      args: ['--instance=third'],
    })
    expect((await ask(['status', '--instance', 'second', '--json'])).stdout).toContain(second.id)
    // the instance that has the usual name comes first
    expect((await ask(['status', '--json'])).stdout).toContain(node.id)
    const refused = await ask(['status', '--instance', 'fourth'])
    expect(refused.code).toBe(5)
    await second.stop()
    await third.stop()
  })
})

/** A process of its own, without any option that says how it prints. */
function spawnMesh(args: readonly string[]) {
  const [file, ...words] = commandWords()
  const child = spawn(file, [...words, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => lines.push(line))
  }
  return { child, lines }
}
