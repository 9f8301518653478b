/** What a browser loads: the public types, and the member of a tab. */
import { build } from 'esbuild'
import { expect, test } from 'vitest'

test.each(['../index.ts', '../browser.ts'])(
  '%s bundles for a browser without a module of Node',
  async (entry) => {
    const { errors, outputFiles } = await build({
      entryPoints: [new URL(entry, import.meta.url).pathname],
      bundle: true,
      platform: 'browser',
      format: 'esm',
      conditions: ['mesh-source'],
      write: false,
      logLevel: 'silent',
    })
    expect(errors).toEqual([])
    expect(outputFiles[0]?.text).not.toMatch(/["']node:[a-z_/]+["']/)
  },
)
