/** Publint over every published package as it would be packed; run after the build. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

const root = resolve(import.meta.dirname, '..')
let bad = 0
let checked = 0
for (const folder of readdirSync(join(root, 'packages'))) {
  const pkgDir = join(root, 'packages', folder)
  const manifest = JSON.parse(readFileSync(join(pkgDir, 'package.json'), 'utf8'))
  if (manifest.private === true) continue
  checked++
  for (const file of ['README.md', 'dist/index.js', 'dist/index.d.ts']) readFileSync(join(pkgDir, file))
  const { messages, pkg } = await publint({ pkgDir, strict: true, pack: 'pnpm' })
  for (const message of messages) {
    bad++
    console.log(`${manifest.name}: ${formatMessage(message, pkg, { color: false })}`)
  }
}
console.log(`${checked} packages, ${bad} complaints`)
process.exitCode = bad === 0 && checked > 0 ? 0 : 1
