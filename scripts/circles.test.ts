/**
 * Nothing needs itself around a corner: no circle of files, and in no package a circle of folders. A folder is one directly
 * in `src`; files beside the folders are free. Tests may import what they like.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, posix, resolve } from 'node:path'
import { expect, test } from 'vitest'

type Imports = ReadonlyMap<string, ReadonlySet<string>>

const root = resolve(import.meta.dirname, '..')
const packages = ['packages/*', 'apps/*'].flatMap((pattern) => globSync(`${pattern}/src`, { cwd: root }))

/** Gives, for each file, the files that it imports, types included. */
function importsOfTypeScript(pattern: string): Imports {
  const files = globSync(pattern, { cwd: root, exclude: (path) => /node_modules|\.test\.tsx?$/.test(path) })
  return importsOf(files, (file, code) =>
    [...code.matchAll(/(?:from|import\()\s*'(\.[^']*)'/g)].map(([, to = '']) =>
      posix.join(dirname(file), to),
    ),
  )
}

/** Gives, for each module of the engine, the modules that it names; `lib.rs` only lists them. */
function importsOfRust(): Imports {
  const folder = 'packages/engine/native'
  const files = globSync(`${folder}/**/*.rs`, {
    cwd: root,
    exclude: (path) => /lib\.rs$|_tests?(\.rs|\/)|\/testing\//.test(path),
  })
  const fileOf = (path: string) => `${folder}/${path.replaceAll('::', '/')}.rs`
  return importsOf(files, (_file, code) => {
    const [source = ''] = code.replaceAll(/\/\/[^\n]*/g, '').split('#[cfg(test)]\nmod')
    const paths = [...source.matchAll(/\bcrate::((?:[a-z_]+::)*)(?:([a-z_]+)\b|\{([^}]*)\})?/g)]
    return paths.flatMap(([, path = '', last = '', group = '']) => {
      const names = [last, ...group.split(',').map((name) => name.trim().split('::')[0] ?? '')]
      return [path.replace(/::$/, ''), ...names.map((name) => `${path}${name}`)].map(fileOf)
    })
  })
}

function importsOf(
  files: readonly string[],
  targets: (file: string, code: string) => readonly string[],
): Imports {
  const known = new Set(files)
  return new Map(
    files.map((file) => {
      const to = targets(file, readFileSync(join(root, file), 'utf8'))
      return [file, new Set(to.filter((target) => target !== file && known.has(target)))]
    }),
  )
}

function byFolder(source: string, files: Imports): Imports {
  const folderOf = (file: string) => /^([^/]+)\//.exec(file.slice(source.length + 1))?.[1] ?? ''
  const folders = new Map<string, Set<string>>()
  for (const [file, targets] of files) {
    const [from, found] = [folderOf(file), folders.get(folderOf(file)) ?? new Set()]
    for (const to of [...targets].map(folderOf)) if (to !== '' && from !== '' && to !== from) found.add(to)
    folders.set(from, found)
  }
  return folders
}

/** Gives one circle through each group of members that need each other. */
function findCircles(imports: Imports): readonly string[] {
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (path: readonly string[]) => {
    const last = path.at(-1) ?? ''
    if (path.indexOf(last) < path.length - 1) {
      circles.push(path.slice(path.indexOf(last)).join(' > '))
      return
    }
    if (done.has(last)) return
    for (const next of imports.get(last) ?? []) visit([...path, next])
    done.add(last)
  }
  for (const member of imports.keys()) visit([member])
  return circles
}

test('there are packages to look at', () => {
  expect(packages.length).toBeGreaterThan(15)
})

test.each(packages)('%s: no two folders need each other, directly or around', (source) => {
  expect(findCircles(byFolder(source, importsOfTypeScript(`${source}/**/*.{ts,tsx}`)))).toEqual([])
})

test('no files of TypeScript need each other, directly or around', () => {
  const imports = importsOfTypeScript('{packages/*/{src,test,bench},apps/*/{src,test},tools}/**/*.{ts,tsx}')
  expect(imports.size).toBeGreaterThan(1_000)
  expect(findCircles(imports)).toEqual([])
})

test('no modules of the engine need each other, directly or around', () => {
  const imports = importsOfRust()
  expect(imports.size).toBeGreaterThan(40)
  expect(findCircles(imports)).toEqual([])
})
