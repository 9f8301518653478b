/** What a real node tells of itself over its API: its log, its examination and its settings. */
import { join } from 'node:path'
import { createNodeClient } from '@mesh/api-client/node'
import { eventually } from '@mesh/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMesh, makeToken, type NodeProcess } from './harness.ts'

const mesh = createMesh()
const token = makeToken()
let node: NodeProcess
beforeAll(async () => {
  node = await mesh.start({
    token,
    args: ['--log-level=info,api=debug', '--api-cors=https://a.example,https://b.example'],
  })
}, 60_000)
afterAll(() => mesh.cleanUp())

test('the last lines of the log are served, those since the last question, and without the token', async () => {
  const { Lines, Next } = await node.client.readLog()
  expect(Lines.map(({ Sequence }) => Sequence)).toEqual(Lines.map((_, at) => at + 1))
  expect(Next).toBe(Lines.length)
  const listening = Lines.find(({ Text }) => Text.startsWith('listening on'))
  expect(listening).toMatchObject({
    Level: 'info',
    Text: expect.stringMatching(/^listening on \d+ address(es)?$/),
  })
  expect(Lines.find(({ Subsystem }) => Subsystem === 'api')).toMatchObject({ Level: 'debug' })
  expect(Lines.every(({ Time }) => Math.abs(Date.parse(Time) - Date.now()) < 300_000)).toBe(true)
  expect(JSON.stringify(Lines)).not.toContain(token)
  await mesh.start({ token, args: [`--discovery-bootstrap-peers=${node.addresses[0]}`] })
  const found = await eventually(
    async () => {
      const { Lines: since } = await node.client.readLog({ after: String(Next) })
      expect(since.every(({ Sequence }) => Sequence > Next)).toBe(true)
      const line = since.find(({ Text }) => Text.startsWith('found 1 member'))
      if (line === undefined) throw new Error('no member found yet')
      return line
    },
    { withinMs: 30_000 },
  )
  expect((await node.client.readLog({ after: String(found.Sequence - 1) })).Lines[0]).toEqual(found)
}, 60_000)

test('the node examines itself as `mesh doctor` does, once for all who ask', async () => {
  const [checks, same] = await Promise.all([node.client.runDoctor(), node.control.runDoctor()])
  expect(same).toEqual(checks)
  const ran = await mesh.run(['doctor', '--json', `--state-dir=${node.stateDir}`], {
    environment: { MESHTOKEN: token },
  })
  const told = JSON.parse(ran.stdout) as { readonly Check: string; readonly Verdict: string }[]
  expect(checks.map(({ Name }) => Name)).toEqual(told.map(({ Check }) => Check))
  for (const name of ['token', 'state', 'own ports', 'health', 'peers', 'versions']) {
    expect(checks.find(({ Name }) => Name === name)?.Verdict).toBe(
      told.find(({ Check }) => Check === name)?.Verdict,
    )
  }
  expect(checks.find(({ Name }) => Name === 'token')).toMatchObject({
    Verdict: 'ok',
    Found: expect.stringContaining((await node.client.getNode()).Network) as string,
    Next: null,
  })
  const nat = checks.find(({ Name }) => Name === 'nat')
  expect(nat).toMatchObject({ Verdict: 'warn', Next: expect.stringContaining('--natmap') as string })
}, 60_000)

test('settings are told with where they came from, and secrets are masked', async () => {
  const settings = await node.client.listSettings()
  const of = (name: string) => settings.find(({ Name }) => Name === name)
  expect(of('token')).toMatchObject({
    Group: 'Network',
    Value: `*** (${token.length} characters)`,
    Source: 'environment',
    Place: 'MESHTOKEN',
  })
  expect(of('log-level')).toMatchObject({ Group: 'Output', Value: 'info,api=debug', Source: 'flag' })
  expect(of('api-cors')?.Value).toBe('https://a.example, https://b.example')
  expect(of('state-dir')).toMatchObject({ Value: node.stateDir, Place: '--state-dir' })
  expect(of('dht')).toMatchObject({ Value: 'off', Source: 'flag' })
  expect(of('ledger-state')?.Value).toBe(join(node.controlSocket, '..'))
  expect(of('config')).toMatchObject({ Value: '', Source: 'default' })
  expect(JSON.stringify(settings)).not.toContain(token)
  const shown = await mesh.run(['config', '--json', `--state-dir=${node.stateDir}`], {
    environment: { MESHTOKEN: token },
  })
  const { options } = JSON.parse(shown.stdout) as { readonly options: { readonly name: string }[] }
  const names = options.map(({ name }) => name)
  // those of the VPN count for no node that runs none
  expect(settings.map(({ Name }) => Name)).toEqual(names.filter((name) => of(name) !== undefined))
  expect([of('mtu'), of('json'), of('listen')?.Place]).toEqual([undefined, undefined, '--listen'])
}, 60_000)

test('a token that is no administrator reads none of it', async () => {
  const file = join(mesh.makeFolder(), 'tokens')
  const { stdout } = await mesh.run([
    'api-token',
    'create',
    'look',
    '--level=read',
    `--api-token-file=${file}`,
  ])
  const guarded = await mesh.start({ token: makeToken(), args: [`--api-token-file=${file}`] })
  const reader = createNodeClient({ baseUrl: guarded.url, token: stdout.trim() })
  expect((await reader.getNode()).PeerID).toBe(guarded.id)
  await guarded.control.putText({ bucket: 'notes', key: 'k', value: '1', wait: '10s' })
  const { Blocks } = await reader.listBlocks()
  expect(Blocks.length).toBeGreaterThan(0)
  for (const ask of [() => reader.readLog(), () => reader.runDoctor(), () => reader.listSettings()]) {
    await expect(ask()).rejects.toMatchObject({ status: 403 })
  }
  expect((await guarded.control.readLog()).Lines.length).toBeGreaterThan(0)
}, 60_000)
