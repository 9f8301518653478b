/** The built page, served by a real API server over a real ledger, in a network of three that the test plays. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { type ApiServerComponents, type AssetsPort, createApiServer, type OffersPort } from '@mesh/api-server'
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { createLeases, createLedger, createSigner, type Ledger } from '@mesh/ledger'
import { playNetwork } from './played-network.ts'

const APP = join(import.meta.dirname, '../..')
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

export interface BuiltPage {
  readonly assets: AssetsPort
  /** Paths from the root. */
  readonly files: readonly string[]
  /** All scripts together, as they travel. */
  readonly scriptBytes: number
  /** The scripts that the page itself names. */
  readonly firstScriptBytes: number
  remove(): void
}

/** Builds into a folder of its own, so that nobody's `dist` changes. */
export async function buildPage(): Promise<BuiltPage> {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-page-'))
  const vite = join(createRequire(import.meta.url).resolve('vite/package.json'), '../bin/vite.js')
  const env = { ...process.env, NODE_ENV: 'production' }
  await promisify(execFile)(process.execPath, [vite, 'build', '--outDir', folder, '--logLevel', 'error'], {
    cwd: APP,
    env,
  })
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
  const bytesOf = (path: string) => readFileSync(join(folder, path))
  const scripts = files.filter((path) => path.endsWith('.js'))
  const html = bytesOf('/index.html').toString()
  const sizeOf = (paths: readonly string[]) =>
    paths.reduce((sum, path) => sum + gzipSync(bytesOf(path)).length, 0)
  return {
    files,
    scriptBytes: sizeOf(scripts),
    firstScriptBytes: sizeOf(scripts.filter((path) => html.includes(path))),
    assets: {
      get: (path) =>
        files.includes(path)
          ? { bytes: bytesOf(path), type: TYPES[extname(path)] ?? 'text/plain' }
          : undefined,
    },
    remove: () => rmSync(folder, { recursive: true }),
  }
}

export interface ServedPage {
  readonly url: string
  readonly ledger: Ledger
  /** The node joins with these offers; until then it has none. */
  attachOffers(offers: OffersPort): void
  stop(): Promise<void>
}

/** This node, one peer reached directly and one by a relay. */
export async function servePage(
  assets: AssetsPort,
  components: Partial<ApiServerComponents> = {},
): Promise<ServedPage> {
  const ledger = createLedger({}, { signer: createSigner(crypto.getRandomValues(new Uint8Array(32))) })
  const server = createApiServer(
    {},
    {
      ledger,
      leases: createLeases({ ledger, clock: systemClock, random: systemRandom }),
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      version: { version: '0.1.0', protocols: () => [] },
      health: { problems: () => [], ready: () => true },
      network: playNetwork(2).port,
      assets,
      ...components,
    },
  )
  const listener = await server.listen({ kind: 'tcp', host: '127.0.0.1', port: 0 })
  return {
    url: listener.url,
    ledger,
    attachOffers: (offers) => server.attachOffers(offers),
    async stop() {
      await server.stop()
      await ledger.stop()
    },
  }
}
