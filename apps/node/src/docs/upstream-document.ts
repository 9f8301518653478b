/** docs/upstream/README.md: what p2p wraps of its libraries, from the heads of the files in `packages/p2p/src/upstream/LIBRARY/`. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = 'packages/p2p/src/upstream'
/** The tags of a head, behind the sentences that say what the file does. */
const TAGS = ['library', 'wraps', 'without', 'shown'] as const

type Head = Readonly<Record<(typeof TAGS)[number] | 'does', string>>

/** Builds the text of the document. @throws Error for a file whose head lacks one of the tags */
export function upstreamDocument(
  root: string,
  made: string,
  table: (head: readonly string[], rows: readonly (readonly string[])[]) => string,
): string {
  const files = globSync(`${FOLDER}/*/*.ts`, { cwd: root }).filter((path) => !path.endsWith('.test.ts'))
  const byLibrary = Map.groupBy(files.sort(), (file) => file.slice(FOLDER.length + 1).split('/')[0] ?? '')
  const sections = [...byLibrary].map(([library, paths]) => {
    const rows = paths.map((path) => {
      const head = headOf(path, readFileSync(join(root, path), 'utf8'))
      return [
        `\`${library}/${path.split('/').at(-1)}\``,
        ...['does', ...TAGS].map((tag) => head[tag as 'does']),
      ]
    })
    const columns = ['File', 'What it does', 'Library', 'Wraps', 'Without it', 'Shown by']
    return [`## ${library}`, table(columns, rows)].join('\n\n')
  })
  const reports = globSync('docs/upstream/*.md', { cwd: root })
    .map((path) => path.split('/').at(-1) ?? '')
    .filter((name) => name !== 'README.md')
    .sort()
  return [
    '# Wrapped libraries',
    made,
    `Files in \`${FOLDER}\` use inner names of libraries. Each is there because without it a process ends or does not end, an honest member is cut off, data is lost, or a bound of [the threat model](../SECURITY.md) breaks. [ADR 13](../adr/0013-patched-libraries.md) has the rule.`,
    ...sections,
    `Reports of defects, ready to be sent: ${reports.map((name) => `[${name.replace('.md', '')}](${name})`).join(', ')}.`,
  ]
    .join('\n\n')
    .concat('\n')
}

function headOf(path: string, code: string): Head {
  const comment = /^\/\*\*([^]*?)\*\//.exec(code)?.[1] ?? ''
  const [does = '', ...tags] = comment
    .replaceAll(/\n\s*\* ?/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .split(/ (?=@\w+ )/)
  const said = Object.fromEntries(tags.map((tag) => [tag.split(' ')[0]?.slice(1), tag.replace(/^\S+ /, '')]))
  const missing = TAGS.filter((tag) => said[tag] === undefined)
  if (does === '' || missing.length > 0)
    throw new Error(`${path}: its head lacks ${missing.map((tag) => `@${tag}`).join(', ') || 'a sentence'}`)
  return { does: does.trim(), ...said } as Head
}
