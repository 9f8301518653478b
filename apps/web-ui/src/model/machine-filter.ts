import type { Machine } from './machine.ts'

/** Words of the filter that are states; any other word is looked for in name, address and id. */
const STATES: Readonly<Record<string, (machine: Machine) => boolean>> = {
  online: ({ reach }) => reach.kind !== 'offline',
  offline: ({ reach }) => reach.kind === 'offline',
  direct: ({ reach }) => reach.kind === 'direct',
  relayed: ({ reach }) => reach.kind === 'relayed',
  indirect: ({ reach }) => reach.kind === 'indirect',
}

const FIELDS: Readonly<Record<string, (machine: Machine) => string>> = {
  os: ({ os }) => os,
  arch: ({ arch }) => arch,
  version: ({ version }) => version,
}

/** `relayed os:linux cab`: all words must fit; in any case of letters. */
export function filterMachines(machines: readonly Machine[], filter: string): readonly Machine[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return machines
  const tests = words.map(parseWord)
  return machines.filter((machine) => tests.every((test) => test(machine)))
}

/** The words that the filter knows, for people who look at an empty list. */
export const FILTER_WORDS = [...Object.keys(STATES), ...Object.keys(FIELDS).map((field) => `${field}:`)]

function parseWord(word: string): (machine: Machine) => boolean {
  const state = Object.hasOwn(STATES, word) ? STATES[word] : undefined
  if (state !== undefined) return state
  const [name = '', ...rest] = word.split(':')
  const field = rest.length > 0 && Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined
  if (field !== undefined) return (machine) => field(machine).toLowerCase().startsWith(rest.join(':'))
  return (machine) =>
    [machine.name, machine.id, ...machine.addresses].some((text) => text.toLowerCase().includes(word))
}
