/** The one form in which an error reaches a person: what is wrong, in which field, and what to do next. */
import { MeshError } from '@mesh/core'
import { describeIssue } from '../settings/resolve-settings.ts'
import { printable } from './printable.ts'

/** Lines for a terminal, without a newline at the end. @param hint what to do next, the error's own unless given */
export function formatError(error: unknown, debug: boolean, hint = hintOfError(error)): string {
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
    if (!debug) lines.push('  This is a defect of mesh; --debug shows where it happened.')
  }
  const shown = lines.map((line) => line.split('\n').map(printable).join('\n'))
  if (debug && error instanceof Error && error.stack !== undefined) shown.push(error.stack)
  return shown.join('\n')
}

function hintOfError(error: unknown): string | undefined {
  return error instanceof MeshError ? error.hint : undefined
}
