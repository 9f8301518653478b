/** Commands that do in a terminal what the page does: with curl and with the command line of mesh. */
import { MAX_UPLOAD_PIECE_BYTES } from '@mesh/api-contract'
import { stringifyExactJson } from '@mesh/core'

export interface Commands {
  readonly curl: string
  readonly mesh: string
}

interface At {
  /** Where the node answers: `http://127.0.0.1:8080`. */
  readonly origin: string
  readonly bucket: string
  readonly key: string
}

export function getCommands(at: At): Commands {
  return { curl: `curl ${shellQuote(urlOf(at))}`, mesh: meshCommand('get', [], at.bucket, at.key) }
}

export function putCommands(at: At, value: unknown): Commands {
  const text = stringifyExactJson(value)
  // `-` alone would read the value from standard input
  const mesh = typeof value === 'string' && value !== '-' ? [value] : ['--json', text]
  return {
    curl: `curl -X PUT ${shellQuote(urlOf(at))} -H 'Content-Type: application/json' --data-binary ${shellQuote(text)}`,
    mesh: meshCommand('put', mesh, at.bucket, at.key),
  }
}

export function deleteCommands(at: At): Commands {
  return {
    curl: `curl -X DELETE ${shellQuote(urlOf(at))}`,
    mesh: meshCommand('delete', [], at.bucket, at.key),
  }
}

/**
 * The things that a node is asked for by name: what it offers, and what it makes reachable on its machine.
 */
export type OfferKind = keyof typeof OFFERS

interface OfferAt {
  /** Where the node answers, as the page is asked for it. */
  readonly origin: string
  readonly kind: OfferKind
  readonly name: string
}

/** @param place the target of a service, where a connection listens, or the path of a file */
export function offerCommands(at: OfferAt, place: string): Commands {
  const { field, add } = OFFERS[at.kind]
  const body = shellQuote(JSON.stringify({ [field]: place }))
  return {
    curl: `curl -X PUT ${shellQuote(offerUrl(at))} -H 'Content-Type: application/json' --data-binary ${body}`,
    mesh: namedCommand(add, at.name, place),
  }
}

export function withdrawCommands(at: OfferAt): Commands {
  return {
    curl: `curl -X DELETE ${shellQuote(offerUrl(at))}`,
    mesh: namedCommand(OFFERS[at.kind].remove, at.name),
  }
}

/**
 * Offers a file: by its path, and as the page does, with a copy for the node to keep. The node takes pieces.
 *
 * @param file its name in the folder where the command is typed; it is offered under this name
 */
export function uploadCommands(origin: string, file: string): Commands {
  const path = shellQuote(`./${file}`)
  const url = `${offerUrl({ origin, kind: 'file', name: file })}/content?from=`
  const piece = `dd if=${path} bs=${MAX_UPLOAD_PIECE_BYTES} skip=$((from / ${MAX_UPLOAD_PIECE_BYTES})) count=1 2>/dev/null`
  const put = `curl -fsS -X PUT ${shellQuote(url)}"$from&of=$of" -H 'Content-Type: application/octet-stream' --data-binary @-`
  return {
    mesh: namedCommand('file-send', file, `./${file}`),
    curl: `from=0; of=$(($(wc -c < ${path}))); while ${piece} | ${put}; do from=$((from + ${MAX_UPLOAD_PIECE_BYTES})); [ $from -lt $of ] || break; done`,
  }
}

/** Fetches a file or folder of a member into the folder where it is typed, or to a path. */
export function receiveCommand(name: string, destination?: string): string {
  return namedCommand('file-receive', name, ...(destination === undefined ? [] : [destination]))
}

/** Fetches a file or folder of a member into the inbox of the node. */
export function receiveCommands({ origin, name }: Omit<OfferAt, 'kind'>): Commands {
  return { curl: `curl -X PUT ${shellQuote(inboxUrl(origin, name))}`, mesh: receiveCommand(name) }
}

/** Asks the member that offers a file or folder what is in it. */
export function lookCommand({ origin, name }: Omit<OfferAt, 'kind'>): string {
  return `curl ${shellQuote(inboxUrl(origin, name))}`
}

function inboxUrl(origin: string, name: string): string {
  return `${origin}/api/node/inbox/${encodeURIComponent(name)}`
}

