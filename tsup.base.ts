import { defineConfig, type Options } from 'tsup'

/**
 * The build of every published package: ES modules, one chunk for each entry of `exports`. Their types are built for all
 * packages at once, by `scripts/build-types.mjs`.
 */
export function packageBuild(options: Options = {}) {
  return defineConfig({
    entry: ['src/index.ts'],
    format: 'esm',
    target: 'es2024',
    clean: ['!**/*.d.ts'],
    sourcemap: true,
    removeNodeProtocol: false,
    tsconfig: '../../tsconfig.json',
    ...options,
  })
}
