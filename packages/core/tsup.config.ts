import type { Options } from 'tsup'
import { packageBuild } from '../../tsup.base.ts'

type EsbuildPlugin = NonNullable<Options['esbuildPlugins']>[number]

/** Every module stays a file of its own, so that a bundler takes only those that its user's imports need. */
const keepModulesApart: EsbuildPlugin = {
  name: 'keep-modules-apart',
  setup(build) {
    build.onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ kind, path }) =>
      kind === 'import-statement' ? { path: path.replace(/\.ts$/, '.js'), external: true } : undefined,
    )
  },
}

export default packageBuild({
  entry: ['src/**/*.ts', '!src/**/*.test.ts'],
  esbuildPlugins: [keepModulesApart],
})
