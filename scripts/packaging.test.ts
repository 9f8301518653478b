/** The dashboard and the alert rules name only metrics that a node has. */
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
