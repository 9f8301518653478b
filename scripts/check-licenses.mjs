/** The licence of everything that is shipped is one of those that go with Apache-2.0: npm packages, and the engine's crates. */
import { join } from 'node:path'
import { ARCHITECTURES } from './package/architectures.mjs'
import { output, pnpm, root } from './package/commands.mjs'

/** Permissive licences, and those of files (MPL) and fonts (OFL). */
const TAKEN = new Set(
  `0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC0-1.0 ISC MIT MIT-0 MPL-2.0 OFL-1.1 PSF-2.0 Unicode-3.0
  Unlicense WTFPL Zlib`.split(/\s+/),
)

const refused = [...npmPackages(), ...crates()].filter(({ license }) => !isTaken(license))
for (const { name, license } of refused) console.log(`${name}: ${license}`)
process.exitCode = refused.length === 0 ? 0 : 1

/** Judges an SPDX expression: one side of `OR` is enough, `AND` needs both. */
function isTaken(expression) {
  return expression
    .replaceAll(/[()]/g, '')
    .replaceAll('/', ' OR ')
    .split(' AND ')
    .every((part) => part.split(' OR ').some((each) => TAKEN.has(each.trim().replace('MPL 2.0', 'MPL-2.0'))))
}

function npmPackages() {
  const words = ['licenses', 'list', '--prod', '--recursive', '--json']
  const text = output('npx', ['--yes', '--prefer-offline', pnpm, ...words], { cwd: root })
  return Object.values(JSON.parse(text)).flat()
}

/** The crates of the x64 build, as far as cargo has loaded them on this machine. */
function crates() {
  const words = [
    '--offline',
    '--locked',
    '--filter-platform',
    ARCHITECTURES.x64.rust,
    '--format-version',
    '1',
  ]
  const cwd = join(root, 'packages/engine')
  try {
    const text = output('cargo', ['metadata', ...words], { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
    return JSON.parse(text).packages
  } catch {
    console.log('skipped: the licences of crates: cargo has not loaded them here')
    return []
  }
}
