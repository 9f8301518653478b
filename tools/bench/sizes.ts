/** What people load: the page's scripts until it shows, and what `npm run package` has made, if it has. */
import { globSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { round } from './statistics.ts'

const root = join(import.meta.dirname, '../..')
const PAGE = join(root, 'apps/web-ui/dist')

export function measureSizes() {
  const html = readFileSync(join(PAGE, 'index.html'), 'utf8')
  const first = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.js)"/g)].map(([, path = '']) => path)
  const bytes = first.map((path) => gzipSync(readFileSync(join(PAGE, path))).length)
  const made = globSync('dist/{mesh-linux-*,*.deb,npm/*.tgz}', { cwd: root }).sort()
  return {
    pageFirstLoadKb: round(bytes.reduce((sum, each) => sum + each, 0) / 1000, 1),
    madeMb: Object.fromEntries(
      made.map((path) => [
        basename(path)
          .replaceAll(/[-_]?\d+\.\d+\.\d+/g, '')
          .replaceAll('.', '-'),
        round(statSync(join(root, path)).size / 1e6, 2),
      ]),
    ),
  }
}
