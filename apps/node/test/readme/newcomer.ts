/**
 * A person at a fresh machine: a clean clone of what is committed, a home of their own, and a PATH with what the machine
 * has but pnpm, and cargo only where it is asked for. Commands run as they stand, in a shell, in the clone. What stays
 * the machine's: how it reaches registries, and their caches, so that a test need not load everything anew.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  constants,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { systemClock } from '@mesh/core'
import { eventually } from '@mesh/testkit'

export interface Newcomer {
  /** Holds the clone and the homes. */
  readonly folder: string
  /** The clone. */
  readonly checkout: string
  /** Another machine's checkout of the same: a copy with all that was installed and built, without tokens. */
  copyCheckout(name: string): void
  /** A shell of this person; `prefix` are the words of a namespace, `home` is a name. */
  shell(options: ShellOptions): Shell
  /** Ends what still runs. */
  endAll(): Promise<void>
  /** Ends what still runs and removes the folder. */
  close(): Promise<void>
}

interface ShellOptions {
  readonly hasCargo: boolean
  readonly home: string
  /** Where commands run, where it is not the clone itself: a copy's name, or that of the home. */
  readonly checkout?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly prefix?: readonly string[]
  /** Programs that this machine lacks, as scripts for `sh`. */
  readonly standIns?: Readonly<Record<string, string>>
}

export interface Shell {
  /** To the end, as a person waits for it. */
  run(command: string, options?: { readonly withinMs?: number }): Promise<Ended>
  /** Until a line tells that it is up; it goes on. @throws with all it said when it ends before */
  start(command: string, until: RegExp, options?: { readonly withinMs?: number }): Promise<Running>
}

export interface Ended {
  readonly command: string
  readonly code: number | null
  /** Both streams, as on a terminal. */
  readonly output: string
}

export interface Running {
  /** What `until` matched. */
  readonly match: RegExpExecArray
  output(): string
  /** Ctrl-C. */
  interrupt(): Promise<Ended>
}

const ROOT = join(import.meta.dirname, '../../../..')
/** Never on the PATH of a newcomer: pnpm's own names, and whatever would bring it. */
const NOT_THERE = new Set(['pnpm', 'pnpx', 'pn', 'pnx', 'yarn', 'corepack', 'mesh'])
const RUST = new Set(['cargo', 'rustc', 'rustup'])
const RUN_WITHIN_MS = 60_000
const START_WITHIN_MS = 60_000

/** Undefined when a clone can be made here, else the reason why not. */
export function whyNoClone(): string | undefined {
  const { status } = git(['rev-parse', '--verify', 'HEAD'], ROOT)
  return status === 0 ? undefined : 'this is no git checkout'
}

export function hasCargo(): boolean {
  return spawnSync('cargo', ['--version']).status === 0
}

/** @param has a clone, or nothing but homes */
export function createNewcomer(has: 'clone' | 'homes' = 'clone'): Newcomer {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-newcomer-'))
  const checkout = join(folder, 'mesh')
  const children = new Set<ChildProcess>()
  if (has === 'clone') {
    const { status, stderr } = git(['clone', '--quiet', ROOT, checkout], folder)
    if (status !== 0) throw new Error(`git clone: ${stderr}`)
  }
  const endAll = async () => {
    await Promise.all([...children].map((child) => endGroup(child, 'SIGKILL')))
  }
  return {
    folder,
    checkout,
    shell(options) {
      const home = join(folder, options.home)
      mkdirSync(home, { recursive: true })
      const env = environmentOf(folder, home, options)
      const cwd = options.checkout === undefined ? checkout : join(folder, options.checkout)
      return createShell({ cwd, env, prefix: options.prefix ?? [] }, children)
    },
    copyCheckout(name) {
      // links in place of copies: nothing writes into files that are installed
      const copied = spawnSync('cp', ['-al', checkout, join(folder, name)], { encoding: 'utf8' })
      if (copied.status !== 0) throw new Error(`cp: ${copied.stderr}`)
      const secrets = globSync(['*.token', '.mesh'], { cwd: join(folder, name) })
      for (const secret of secrets) rmSync(join(folder, name, secret), { recursive: true })
    },
    endAll,
    async close() {
      await endAll()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** What the machine says of its network, and the caches of its package managers. */
function environmentOf(folder: string, home: string, options: ShellOptions): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) =>
    /^(LANG|TERM|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|npm_config_registry)$/i.test(
      name,
    ),
  )
  const cargo = options.hasCargo
    ? {
        CARGO_HOME: process.env['CARGO_HOME'] ?? join(homedir(), '.cargo'),
        RUSTUP_HOME: process.env['RUSTUP_HOME'] ?? join(homedir(), '.rustup'),
      }
    : {}
  return {
    ...Object.fromEntries(kept),
    ...cachesOfThisMachine(),
    ...cargo,
    PATH: makePath(mkdtempSync(join(folder, 'bin-')), options),
    HOME: home,
    // as on the terminal that a person sits at
    MESHLOGFORMAT: 'human',
    ...options.environment,
  }
}

