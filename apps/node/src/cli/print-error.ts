/** The one form in which an error reaches a person: what is wrong, in which field, and what to do next. */
import { MeshError, printable } from '@mesh/core'
import { replaceCommand } from './called-as.ts'
import { describeIssue } from '../settings/resolve-settings.ts'

export interface ErrorFormat {
  readonly debug: boolean
  /** How the person calls `mesh`, for what the lines tell them to type. */
  readonly command?: string
  /** The next step; the error's own unless given. */
  readonly hint?: string | undefined
}

/** Lines for a terminal, without a newline at the end. */
export function formatError(
  error: unknown,
  { debug, command = 'mesh', hint = hintOfError(error) }: ErrorFormat,
): string {
  const lines: string[] = []
  if (error instanceof MeshError) {
    lines.push(`mesh: ${error.message} [${error.code}]`)
    for (const issue of error.issues) lines.push(`  ${describeIssue(issue)}`)
    const { cause, message } = error
    // a cause that says the same is no reason
    if (cause instanceof Error && !cause.message.includes(message)) lines.push(`  because: ${cause.message}`)
    if (hint !== undefined) lines.push(`  ${hint}`)
  } else {
    lines.push(`mesh: ${error instanceof Error ? error.message : String(error)} [node.unexpected]`)
    const hint = hintOfSystem(error) ?? 'This is a defect of mesh; --debug shows where it happened.'
    if (!debug) lines.push(`  ${hint}`)
  }
  const shown = lines.map((line) => replaceCommand(line, command).split('\n').map(printable).join('\n'))
  if (debug && error instanceof Error && error.stack !== undefined) shown.push(error.stack)
  return shown.join('\n')
}

/** The next step for what the machine has no more of, by the system's code. */
const SPENT: Readonly<Record<string, string>> = {
  EMFILE: 'Let more files be open: `ulimit -n 1024`, or LimitNOFILE= in a unit of systemd.',
  ENFILE: 'Too many files are open on this machine: fs.file-max of sysctl bounds them.',
  ENOSPC: 'The disk has no space, or no inodes, left (df -h, df -i).',
  EROFS: 'The disk is read-only.',
}

function hintOfSystem(error: unknown): string | undefined {
  return SPENT[String((error as NodeJS.ErrnoException | null)?.code)]
}

function hintOfError(error: unknown): string | undefined {
  return error instanceof MeshError ? error.hint : undefined
}
