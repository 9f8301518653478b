import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { optionNames, optionOf, optionsOf } from '../settings/options.ts'
import { allCommands, commands } from './commands.ts'
import { formatTable } from './format-table.ts'
import { formatHelp } from './help.ts'
import { runCommandLine } from './run-command-line.ts'

let home = ''
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'mesh-cli-'))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

async function run(...args: string[]) {
  let [out, notes] = ['', '']
  const code = await runCommandLine(args, {
    surroundings: { environment: { HOME: home }, workingDirectory: home },
    isTerminal: false,
    isErrorTerminal: false,
    out: (text) => (out += text),
    note: (line) => (notes += `${line}\n`),
    readInput: () => Promise.resolve(''),
  })
  return { code, out, notes }
}

describe('completion', () => {
  test('bash takes the script, and completes commands, flags and choices', async () => {
    const { code, out } = await run('completion', 'bash')
    expect(code).toBe(0)
    const complete = (...words: string[]) => {
      const line = words.map((word) => `'${word}'`).join(' ')
      const script = `${out}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _mesh; printf '%s\\n' "\${COMPREPLY[@]}"`
      const { stdout, stderr, status } = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      return stdout.trim().split('\n')
    }
    expect(complete('mesh', 'st')).toEqual(['start', 'status'])
    expect(complete('mesh', 'ledger', 'p')).toEqual(['put'])
    expect(complete('mesh', 'api', '--own')).toEqual(['--ownership', '--ownership-ttl'])
    expect(complete('mesh', 'api', '--ownership', '')).toEqual(['enforce', 'observe', 'off'])
    expect(complete('mesh', 'ledger', 'put', '--wa')).toEqual(['--wait'])
    expect(complete('mesh', '--gen')).toEqual(['--generate'])
  })

  test.each(['zsh', 'fish'])('%s has every command', async (shell) => {
    const { code, out } = await run('completion', shell)
    expect(code).toBe(0)
    for (const { name } of commands) expect(out).toContain(name.split(' ').at(-1))
  })

  test('another shell is refused with those that are known', async () => {
    expect(await run('completion', 'tcsh')).toMatchObject({
      code: 2,
      notes: expect.stringContaining('bash, zsh, fish') as string,
    })
  })
})

test.each(allCommands.map((command) => [command.name, command] as const))(
  'help of `mesh %s` names each of its options',
  (name, command) => {
    const help = formatHelp(command)
    for (const option of optionsOf(name)) {
      const flag = option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      expect(help).toMatch(new RegExp(`--(\\[no-\\])?${flag}\\b`))
    }
  },
)

test('every option belongs to commands that exist', () => {
  const names = new Set(allCommands.map(({ name }) => name))
  for (const name of optionNames) {
    for (const taker of optionOf(name).commands) expect(names).toContain(taker)
  }
})

test('a table cannot be broken by what it shows', () => {
  expect(formatTable(['A', 'B'], [['x\ny', '\u001B[31m']])).toBe('A         B\nx\\u000ay  \\u001b[31m\n')
})

test('an unexpected error is a defect, said so without a stack', async () => {
  const { code, notes } = await run('ledger', 'get', '--api-url', 'http://[', 'b')
  expect(code).not.toBe(0)
  expect(notes).not.toContain('    at ')
})
