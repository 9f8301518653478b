/** The licence of everything that is shipped is one of those that go with Apache-2.0: npm packages, and the engine's crates. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
/** Of files that stay their own (MPL), of fonts (OFL), and those that ask for a notice or for nothing. */
const TAKEN = new Set(
  `0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC0-1.0 ISC MIT MIT-0 MPL-2.0 OFL-1.1 PSF-2.0 Unicode-3.0
  Unlicense WTFPL Zlib`.split(/\s+/),
)

const refused = [...npmPackages(), ...crates()].filter(({ license }) => !isTaken(license))
for (const { name, license } of refused) console.log(`${name}: ${license}`)
process.exitCode = refused.length === 0 ? 0 : 1

/** An expression of SPDX: of `OR` one side, of `AND` both. */
function isTaken(expression) {
  return expression
    .replaceAll(/[()]/g, '')
    .replaceAll('/', ' OR ')
    .split(' AND ')
    .every((part) => part.split(' OR ').some((each) => TAKEN.has(each.trim().replace('MPL 2.0', 'MPL-2.0'))))
}

function npmPackages() {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const words = [
    '--yes',
    '--prefer-offline',
    packageManager,
    'licenses',
    'list',
    '--prod',
    '--recursive',
    '--json',
  ]
  const { status, stdout, stderr } = spawnSync('npx', words, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  if (status !== 0) throw new Error(`pnpm licenses: ${stderr}${stdout}`)
  return Object.values(JSON.parse(stdout)).flat()
}

/** Those of the x64 build, as far as they are on this machine. */
function crates() {
  const words = [
    'metadata',
    '--offline',
    '--locked',
    '--filter-platform',
    'x86_64-unknown-linux-gnu',
    '--format-version',
    '1',
  ]
  const cwd = join(root, 'packages/engine')
  const { status, stdout } = spawnSync('cargo', words, { cwd, encoding: 'utf8', maxBuffer: 1 << 28 })
  if (status === 0) return JSON.parse(stdout).packages
  console.log('skipped: the licences of crates: cargo has not loaded them here')
  return []
}
