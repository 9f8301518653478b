import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

function run(tool: string, ...args: readonly string[]) {
  const file = join(import.meta.dirname, '..', tool, 'main.ts')
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--conditions=mesh-source', file, ...args],
    { encoding: 'utf8' },
  )
  return { status, stdout, stderr }
}

test.each(['attack', 'soak', 'fuzz', 'bench'])('npm run %s -- --help says how it is used', (tool) => {
  expect(run(tool, '--help')).toEqual({
    status: 0,
    stdout: expect.stringContaining(`npm run ${tool} -- `),
    stderr: '',
  })
})

test.each([
  ['attack', ['--secondz', '3'], "Unknown option '--secondz'"],
  ['attack', ['--seconds', 'three'], '--seconds takes a number of at least 1, and not "three"'],
] as const)('npm run %s -- %j is refused with what is wrong, and without a stack', (tool, args, words) => {
  const { status, stderr } = run(tool, ...args)
  expect(status).toBe(2)
  expect(stderr).toContain(words)
  expect(stderr).not.toContain('    at ')
})
