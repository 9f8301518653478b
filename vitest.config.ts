import { defineConfig } from 'vitest/config'

// no 'import' here: workers hand it to Node's require, which would then load ES modules as CommonJS
const source = { conditions: ['mesh-source'] }
const base = { resolve: source, ssr: { resolve: source } }

/** `unit` runs beside itself in parallel; `system` starts processes and owns the machine, so it runs alone. */
export default defineConfig({
  ...base,
  test: {
    projects: [
      {
        ...base,
        test: {
          name: 'unit',
          include: [
            'packages/*/{src,test}/**/*.test.ts',
            'apps/node/src/**/*.test.ts',
            'scripts/*.test.ts',
            'examples/**/*.test.ts',
          ],
          testTimeout: 30_000,
        },
      },
      {
        ...base,
        test: { name: 'ui', environment: 'jsdom', include: ['apps/web-ui/src/**/*.test.{ts,tsx}'] },
      },
      {
        ...base,
        test: {
          name: 'system',
          include: ['apps/*/test/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
