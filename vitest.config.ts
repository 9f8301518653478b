import { availableParallelism } from 'node:os'
import { defaultExclude, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// no 'import' here: workers hand it to Node's require, which would then load ES modules as CommonJS
const source = { conditions: ['mesh-source'] }
const base = { resolve: source, ssr: { resolve: source } }

/** How many test files run at once: one more than there are cores, as one of them waits for something at any time. */
const maxWorkers = availableParallelism() + 1
/** Waits more than it works, so it begins first and others run beside it. Projects of one group begin by name. */
const SOAK = 'tools/test/soak.test.ts'

/** Prints the logs of a failed test's nodes. */
const SHOW_LOGS = 'apps/node/test/show-logs.ts'

/** The longest of the other projects, longest first. */
const LONG = [
  ...[
    'vpn',
    'readme/readme',
    'packages',
    'files',
    'vpn-udp',
    'published-packages',
    'published-node',
    'node-process',
    'services',
  ].map((name) => `apps/node/test/${name}.test.ts`),
  ...['replication/test/simulation', 'p2p/test/nat', 'p2p/test/public-dht', 'p2p/test/port-mapping'].map(
    (name) => `packages/${name}.test.ts`,
  ),
]

/**
 * Begins each project with those of `LONG`, so that none of them is left alone at the end. Vitest orders by the times of
 * the last run, of which a fresh clone has none, and then by the sizes of files.
 */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map(({ project }) => project.name))]
    const isOf = (path: string) => (file: TestSpecification) => file.moduleId.endsWith(path)
    const long = LONG.flatMap((path) => sorted.filter(isOf(path)))
    const ordered = [...long, ...sorted.filter((file) => !long.includes(file))]
    return projects.flatMap((name) => ordered.filter(({ project }) => project.name === name))
  }
}

/** `system` and `soak` start processes, so nothing else runs beside them; `unit` and `ui` run after them. */
export default defineConfig({
  ...base,
  test: {
    // what tests print is shown of those that fail
    silent: 'passed-only',
    sequence: { sequencer: LongFirst },
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
          maxWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...base,
        test: {
          name: 'ui',
          environment: 'jsdom',
          isolate: false,
          include: ['apps/web-ui/src/**/*.test.{ts,tsx}'],
          maxWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...base,
        test: {
          name: 'soak',
          include: [SOAK],
          setupFiles: SHOW_LOGS,
          testTimeout: 480_000,
          maxWorkers,
          sequence: { groupOrder: 0 },
        },
      },
      {
        ...base,
        test: {
          name: 'system',
          include: ['apps/*/test/**/*.test.ts', 'tools/test/*.test.ts'],
          exclude: [...defaultExclude, SOAK],
          setupFiles: SHOW_LOGS,
          testTimeout: 180_000,
          hookTimeout: 60_000,
          maxWorkers,
          sequence: { groupOrder: 0 },
        },
      },
    ],
  },
})
