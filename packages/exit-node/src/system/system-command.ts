/** Runs `ip`, `nft`, `ss` and `resolvectl`, which say what they refuse on standard error. */
import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { MeshError } from '@mesh/core'
import { COMMAND_MS, MAX_OUTPUT_BYTES, RESOLVECTL_MS } from '../limits.ts'

type Program = 'ip' | 'nft' | 'resolvectl' | 'ss'

/** Why a command of the system failed. */
export class CommandFailure extends Error {
  /** The program is not installed. */
  readonly isMissing: boolean

  constructor(message: string, isMissing: boolean) {
    super(message)
    this.isMissing = isMissing
  }
}

/** @throws CommandFailure */
export function runSystem(program: Program, args: readonly string[], input?: string): string {
  try {
    return execFileSync(program, args, {
      encoding: 'utf8',
      timeout: program === 'resolvectl' ? RESOLVECTL_MS : COMMAND_MS,
      // the rules of a host of containers are long
      maxBuffer: MAX_OUTPUT_BYTES,
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(input !== undefined && { input }),
    })
  } catch (error) {
    const { code, stderr, message } = error as { code?: string; stderr?: string; message: string }
    const said = (stderr ?? '').trim().split('\n')[0] ?? ''
    throw new CommandFailure(said === '' ? message : said, code === 'ENOENT')
  }
}

/** The output; undefined when the command failed or is not there. */
export function trySystem(program: Program, args: readonly string[], input?: string): string | undefined {
  try {
    return runSystem(program, args, input)
  } catch {
    return undefined
  }
}

/** The output of `nft list ruleset`; '' where it cannot be had. */
export function readRuleset(): string {
  return trySystem('nft', ['list', 'ruleset']) ?? ''
}

/** The output, without holding this process up; undefined when the command failed or is not there. */
export async function lookSystem(
  program: 'ip' | 'nft',
  args: readonly string[],
): Promise<string | undefined> {
  try {
    const bounds = { timeout: COMMAND_MS, maxBuffer: MAX_OUTPUT_BYTES } as const
    const { stdout } = await promisify(execFile)(program, [...args], bounds)
    return stdout
  } catch {
    return undefined
  }
}

export function exitError(code: `exit.${string}`, message: string, hint: string, cause?: unknown): MeshError {
  return new MeshError(code, message, { hint, cause })
}
