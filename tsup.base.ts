import { defineConfig, type Options } from 'tsup'

/** The build of every published package: ES modules, types, one chunk for each entry of `exports`. */
export function packageBuild(options: Options = {}) {
  return defineConfig({
    entry: ['src/index.ts'],
    format: 'esm',
    target: 'es2024',
    dts: true,
    clean: true,
    sourcemap: true,
    removeNodeProtocol: false,
    tsconfig: '../../tsconfig.json',
    ...options,
  })
}
