import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

// no 'import' here: workers hand it to Node's require, which would then load ES modules as CommonJS
const source = { conditions: ['mesh-source'] }
const base = { resolve: source, ssr: { resolve: source } }

/**
 * `system` starts processes and waits for them half of the time, so one file more than there are cores runs at once, and
 * nothing else beside them; `unit` and `ui` keep every core busy, and run after it. Unit tests share a worker's modules:
 * none of them leaves anything in these.
 */
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
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...base,
        test: {
          name: 'ui',
          environment: 'jsdom',
          include: ['apps/web-ui/src/**/*.test.{ts,tsx}'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...base,
        test: {
          name: 'system',
          include: ['apps/*/test/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
          maxWorkers: availableParallelism() + 1,
          sequence: { groupOrder: 0 },
        },
      },
    ],
  },
})
