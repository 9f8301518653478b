/** What the documents say of this checkout is there: files that they link to, and commands that they name. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const documents = globSync(
  ['*.md', 'docs/**/*.md', '{packages,apps,examples}/*/*.md', 'packages/engine/npm/*/*.md'],
  { cwd: root },
)
const read = (file: string) => readFileSync(join(root, file), 'utf8')

test('those that people look for are there', () => {
  expect(documents).toEqual(
    expect.arrayContaining(['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']),
  )
})

describe.each(documents)('%s', (file) => {
  test('links to files that are there', () => {
    const targets = [...withoutCode(read(file)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
    const local = targets.filter((target) => !/^(https?:|mailto:|#)/.test(target))
    const dead = local.filter((target) => {
      const [path = ''] = target.split('#')
      return !existsSync(join(root, dirname(file), path))
    })
    expect(dead).toEqual([])
  })

  test('names only scripts that are there', () => {
    const calls = read(file).matchAll(/npm (?:--prefix (\S+) )?run ([\w:-]+)/g)
    const unknown = [...calls].filter(([, folder = '.', script = '']) => {
      const { scripts } = JSON.parse(read(join(folder, 'package.json'))) as {
        scripts?: Record<string, string>
      }
      return scripts?.[script] === undefined
    })
    expect(unknown.map(([call]) => call)).toEqual([])
  })
})

function withoutCode(markdown: string): string {
  return markdown.replaceAll(/```[^]*?```/g, '').replaceAll(/`[^`\n]*`/g, '')
}
