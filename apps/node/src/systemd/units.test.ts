import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const UNITS = resolve(import.meta.dirname, '../../../../packaging/systemd')
const isMissing = spawnSync('systemd-analyze', ['--version']).status !== 0

test.skipIf(isMissing)(
  `systemd finds nothing wrong with the units${isMissing ? ' (skipped: systemd-analyze is not installed)' : ''}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'mesh-units-'))
    try {
      cpSync(UNITS, folder, { recursive: true })
      const files = readdirSync(folder).map((name) => join(folder, name))
      expect(files.length).toBeGreaterThan(2)
      for (const file of files) {
        // there is no mesh in /usr/bin of a checkout
        writeFileSync(file, readFileSync(file, 'utf8').replaceAll('/usr/bin/mesh', process.execPath))
      }
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8' })
      const said = stderr.split('\n').filter((line) => /\bmesh[\w-]*\.(service|socket)/.test(line))
      expect({ status, said }).toEqual({ status: 0, said: [] })
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
