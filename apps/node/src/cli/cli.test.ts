import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
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

const LEVELS = ['debug', 'info', 'warn', 'error', 'off']

/** Commands that run a node listen for these until the process ends. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const before = SIGNALS.map((signal) => process.listeners(signal))
afterEach(() => {
  for (const [at, signal] of SIGNALS.entries())
    for (const listener of process.listeners(signal))
      if (!before[at]?.includes(listener)) process.off(signal, listener)
})

async function run(...args: string[]) {
  let [out, notes] = ['', '']
  const code = await runCommandLine(args, {
    surroundings: { environment: { HOME: home }, workingDirectory: home },
    isTerminal: false,
    isErrorTerminal: false,
    out: (text) => (out += text),
    note: (line) => (notes += `${line}\n`),
    draw: () => {},
    readInput: () => Promise.resolve(''),
  })
  return { code, out, notes }
}

function isMissing(shell: string): boolean {
  return spawnSync(shell, ['--version']).error !== undefined
}

function whyMissing(shell: string): string {
  return isMissing(shell) ? ` (skipped: ${shell} is not installed)` : ''
}

test('every command that prints and ends does so as JSON, too', async () => {
  // these run a node, or print what is for shells and people
  const others = ['', 'api', 'start', 'proxy', 'completion', 'help']
  const without = allCommands.map(({ name }) => name).filter((name) => !optionsOf(name).includes('json'))
  expect(without.toSorted()).toEqual(others.toSorted())
  const json = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { code, out } = await run(...args, '--json')
    return { code, ...(JSON.parse(out) as object) }
  }
  expect(await json('version')).toEqual({ code: 0, Version: expect.stringMatching(/^\d+\.\d+/) })
  expect(Object.keys(await json('peergater', 'ecdsa-genkey'))).toEqual(['code', 'PrivateKey', 'PublicKey'])
  expect(Object.keys(await json('peergater', 'ecdsa-genkey', '--pubkey'))).toEqual(['code', 'PublicKey'])
  const { out: token } = await run('-g', '-b')
  writeFileSync(join(home, 'a.token'), token, { mode: 0o600 })
  const { Network, Token } = await json('token', 'show', '--token-file=a.token')
  expect([String(Network).length, Token]).toEqual([20, token.trim()])
  const made = await json('admin', 'init', '--token-file=a.token', `--state-dir=${home}`)
  expect(made).toEqual({
    code: 0,
    Administrator: expect.stringMatching(/^12D3/),
    KeyFile: join(home, String(Network), 'admin.key'),
    Token: expect.any(String),
  })
})

test('a setting of trust that is wrong ends with 2, like every other, before anything is joined', async () => {
  const { out: token } = await run('-g', '-b')
  writeFileSync(join(home, 'b.token'), token, { mode: 0o600 })
  const start = (...args: string[]) =>
    run('start', '--token-file=b.token', `--state-dir=${home}`, '--private', '--no-mdns', ...args)
  for (const auth of ['x', '{"rsa":{}}', '{"ecdsa":{"private_key":"x"}}']) {
    const { code, notes } = await start('--peerguard', `--peergate-auth=${auth}`)
    expect([auth, code, notes]).toEqual([auth, 2, expect.stringMatching(/\[trust\.bad_(auth|key)\]/)])
  }
  // a machine that was given the old token would else wait for ever
  const plain = await start('--invite=x')
  expect([plain.code, plain.notes]).toEqual([2, expect.stringContaining('names no administrators')])
  const { out: adminToken } = await run('admin', 'init', '--token-file=b.token', `--state-dir=${home}`)
  writeFileSync(join(home, 'b.token'), adminToken, { mode: 0o600 })
  expect(await start('--invite=x')).toMatchObject({
    code: 2,
    notes: expect.stringContaining('trust.bad_invite'),
  })
  expect((await start('--ownership=observe')).code).toBe(2)
})

test.each(['service-remove', 'file-remove'])(
  '%s asks the node that --api-url names, and no other',
  async (command) => {
    const { code, notes } = await run(command, 'web', '--api-url=http://127.0.0.1:9')
    expect([code, notes]).toEqual([5, expect.stringContaining('http://127.0.0.1:9')])
  },
)

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
    expect(complete('mesh', '--accept')).toEqual(['--accept-routes', '--accept-routes-from'])
    expect(complete('mesh', 'ping', '--c')).toEqual(['--config', '--count'])
    expect(complete('mesh', 'api', '--log-level', 'w')).toEqual(['warn'])
    expect(complete('mesh', 'api', '--log-level', 'info,vpn/k')).toEqual(
      LEVELS.map((level) => `info,vpn/keys=${level}`),
    )
    // bash hands over words that it split at =, and takes what follows the last one
    expect(complete('mesh', 'api', '--ownership', '=', 'o')).toEqual(['observe', 'off'])
    expect(complete('mesh', 'api', '--log-level', 'info,p2p', '=', 'd')).toEqual(['debug'])
    expect(complete('mesh', 'api', '--log-level', '=', 'info,p2p', '=')).toEqual(LEVELS)
    expect(complete('mesh', 'api', '--log-level', '=', 'inf')).toEqual(['info'])
  })

  test.each(['zsh', 'fish'])('%s has every command', async (shell) => {
    const { code, out } = await run('completion', shell)
    expect(code).toBe(0)
    for (const { name } of commands) expect(out).toContain(name.split(' ').at(-1))
  })

  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['mesh st', ['start', 'status']],
    ['mesh ledger p', ['put']],
    ['mesh api --ownership-', ['--ownership-ttl']],
    ['mesh completion f', ['fish']],
    ['mesh api --log-level wa', ['warn']],
    ['mesh api --log-level info,vpn/k', LEVELS.map((level) => `info,vpn/keys=${level}`)],
  ]

  // zsh itself takes from the offers those that begin with the word
  test.skipIf(isMissing('zsh')).each(['sourced', 'in $fpath'])(
    `zsh takes the script %s, and completes${whyMissing('zsh')}`,
    async (way) => {
      const { out } = await run('completion', 'zsh')
      writeFileSync(join(home, '_mesh'), out)
      const load = way === 'sourced' ? 'compinit -u -D; source $0/_mesh' : 'fpath=($0 $fpath); compinit -u -D'
      const script = `autoload -U compinit; ${load} || exit; compadd() { print -l -- "\${@:#-}" }
        for line; do print -- "== $line"; words=("\${(@s: :)line}"); CURRENT=$#words; eval \${_comps[mesh]}; done`
      const answers = ask('zsh', ['-f', '-c', script, home, ...cases.map(([line]) => line)])
      for (const [line, expected] of cases) {
        const from = answers.indexOf(`== ${line}`) + 1
        const next = answers.findIndex((answer, at) => at >= from && answer.startsWith('== '))
        const offered = answers.slice(from, next === -1 ? undefined : next)
        expect(offered.filter((word) => word.startsWith(line.split(' ').at(-1) ?? ''))).toEqual(expected)
      }
    },
  )

  test.skipIf(isMissing('fish'))(`fish takes the script, and completes${whyMissing('fish')}`, async () => {
    const { out } = await run('completion', 'fish')
    writeFileSync(join(home, 'mesh.fish'), out)
    for (const [line, expected] of cases) {
      const script = `source ${home}/mesh.fish; complete -C '${line}'`
      const offered = ask('fish', ['--no-config', '-c', script])
      expect(offered.map((word) => word.split('\t')[0])).toEqual(expected)
    }
  })

  function ask(shell: string, args: readonly string[]): readonly string[] {
    const environment = { PATH: process.env['PATH'], HOME: home }
    const { stdout, stderr, status } = spawnSync(shell, args, { encoding: 'utf8', env: environment })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    return stdout.trim().split('\n')
  }

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
    const help = formatHelp(command, allCommands)
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
