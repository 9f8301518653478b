/** The long tools, interrupted: whatever they had started is gone when they are. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually, whyNoNamespaces } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { createCleanUps } from '../../apps/node/test/suite.ts'

const TOOLS_FOLDER = join(import.meta.dirname, '..')
const SOON = { withinMs: 60_000, everyMs: 50 }
const hasNamespaces = whyNoNamespaces() === undefined
const cleanUps = createCleanUps()

/** Starts processes of processes, a namespace and a folder, as tools do, and says so. */
const PROGRAM = `
  import { spawn } from 'node:child_process'
  import { createLab } from '@mesh/testkit'
  import { createMesh } from '../apps/node/test/harness.ts'
  import { cleanUpWhenInterrupted } from './interruption.ts'
  cleanUpWhenInterrupted()
  const { folder } = createMesh()
  const lab = ${hasNamespaces} ? createLab(['a']) : undefined
  const child = spawn('sh', ['-c', 'trap "" TERM INT; sleep 600 & sleep 600'], { stdio: 'ignore' })
  console.log(JSON.stringify({ folder, namespace: lab?.name('a'), pid: child.pid }))
`

function run(args: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-'))
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }))
  const child = spawn(process.execPath, ['--conditions=mesh-source', ...args], {
    cwd: TOOLS_FOLDER,
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  cleanUps.push(() => child.kill('SIGKILL'))
  let out = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (out += text))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, folder, ended, out: () => out }
}

test('a tool that is interrupted ends what it started, and says by which signal', async () => {
  const { child, folder, ended, out } = run(['--input-type=module', '-e', PROGRAM])
  const started = await eventually(
    () => JSON.parse(out()) as { readonly folder: string; readonly namespace?: string; readonly pid: number },
    SOON,
  )
  expect(started.folder.startsWith(folder)).toBe(true)
  child.kill('SIGTERM')
  expect(await ended).toBe(143)
  expect(readdirSync(folder)).toEqual([])
  expect(isRunning(started.pid)).toBe(false)
  const { stdout } = spawnSync('ip', ['netns', 'list'], { encoding: 'utf8' })
  expect(stdout).not.toContain(started.namespace ?? 'no namespace was made')
})

test('an attack that is interrupted leaves no node behind', async () => {
  const { child, folder, ended } = run(['attack/main.ts', 'calm'])
  const nodes = await eventually(() => {
    const found = childrenOf(child.pid ?? 0)
    if (found.length === 0) throw new Error('no node yet')
    return found
  }, SOON)
  child.kill('SIGINT')
  expect(await ended).toBe(130)
  expect(nodes.filter(isRunning)).toEqual([])
  expect(readdirSync(folder)).toEqual([])
})

function childrenOf(pid: number): readonly number[] {
  const { stdout } = spawnSync('cat', [`/proc/${pid}/task/${pid}/children`], { encoding: 'utf8' })
  return (stdout ?? '').split(' ').filter(Boolean).map(Number)
}

/** False for one that has ended, though nobody waited for it: a machine's first process may not. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return !/\) [ZX] /.test(stat)
  } catch {
    return false
  }
}
