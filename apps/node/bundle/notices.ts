/**
 * Writes `dist/NOTICES.txt`: the libraries that the build holds, of the node and of its pages, with their licences. The ones
 * of the node are known from what esbuild read, those of the pages from their dependencies.
 */
import { existsSync, globSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

interface Manifest {
  readonly name?: string
  readonly version?: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
}

/** The file of tsup's option `metafile`. */
const METAFILE = 'metafile-esm.json'
/** Packages of this repository are under the package's own licence. */
const OWN = /^(@mesh\/|web-ui$)/

/** @param folder apps/node */
export function writeNotices(folder: string): void {
  const metafile = join(folder, 'dist', METAFILE)
  const { inputs } = JSON.parse(readFileSync(metafile, 'utf8')) as { readonly inputs: object }
  rmSync(metafile)
  const folders = new Set<string>()
  for (const input of Object.keys(inputs)) {
    // what plugins make has names of their own
    const [, inside] = /^(\.\..*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input) ?? []
    if (inside !== undefined) folders.add(realpathSync(join(folder, inside)))
  }
  addDependencies(join(folder, '../web-ui'), folders)
  addDependencies(join(folder, '../../examples/browser-member'), folders)
  const notices = [...folders].flatMap(noticeOf).toSorted()
  writeFileSync(join(folder, 'dist/NOTICES.txt'), `${HEAD}\n${[...new Set(notices)].join('\n')}`)
}

const HEAD =
  'This package holds the following libraries, each under its own licence. Those without a text ship none.\nThe text of Apache-2.0 is in LICENSE.\n'

/** Adds the folders of the packages that a package needs at run time. */
function addDependencies(folder: string, folders: Set<string>): void {
  for (const name of Object.keys(manifestOf(folder).dependencies ?? {})) {
    const found = findPackage(name, folder)
    if (found === undefined || folders.has(found)) continue
    folders.add(found)
    addDependencies(found, folders)
  }
}

/** Looks the package up as Node does: in each `node_modules` on the way up. */
function findPackage(name: string, from: string): string | undefined {
  for (let at = from; at !== dirname(at); at = dirname(at)) {
    const found = join(at, 'node_modules', name)
    if (existsSync(found)) return realpathSync(found)
  }
  return undefined
}

function noticeOf(folder: string): readonly string[] {
  const { name = '', version = '', license = '' } = manifestOf(folder)
  if (name === '' || OWN.test(name)) return []
  const files = globSync('{LICEN[CS]E,licen[cs]e,License,COPYING}*', { cwd: folder }).toSorted()
  const text = files.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n')
  return [`${'-'.repeat(80)}\n${name} ${version} (${license})\n\n${text}\n`]
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}
