/**
 * The commands of a document: each fenced block of a shell, line by line, in order; those of a machine (`sh laptop`) are
 * site.test.ts's, those of an installed package (`sh npm`) are published-node.test.ts's.
 */
import { readFileSync } from 'node:fs'

export interface CommandBlock {
  /** The last heading above it. */
  readonly heading: string
  /** The words behind the fence: `sh laptop stays`. */
  readonly language: string
  /** As a person types them: lines with a trailing backslash are joined; comments stay, the shell skips them. */
  readonly commands: readonly string[]
}

const SHELLS = new Set(['sh', 'bash', 'shell', 'console', 'zsh'])

/** @param isWanted by the words behind the fence; default: those of a shell alone */
export function readCommandBlocks(
  file: string,
  isWanted = (language: string) => SHELLS.has(language),
): readonly CommandBlock[] {
  const blocks: CommandBlock[] = []
  let heading = ''
  let fence: { readonly language: string; readonly lines: string[] } | undefined
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const opening = /^\s*```(.*)/.exec(line)
    if (fence === undefined) {
      if (opening !== null) fence = { language: opening[1] ?? '', lines: [] }
      else heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading
    } else if (opening === null) fence.lines.push(line)
    else {
      const { language, lines } = fence
      if (isWanted(language)) blocks.push({ heading, language, commands: commandsOf(lines) })
      fence = undefined
    }
  }
  return blocks
}

function commandsOf(lines: readonly string[]): readonly string[] {
  return lines
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}
