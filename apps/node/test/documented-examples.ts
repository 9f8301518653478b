/** The examples of the published packages: those of their READMEs, and of the heads of their entry files. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Example {
  /** `ledger-readme-0`, unique, fit for a file. */
  readonly name: string
  readonly package: string
  readonly code: string
}

/** @param root of the repository */
export function documentedExamples(root: string): readonly Example[] {
  const files = globSync(
    [
      'apps/node/{README.md,src/index.ts}',
      'packages/*/{README.md,src/{browser,client,index,node,pattern,testing,openapi,values}.ts}',
    ],
    { cwd: root },
  )
  return files.toSorted().flatMap((file) => {
    const [parent = '', folder = ''] = file.split(/[\\/]/)
    if (isPrivate(join(root, parent, folder))) return []
    const text = readFileSync(join(root, file), 'utf8')
    const part = file.endsWith('README.md') ? 'readme' : file.replace(/^.*[\\/](\w+)\.ts$/, '$1')
    return codeBlocks(file.endsWith('.ts') ? headOf(text) : text).map((code, at) => ({
      name: `${folder}-${part}-${at}`,
      package: `@mesh/${folder}`,
      code,
    }))
  })
}

function isPrivate(folder: string): boolean {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).private === true
}

function codeBlocks(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code)
}

/** The docstring that a file begins with, as Markdown. */
function headOf(source: string): string {
  const [head = ''] = /^\/\*\*.*?\*\//s.exec(source) ?? []
  return head.replaceAll(/^ \* ?/gm, '')
}
