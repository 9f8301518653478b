/**
 * What the documents say of this checkout is there: files that they link to, commands that they name; and what code and
 * documents cite is there too.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const documents = globSync(
  [
    '*.md',
    'docs/**/*.md',
    '{packages,apps,examples,tools}/*/*.md',
    '{tools,packaging}/*.md',
    'packages/engine/npm/*/*.md',
  ],
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

describe('what code and documents cite is there:', () => {
  const sources = globSync(
    ['*.md', '{apps,docs,examples,packages,packaging,scripts,tools}/**/*.{ts,tsx,mjs,rs,md}'],
    {
      cwd: root,
      exclude: (path) => /(^|\/)(node_modules|dist|target)(\/|$)/.test(path),
    },
  )
  /** Lines joined, comment signs left out, so that a citation may go on in the next line. */
  const texts = sources.map((file) => ({
    file,
    text: read(file).replaceAll(/\r?\n[ \t]*(?:\*(?!\/)|\/\/[/!]?)?[ \t]*/g, ' '),
  }))
  const citedIn = (pattern: RegExp) =>
    texts.flatMap(({ file, text }) => [...text.matchAll(pattern)].map(([, cited = '']) => ({ file, cited })))

  test('sections and known faults of docs/WIRE.md', () => {
    const wire = read('docs/WIRE.md')
    const sections = [...wire.matchAll(/^#+ (\d(?:\.\d+)?)/gm)].map(([, number]) => number)
    const faults = [...wire.matchAll(/^\| (D\d+) \|/gm)].map(([, number]) => number)
    const places = new Set([...sections, ...faults])
    const lists = citedIn(/WIRE\.md\)?,? ((?:section )?(?:D?\d+(?:\.\d+)?(?:,? and |,? to |, )?)+)/g)
    const dead = lists.flatMap(({ file, cited }) =>
      [...cited.matchAll(/D?\d+(?:\.\d+)?/g)]
        .filter(([place]) => !places.has(place))
        .map(([place]) => `${file}: ${place}`),
    )
    expect(lists.length).toBeGreaterThan(20)
    expect(dead).toEqual([])
  })

  test('headings of docs/PROTOCOLS.md', () => {
    const headings = [...read('docs/PROTOCOLS.md').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
    const cited = citedIn(/PROTOCOLS\.md,? '([^']+)'/g)
    const dead = cited.filter(
      ({ cited: name }) => !headings.some((heading) => heading === name || heading.startsWith(`${name}:`)),
    )
    expect(cited.length).toBeGreaterThan(5)
    expect(dead).toEqual([])
  })

  test('files, by their path or the end of it', () => {
    const files = globSync('{*,{apps,docs,examples,packages,packaging,scripts,tools,.ci}/**/*}', {
      cwd: root,
      exclude: (path) => /(^|\/)(node_modules|dist|target)(\/|$)/.test(path),
    })
    const cited = sources.flatMap((file) =>
      pathsIn(file.endsWith('.md') ? withoutBlocks(read(file)) : commentsOf(read(file))).map((path) => ({
        file,
        path,
      })),
    )
    const ends = new Map(cited.map(({ path }) => [path, new RegExp(`(^|/)${patternOf(path)}$`)]))
    const dead = cited.filter(({ path }) => !files.some((file) => ends.get(path)?.test(file)))
    expect(cited.length).toBeGreaterThan(300)
    expect(dead).toEqual([])
  })

  test.each([
    ['wire', ' document'],
    ['api', '-decisions'],
    ['edgevpn', '-wire'],
    ['mesh-node', '-http-api'],
  ])('nothing cites a document outside of the repository: %s%s', (...parts) => {
    const name = parts.join('')
    expect(texts.filter(({ text }) => text.includes(name)).map(({ file }) => file)).toEqual([])
  })
})

/** Paths of sources and documents; what a build makes is not there in a fresh checkout. */
function pathsIn(text: string): readonly string[] {
  const paths =
    /(?<![\w@./:*{}-])(?:\.\.\/)*((?:[\w{},*-]+\/)+[\w.{},*-]+\.(?:tsx?|mjs|rs|md|jsonc?|toml))\b(?!\/)/g
  return [...text.matchAll(paths)]
    .map(([, path = '']) => path)
    .filter((path) => !/(^|\/)(dist|ui)\//.test(path))
}

/** `vpn/src/table/*.ts`, `{a,b}.ts`: as a pattern. */
function patternOf(path: string): string {
  return path
    .replaceAll('.', '\\.')
    .replaceAll('**/', '(.+/)?')
    .replaceAll(/(?<!\))\*/g, '[^/]*')
    .replaceAll(/\{([^}]*)\}/g, (_, names: string) => `(${names.replaceAll(',', '|')})`)
}

function commentsOf(code: string): string {
  return [...code.matchAll(/\/\*[^]*?\*\/|(?<![:'])\/\/[^\n]*/g)].map(([comment]) => comment).join('\n')
}

function withoutBlocks(markdown: string): string {
  return markdown.replaceAll(/```[^]*?```/g, '')
}

function withoutCode(markdown: string): string {
  return withoutBlocks(markdown).replaceAll(/`[^`\n]*`/g, '')
}
