import { globSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const SOURCE = import.meta.dirname

/** Gives, for each folder of `src`, the folders that its files import from. */
function importsByFolder(): ReadonlyMap<string, ReadonlySet<string>> {
  const imports = new Map<string, Set<string>>()
  for (const file of globSync('*/**/*.ts', { cwd: SOURCE })) {
    if (file.endsWith('.test.ts')) continue
    const code = readFileSync(resolve(SOURCE, file), 'utf8')
    for (const [, statement, call] of code.matchAll(/from '(\.[^']*)'|import\('(\.[^']*)'\)/g)) {
      const target = relative(SOURCE, resolve(SOURCE, dirname(file), statement ?? call ?? ''))
      const [from, to] = [folderOf(file), folderOf(target)]
      if (to === '' || from === to) continue
      imports.set(from, (imports.get(from) ?? new Set()).add(to))
    }
  }
  return imports
}

/** Gives the top folder of a path; empty for a file beside the folders. */
function folderOf(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? '') : ''
}

function findCircle(
  imports: ReadonlyMap<string, ReadonlySet<string>>,
  path: readonly string[],
): readonly string[] | undefined {
  const last = path.at(-1) ?? ''
  if (path.indexOf(last) < path.length - 1) return path.slice(path.indexOf(last))
  for (const next of imports.get(last) ?? []) {
    const circle = findCircle(imports, [...path, next])
    if (circle !== undefined) return circle
  }
  return undefined
}

test('no two folders need each other, directly or around', () => {
  const imports = importsByFolder()
  expect(imports.size).toBeGreaterThan(8)
  expect([...imports.keys()].flatMap((folder) => findCircle(imports, [folder])?.join(' > ') ?? [])).toEqual(
    [],
  )
})
