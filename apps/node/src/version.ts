import manifest from '../package.json' with { type: 'json' }

/** The version that `mesh --version` prints and a machine announces. */
export const version: string = manifest.version
