import manifest from '../package.json' with { type: 'json' }

/** What `mesh --version` prints and a machine announces. */
export const version: string = manifest.version
