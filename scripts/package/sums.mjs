/** `dist/SHA256SUMS` over everything else in `dist`, as `sha256sum --check` reads it. */
import { createHash } from 'node:crypto'
import { createReadStream, readdirSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

const SUMS = 'SHA256SUMS'

/** @returns the names of the files that it made in `dist` */
export async function packageSums(dist) {
  const names = readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== SUMS)
    .map((entry) => relative(dist, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .toSorted()
  const lines = []
  for (const name of names) lines.push(`${await sha256(join(dist, name))}  ${name}\n`)
  writeFileSync(join(dist, SUMS), lines.join(''))
  return [SUMS]
}

async function sha256(file) {
  const hash = createHash('sha256')
  for await (const bytes of createReadStream(file)) hash.update(bytes)
  return hash.digest('hex')
}
