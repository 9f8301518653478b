/** The commands as a person calls them: what they print, where, and what they end with. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createMesh, makeToken, type Mesh, type NodeProcess } from './harness.ts'

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
    expect(token.stdout).toMatch(/^[A-Za-z0-9+/]+=*$/)

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
    [['-b'], 2, '-b', 'only together with'],
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

  test('help is for every command, and fits a terminal', async () => {
    for (const args of [['--help'], ['api', '--help'], ['help', 'ledger', 'put'], ['ledger', '--help']]) {
      const { code, stdout, stderr } = await mesh.run(args)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(112)
    }
    expect((await mesh.run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
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
    expect((await ask(['ledger', 'list'])).stdout).toContain('notes   2')
    expect((await ask(['ledger', 'list', 'notes'])).stdout).toBe('a/b\nobject\n')
    expect((await ask(['ledger', 'delete', 'notes', 'a/b'])).code).toBe(0)
    expect(await ask(['ledger', 'get', 'notes', 'a/b'])).toMatchObject({ code: 3, stdout: '' })
    expect((await ask(['ledger', 'delete', 'notes', '--json'])).stdout).toContain('"State": "Committed"')
    expect((await ask(['ledger', 'get', 'notes'])).stdout).toBe('KEY  VALUE\n')
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
    expect(stdout).toContain(`${node.id} (mesh `)
    const json = JSON.parse((await ask(['status', '--json'])).stdout) as { Summary: { NodeID: string } }
    expect(json.Summary.NodeID).toBe(node.id)
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