let caches: Readonly<Record<string, string>> | undefined

function cachesOfThisMachine(): Readonly<Record<string, string>> {
  if (caches !== undefined) return caches
  const npm = (key: string) => spawnSync('npm', ['config', 'get', key], { encoding: 'utf8' }).stdout?.trim()
  const store = spawnSync('pnpm', ['store', 'path', '--silent'], {
    cwd: ROOT,
    encoding: 'utf8',
  }).stdout?.trim()
  const known = {
    npm_config_cache: npm('cache'),
    npm_config_userconfig: npm('userconfig'),
    // pnpm adds its version to the folder
    pnpm_config_store_dir: store?.replace(/\/v\d+$/, ''),
  }
  caches = Object.fromEntries(
    Object.entries(known).filter(([, value]) => value !== undefined && value !== ''),
  ) as Record<string, string>
  return caches
}

/** One folder with links to all programs that the person has. */
function makePath(bin: string, { hasCargo: withCargo, standIns = {} }: ShellOptions): string {
  for (const [name, script] of Object.entries(standIns)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  const folders = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((each) => !each.includes('node_modules'))
  const taken = new Set(Object.keys(standIns))
  for (const folder of folders) {
    for (const name of listPrograms(folder)) {
      if (taken.has(name) || NOT_THERE.has(name) || (!withCargo && RUST.has(name))) continue
      taken.add(name)
      symlinkSync(join(folder, name), join(bin, name))
    }
  }
  return bin
}

function listPrograms(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => isProgram(join(folder, name)))
  } catch {
    return []
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

interface Place {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly prefix: readonly string[]
}

function createShell({ cwd, env, prefix }: Place, children: Set<ChildProcess>): Shell {
  const begin = (command: string) => {
    const [file, ...words] = [...prefix, 'sh', '-c', command]
    // a process group of its own, as a shell makes for each command: Ctrl-C reaches all of it
    const child = spawn(file, words, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    children.add(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part: Buffer) => (output += String(part)))
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => {
        children.delete(child)
        resolve({ command, code, output })
      })
    })
    return { child, ended, output: () => output }
  }
  return {
    async run(command, { withinMs = RUN_WITHIN_MS } = {}) {
      const { child, ended, output } = begin(command)
      const cancel = systemClock.after(withinMs, () => void endGroup(child, 'SIGKILL'))
      const outcome = await ended
      cancel()
      if (outcome.code === null) throw new Error(`${command} did not end within ${withinMs} ms:\n${output()}`)
      return outcome
    },
    async start(command, until, { withinMs = START_WITHIN_MS } = {}) {
      const { child, ended, output } = begin(command)
      const failed = ended.then(({ code }) => {
        throw new Error(`${command} ended with ${code}:\n${output()}`)
      })
      failed.catch(() => {})
      const told = eventually(
        () => {
          const found = until.exec(output())
          if (found !== null) return found
          throw new Error(`${command} did not say ${String(until)}:\n${output()}`)
        },
        { withinMs, everyMs: 50 },
      )
      const match = await Promise.race([told, failed])
      return {
        match,
        output,
        async interrupt() {
          await endGroup(child, 'SIGINT')
          return ended
        },
      }
    },
  }
}

/** Signals the whole group that was started here, and waits for its first process. */
async function endGroup(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  process.kill(-child.pid, signal)
  await gone
}

function git(args: readonly string[], cwd: string) {
  // whoever runs the tests may not be who owns the checkout
  return spawnSync('git', ['-c', 'safe.directory=*', ...args], { cwd, encoding: 'utf8' })
}
