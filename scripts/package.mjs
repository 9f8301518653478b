/**
 * `npm run package`: everything that people install, into `dist/`. `npm run package -- --only binary,deb` makes some parts,
 * `--arch arm64` makes them for another machine, `--local` takes the engine that is built for this machine (quick; it may need a newer
 * glibc than 2.28). packaging/README.md says what each part is.
 */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ARCHITECTURES } from './package/architectures.mjs'
import { packageBinary } from './package/binary.mjs'
import { root } from './package/commands.mjs'
import { packageContainer } from './package/container.mjs'
import { packageDeb } from './package/deb.mjs'
import { packageNpm } from './package/npm.mjs'
import { packageSbom } from './package/sbom.mjs'
import { packageSums } from './package/sums.mjs'

/** In the order in which they need each other. Each gets the folder and the options, and makes files in it. */
const PARTS = {
  binary: packageBinary,
  npm: packageNpm,
  sbom: packageSbom,
  deb: packageDeb,
  container: packageContainer,
  sums: packageSums,
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(PARTS).join(',') },
    arch: { type: 'string', default: 'x64' },
    local: { type: 'boolean', default: false },
    dist: { type: 'string', default: join(root, 'dist') },
  },
})
const wanted = values.only.split(',')
const unknown = wanted.find((name) => !(name in PARTS))
if (unknown !== undefined || !(values.arch in ARCHITECTURES)) {
  console.error(
    `usage: npm run package -- [--only ${Object.keys(PARTS).join(',')}] [--arch ${Object.keys(ARCHITECTURES).join('|')}] [--local] [--dist FOLDER]`,
  )
  process.exit(2)
}

const dist = resolve(values.dist)
mkdirSync(dist, { recursive: true })
for (const [name, make] of Object.entries(PARTS)) {
  if (!wanted.includes(name)) continue
  console.log(`Packaging: ${name} ...`)
  const files = await make(dist, { arch: values.arch, isLocal: values.local })
  for (const file of files) console.log(`  ${resolve(dist, file)}`)
}
