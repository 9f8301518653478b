/** The part of docs/limits.md that lists the tables `limits.ts` of all packages. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A docstring and the constant behind it, whose value ends before the next one. */
const CONSTANT =
  /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport const (\w+|\[[^\]]+\])(?:: [^=]+)? =\s((?:(?!\n(?:\/\*\*|\/\/|export|const|function|\n))[\s\S])*)/g

/** Gives a section for each package: the name of each constant, its value and why. */
export function limitSections(root: string): readonly string[] {
  const files = globSync('packages/*/src/**/*limits.ts', { cwd: root }).sort()
  const byPackage = Map.groupBy(files, (file) => file.split('/')[1] ?? '')
  return [...byPackage].map(([name, paths]) => {
    const rows = paths.flatMap((path) => [...readFileSync(join(root, path), 'utf8').matchAll(CONSTANT)])
    const lines = rows.map(
      ([, doc = '', constant = '', value = '']) =>
        `| \`${constant}\` | \`${valueText(value)}\` | ${plain(doc)} |`,
    )
    return [`## ${name}`, '', '| Name | Value | Why |', '| --- | --- | --- |', ...lines].join('\n')
  })
}

const valueText = (value: string) =>
  plain(value)
    .replace(/ satisfies \w+$| as const$/, '')
    .replaceAll(', }', ' }')
    .replaceAll('|', '\\|')

const plain = (text: string) =>
  text
    .replaceAll(/\n\s*\* ?/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(?<!`)\|/g, '\\|')
    .trim()
