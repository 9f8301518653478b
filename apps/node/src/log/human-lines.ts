/** Lines of a start as sentences: people read these before anything else. JSON lines keep message and fields. */
import { type LogFields, shortPeerId, tryParsePeerId } from '@mesh/core'

/** A longer list is a wall; people get the number. */
const MAX_LIST_CHARACTERS = 60
/** How many of the members that were found at a time a line names. */
const MAX_NAMED = 8

const sentences: Readonly<Record<string, (fields: LogFields) => string>> = {
  'api listening': ({ id, name, network, instance }) =>
    `this node is ${called(name, id)}, instance ${text(instance)} in network ${text(network)}`,
  'host listening': ({ addresses }) => `listening on ${counted(addresses, 'address', 'addresses')}`,
  'all transports listening': ({ addressCount }) =>
    `all transports stand, on ${text(addressCount)} ${addressCount === 1 ? 'address' : 'addresses'}`,
  'members found': ({ names, peers }) => `found ${counted(peers, 'member', 'members')}: ${listed(names)}`,
  'members lost': ({ names, peers }) => `lost ${counted(peers, 'member', 'members')}: ${listed(names)}`,
}

/** The line as a sentence, or undefined: then message and fields are shown one by one. */
export function humanSentence(message: string, fields: LogFields): string | undefined {
  return Object.hasOwn(sentences, message) ? sentences[message]?.(fields) : undefined
}

/** How a value is shown to people: peer ids short, long lists as their number. */
export function humanValue(value: unknown): unknown {
  if (typeof value === 'string') return shortName(value)
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) return value
  const line = value.map(shortName).join(',')
  return line.length > MAX_LIST_CHARACTERS ? value.length : line
}

/** A peer id by its end, which tells peers apart and is what `mesh status` shows: `12D3…dBfeSB12`. */
function shortName(text: string): string {
  return tryParsePeerId(text) === undefined ? text : `12D3…${shortPeerId(text)}`
}

function called(name: unknown, id: unknown): string {
  const short = shortName(text(id))
  return name === undefined || name === '' ? short : `${text(name)} (${short})`
}

function counted(list: unknown, one: string, many: string): string {
  const count = Array.isArray(list) ? list.length : 0
  return `${count} ${count === 1 ? one : many}`
}

function listed(list: unknown): string {
  const names = Array.isArray(list) ? list.map((name) => shortName(text(name))) : []
  const more = names.length > MAX_NAMED ? [`and ${names.length - MAX_NAMED} more`] : []
  return [...names.slice(0, MAX_NAMED), ...more].join(', ')
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
