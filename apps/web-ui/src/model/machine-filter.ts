import type { Machine } from './machine.ts'
import { createWordFilter } from './word-filter.ts'

/** `relayed os:linux cab`; a word that is no state is looked for in name, address and id. */
export const { filter: filterMachines, words: FILTER_WORDS } = createWordFilter<Machine>({
  states: {
    online: ({ reach }) => reach.kind !== 'offline',
    offline: ({ reach }) => reach.kind === 'offline',
    direct: ({ reach }) => reach.kind === 'direct',
    relayed: ({ reach }) => reach.kind === 'relayed',
    indirect: ({ reach }) => reach.kind === 'indirect',
  },
  fields: {
    os: ({ os }) => os,
    arch: ({ arch }) => arch,
    version: ({ version }) => version,
  },
  texts: ({ name, id, addresses }) => [name, id, ...addresses],
})
