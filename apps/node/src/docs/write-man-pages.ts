/** Writes the manual pages into a folder: `write-man-pages.ts FOLDER DATE`. The package for Debian calls it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../version.ts'
import { buildManPages } from './man-pages.ts'

const [folder = '.', date = ''] = process.argv.slice(2)
for (const [name, text] of buildManPages(version, date)) writeFileSync(join(folder, name), text)