/** Ends a download of the node and forgets it. */
export function endDownloadCommand({ origin, name }: Omit<OfferAt, 'kind'>): string {
  return `curl -X DELETE ${shellQuote(`${origin}/api/node/downloads/${encodeURIComponent(name)}`)}`
}

/** Paths and fields of the API, and the commands of mesh, for each kind. */
const OFFERS = {
  service: { path: 'services', field: 'Target', add: 'service-add', remove: 'service-remove' },
  connection: {
    path: 'connections',
    field: 'Listen',
    add: 'service-connect',
    remove: 'service-disconnect',
  },
  file: { path: 'files', field: 'Path', add: 'file-send', remove: 'file-remove' },
} as const

function offerUrl({ origin, kind, name }: OfferAt): string {
  return `${origin}/api/node/${OFFERS[kind].path}/${encodeURIComponent(name)}`
}

function namedCommand(verb: string, ...names: readonly string[]): string {
  const end = names.some((name) => name.startsWith('-')) ? ['--'] : []
  return ['mesh', verb, ...end, ...names.map(shellQuote)].join(' ')
}

type Verb = 'get' | 'put' | 'delete'

/** `value`: a text, or `--json` and its JSON. A `--` goes before names that look like options. */
function meshCommand(verb: Verb, value: readonly string[], bucket: string, key: string): string {
  const flags = value.slice(0, -1)
  const names = [bucket, key, ...value.slice(-1)]
  const end = names.some((name) => name.startsWith('-')) ? ['--'] : []
  return ['mesh', 'ledger', verb, ...flags, ...end, ...names.map(shellQuote)].join(' ')
}

function urlOf({ origin, bucket, key }: At): string {
  return `${origin}/api/ledger/${encodeURIComponent(bucket)}/${encodeURIComponent(key)}`
}

/** The record type that is asked for unless another is given. */
export const DEFAULT_TYPE = 'A'

/** @param origin of the page */
export function resolveCommands(origin: string, name: string, type: string): Commands {
  const ofType = type === DEFAULT_TYPE ? [] : ['--type', shellQuote(type)]
  const end = name.startsWith('-') ? ['--'] : []
  const query = type === DEFAULT_TYPE ? '' : `?type=${encodeURIComponent(type)}`
  return {
    mesh: ['mesh', 'dns', 'resolve', ...ofType, ...end, shellQuote(name)].join(' '),
    curl: `curl ${shellQuote(`${origin}/api/dns/resolve/${encodeURIComponent(name)}${query}`)}`,
  }
}

/** One argument for a POSIX shell, quoted only where it must be. */
export function shellQuote(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Reads one of the last blocks. */
export function blockCommand(origin: string, index: number): string {
  return `curl ${shellQuote(`${origin}/api/blocks/${index}`)}`
}

/** The actions that a node takes with a peer. */
interface PeerAt {
  readonly origin: string
  /** Its peer id, name or address. */
  readonly peer: string
}

/** Connects where need be, and measures. */
export function pingCommands({ origin, peer }: PeerAt): Commands {
  return {
    curl: `curl ${shellQuote(`${origin}/api/peers/${encodeURIComponent(peer)}/ping`)}`,
    mesh: namedCommand('ping', peer),
  }
}

/** Connects to an address; the command line of mesh has no command for it. */
export function addPeerCommand(origin: string, address: string): string {
  const body = shellQuote(JSON.stringify({ Address: address }))
  return `curl -X POST ${shellQuote(`${origin}/api/peers`)} -H 'Content-Type: application/json' --data-binary ${body}`
}

/** Forgets a peer; the command line of mesh has no command for it. */
export function forgetPeerCommand({ origin, peer }: PeerAt): string {
  return `curl -X DELETE ${shellQuote(`${origin}/api/peers/${encodeURIComponent(peer)}`)}`
}

/** Commands that use a machine of the network, by a name or an address of it. */
export function machineCommands(place: string): { readonly ssh: string; readonly http: string } {
  const host = place.includes(':') ? `[${place}]` : place
  return { ssh: `ssh ${shellQuote(place)}`, http: `curl ${shellQuote(`http://${host}/`)}` }
}
