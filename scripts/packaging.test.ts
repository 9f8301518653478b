/** What stands in packaging/: metrics that a node has, scripts and templates that their programs read, one version. */
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const DASHBOARD = 'packaging/grafana/mesh.json'
const RULES = 'packaging/prometheus/mesh.rules.yml'

const known = new Set(
  globSync(
    [
      'packages/api-server/src/views/{own-metrics,request-counts}.ts',
      'apps/node/src/{metrics,access}/*.ts',
      'packages/*/src/**/*metrics*.ts',
    ],
    { cwd: root },
  ).flatMap((file) => read(file).match(/\b(mesh|process)_[a-z_]+\b/g) ?? []),
)

test.each([DASHBOARD, RULES])('%s names metrics that are there', (file) => {
  const named = new Set(read(file).match(/\b(mesh|process)_[a-z_]+\b/g))
  expect(named.size).toBeGreaterThan(5)
  expect([...named].filter((name) => !known.has(name))).toEqual([])
})

test('panels of the dashboard have ids and places of their own', () => {
  const { panels } = JSON.parse(read(DASHBOARD)) as {
    panels: { id: number; gridPos: { x: number; y: number } }[]
  }
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size).toBe(panels.length)
})

test('promtool takes the rules', (context) => {
  const { error, status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', join(root, RULES)], {
    encoding: 'utf8',
  })
  if (error !== undefined) return context.skip('promtool is not on this machine')
  expect(`${status} ${stdout}${stderr}`).toContain('SUCCESS')
})

const version = (JSON.parse(read('apps/node/package.json')) as { version: string }).version

test.each([
  ['packaging/helm/mesh/Chart.yaml', `appVersion: ${version}\n`],
  ['packaging/nixos/module.nix', `version = "${version}";`],
])('%s has the version of the node', (file, line) => {
  expect(read(file)).toContain(line)
})

const SCRIPTS = globSync(
  ['packaging/{container,debian}/*.sh', 'packaging/debian/{config,p*st*,prerm}', 'packaging/openwrt/*.init'],
  { cwd: root },
)

test.each(SCRIPTS)('%s is read by a shell', (file) => {
  expect(spawnSync('sh', ['-n', join(root, file)], { encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: '',
  })
})

test('nix reads the module', (context) => {
  const file = join(root, 'packaging/nixos/module.nix')
  const { error, status, stderr } = spawnSync('nix-instantiate', ['--parse', file], { encoding: 'utf8' })
  if (error !== undefined) return context.skip('nix-instantiate is not on this machine')
  expect(`${status} ${stderr.replace(/^warning.*$/gm, '').trim()}`).toBe('0 ')
})

test('helm renders a node for each machine, and one for the API that needs no capability', (context) => {
  const chart = join(root, 'packaging/helm/mesh')
  const { error, status, stdout, stderr } = spawnSync('helm', ['template', 'test', chart], {
    encoding: 'utf8',
  })
  if (error !== undefined) return context.skip('helm is not on this machine')
  expect(`${status} ${stderr}`).toBe('0 ')
  const [api = '', , vpn = ''] = ['Deployment', 'Service', 'DaemonSet'].map((kind) =>
    stdout.split('\n---\n').find((text) => text.includes(`\nkind: ${kind}\n`)),
  )
  expect(vpn).toContain('hostNetwork: true')
  expect(vpn).toContain('add: [NET_ADMIN')
  expect(api).toContain('runAsNonRoot: true')
  expect(api).not.toContain('NET_ADMIN')
})
