/** Every error that the API can answer with: one list, from which server, client, command line and UI speak. */
import * as z from 'zod'

export interface ErrorDescription {
  /** The HTTP status of the answer. */
  readonly status: number
  /** One sentence that says what happened, without jargon. */
  readonly title: string
  /** The next step for whoever asks over HTTP. */
  readonly hint: string
  /** The seconds after which to ask again, where the failure ends by itself; the answer says them as `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** The hint for whoever asks by `mesh COMMAND`, where it differs from `hint`. */
  readonly commandHint?: string
}

export const errorCatalogue = {
  'http.bad_request': {
    status: 400,
    title: 'The request is not valid HTTP',
    hint: 'Send an HTTP/1.1 request with exactly one Host header.',
    commandHint: 'Check that the address is that of a mesh node.',
  },
  'http.bad_path': {
    status: 400,
    title: 'The path cannot be used',
    hint: 'Percent-encode each path segment once, as UTF-8; no segment may be empty.',
    commandHint: 'Names must not be empty, and are whole Unicode text.',
  },
  'http.bad_query': {
    status: 400,
    title: 'A query parameter cannot be used',
    hint: 'Issues names the parameter and the form that it takes.',
    commandHint: 'The lines above name the option and the form that it takes.',
  },
  'http.bad_body': {
    status: 400,
    title: 'The body cannot be used',
    hint: 'Send JSON in UTF-8; Issues names the field and what was expected.',
    commandHint: 'The lines above name the field and what was expected.',
  },
  'http.unauthorized': {
    status: 401,
    title: 'This node asks for a token',
    hint: 'Send `Authorization: Bearer TOKEN`; on the machine of the node `mesh api-token create` makes one.',
    commandHint:
      'Give it with --api-token-file FILE or MESHAPITOKEN; on the machine of the node `mesh api-token create` makes one.',
  },
  'http.level_too_low': {
    status: 403,
    title: 'The token is not good for this',
    hint: 'Use a token of the level that Issues names; on the machine of the node `mesh api-token create` makes one.',
    commandHint:
      'Use a token of a higher level; on the machine of the node `mesh api-token create NAME --level admin` makes one.',
  },
  'http.read_only': {
    status: 403,
    title: 'The API of this node is for reading only',
    hint: 'It was started with --api-read-only; on its machine the control socket takes writes.',
    commandHint: 'It was started with --api-read-only; on its machine, without --api-url, writes are taken.',
  },
  'http.too_many_failures': {
    status: 429,
    title: 'Too many wrong tokens came from this address',
    hint: 'Wait as long as Retry-After says, and check the token.',
    commandHint: 'Wait a minute, and check the token.',
  },
  'http.cross_site': {
    status: 403,
    title: 'Another web page asked for this',
    hint: 'Open the page of this node itself, or allow the other one with --api-allowed-host or --api-cors.',
  },
  'http.not_found': {
    status: 404,
    title: 'There is nothing at this address',
    hint: 'GET /api/openapi.json lists what this node serves.',
    commandHint:
      'This program and the node are of different versions: compare `mesh version` with `mesh status`.',
  },
  'http.method_not_allowed': {
    status: 405,
    title: 'This address takes other methods',
    hint: 'The Allow header lists the methods that work here.',
    commandHint:
      'This program and the node are of different versions: compare `mesh version` with `mesh status`.',
  },
  'http.timeout': {
    status: 408,
    title: 'The request took too long to arrive',
    hint: 'Send the whole request without pauses.',
  },
  'http.body_too_large': {
    status: 413,
    title: 'The body is too large',
    hint: 'A body may have 128 KiB; keep large things elsewhere and write where they are.',
  },
  'http.path_too_long': {
    status: 414,
    title: 'The path is too long',
    hint: 'Send the value as a JSON body: PUT /api/ledger/:bucket/:key.',
    commandHint: 'Use a shorter bucket or key.',
  },
  'http.unsupported_media': {
    status: 415,
    title: 'The body is of a kind that is not taken here',
    hint: 'Send Content-Type: application/json in UTF-8, not compressed.',
    commandHint:
      'This program and the node are of different versions: compare `mesh version` with `mesh status`.',
  },
  'http.wrong_host': {
    status: 421,
    title: 'This node does not answer to that name',
    hint: 'Ask by IP address or localhost, or allow the name with --api-allowed-host.',
  },
  'http.rate_limited': {
    status: 429,
    retryAfterSeconds: 1,
    title: 'Too many writes from this address',
    hint: 'Wait as long as Retry-After says; 200 writes a second are taken, 1,000 at once.',
    commandHint: 'Wait a second; 200 writes a second are taken, 1,000 at once.',
  },
  'http.headers_too_large': {
    status: 431,
    title: 'The headers are too large',
    hint: 'Headers may have 256 KiB together; clear cookies for this address.',
    commandHint: 'Use a shorter bucket or key.',
  },
  'http.internal': {
    status: 500,
    title: 'Something went wrong in this node',
    hint: 'The log of the node has the details under the RequestID.',
    commandHint: 'The log of the node has the details.',
  },
  'ledger.not_found': {
    status: 404,
    title: 'There is no such entry',
    hint: 'GET the bucket to see its keys; it may have been deleted or have expired.',
    commandHint:
      '`mesh ledger list BUCKET` shows the keys there are; it may have been deleted or have expired.',
  },
  'ledger.bad_value': {
    status: 400,
    title: 'This bucket does not take such a value',
    hint: 'Issues or the message says what the bucket expects.',
    commandHint: 'The message says what the bucket expects.',
  },
  'ledger.too_large': {
    status: 400,
    title: 'The entry is too large',
    hint: 'A bucket name may have 256 bytes, a key 1 KiB, a value 64 KiB of JSON text.',
  },
  'ledger.not_owner': {
    status: 409,
    title: 'Another member owns this key',
    hint: 'Use another key, or wait until the lease of its owner ends.',
  },
  'ledger.written_by_node': {
    status: 409,
    title: 'The node writes this entry itself',
    hint: 'A node says by itself that it is alive for as long as it runs: to end what it owns, stop it.',
  },
  'ledger.over_quota': {
    status: 409,
    title: 'The ledger has no room for this entry',
    hint: 'Delete entries that are not needed any more.',
  },
  'ledger.store_failed': {
    status: 503,
    title: 'The node cannot keep its ledger on disk',
    hint: 'Free space on the disk of the state directory, or see the log of the node.',
  },
  'ledger.stopped': {
    status: 503,
    title: 'The node is stopping',
    hint: 'Ask again when the node runs.',
  },
  'dns.bad_record': {
    status: 400,
    title: 'The name record cannot be used',
    hint: 'Issues names the pattern or value that is wrong.',
    commandHint: 'The message names the pattern or value that is wrong.',
  },
  'dns.not_running': {
    status: 404,
    title: 'This node runs no DNS server',
    hint: 'Start it with --dns ADDRESS, as in --dns 127.0.0.1:5353.',
  },
  'dns.busy': {
    status: 503,
    retryAfterSeconds: 1,
    title: 'The patterns of the ledger take too long to try',
    hint: 'Ask again; delete patterns that are not needed.',
  },
  'vpn.not_running': {
    status: 404,
    title: 'This node runs no VPN',
    hint: 'A node has one when it was started as `mesh` alone; `mesh api` and `mesh start` make no interface.',
  },
  'vpn.unknown_machine': {
    status: 404,
    title: 'The VPN has no such machine',
    hint: 'GET /api/vpn lists the machines; name one by its address, its host name or its peer id.',
    commandHint: '`mesh status` lists the machines; name one by its address, its host name or its peer id.',
  },
  'vpn.ambiguous_machine': {
    status: 409,
    title: 'Several machines have this name',
    hint: 'Name the machine by its address or its peer id.',
  },
  'vpn.unreachable': {
    status: 503,
    title: 'The machine does not answer',
    hint: 'Check that it runs and has a connection; GET /api/peers has the last error.',
    commandHint: 'Check that it runs and has a connection; `mesh status` has the last error.',
  },
  'vpn.guest_exists': {
    status: 409,
    title: 'A guest has this name already',
    hint: 'Choose another name, or DELETE the guest first: its configuration is not told a second time.',
    commandHint:
      'Choose another name, or `mesh guest remove` it first: its configuration is not told a second time.',
  },
  'vpn.unknown_guest': {
    status: 404,
    title: 'This node has no such guest',
    hint: 'GET /api/vpn/guests lists them.',
    commandHint: '`mesh guest list` lists them.',
  },
  'vpn.bad_guest_name': {
    status: 400,
    title: 'This cannot be the name of a guest',
    hint: 'A name has 1 to 63 letters, digits and hyphens, and begins and ends with a letter or digit.',
  },
  'vpn.too_many_guests': {
    status: 409,
    title: 'This node has as many guests as it takes',
    hint: 'A node takes 32: remove some, or add the guest on another node.',
  },
  'vpn.no_guest_address': {
    status: 409,
    title: 'There is no free address for a guest',
    hint: 'Guests have IPv4 addresses of the range of the VPN: use a larger one on all nodes (--address).',
  },
  'vpn.guest_not_kept': {
    status: 503,
    title: 'The guests of this node cannot be written down',
    hint: 'Free space on the disk of the state directory, or see the log of the node.',
  },
  'vpn.no_udp': {
    status: 409,
    title: 'This node sends nothing over UDP, by which alone guests come',
    hint: 'Start it with --udp.',
  },
  'vpn.no_endpoint': {
    status: 409,
    title: 'It is not known where a guest finds this node',
    hint: 'Name the address or host name that others reach this machine by: Endpoint, or --guest-endpoint.',
    commandHint: 'Name the address or host name that others reach this machine by: --guest-endpoint.',
  },
  'peer.unknown': {
    status: 404,
    title: 'This node knows no such peer',
    hint: 'GET /api/peers lists the peers; name one by its peer id, its name or its address in the VPN.',
    commandHint:
      '`mesh status` lists the peers; name one by its peer id, its name or its address in the VPN.',
  },
  'peer.ambiguous': {
    status: 409,
    title: 'Several peers have this name',
    hint: 'Name the peer by its peer id.',
  },
  'peer.unreachable': {
    status: 503,
    title: 'The peer does not answer',
    hint: 'Check that it runs and has a connection; GET /api/peers has the last error.',
    commandHint: 'Check that it runs and has a connection; `mesh status` has the last error.',
  },
  'metrics.no_reporter': {
    status: 404,
    title: 'This node counts no traffic',
    hint: 'It was started without a bandwidth reporter.',
  },
  'events.too_many_readers': {
    status: 503,
    retryAfterSeconds: 5,
    title: 'Too many readers of events',
    hint: 'Close other pages or tools that watch this node.',
  },
  'node.local_only': {
    status: 403,
    title: 'This reaches into the machine, so only the machine itself may ask',
    hint: 'Ask over the control socket or a loopback address, on the machine that the node runs on.',
  },
  'services.not_running': {
    status: 503,
    retryAfterSeconds: 2,
    title: 'The node has not joined its network yet',
    hint: 'Ask again in a few seconds; GET /api/health says what it waits for.',
    commandHint: 'Try again in a few seconds; `mesh status` says what it waits for.',
  },
  'services.unknown': {
    status: 404,
    title: 'This node has nothing of that name',
    hint: 'The same address without the name lists what there is.',
    commandHint: '`mesh services` lists what there is.',
  },
  'services.bad_name': {
    status: 400,
    title: 'This cannot be a name',
    hint: 'A name is text without control characters.',
  },
  'services.bad_address': {
    status: 400,
    title: 'The address cannot be used',
    hint: 'Use HOST:PORT, :PORT, udp:HOST:PORT or unix:PATH.',
  },
  'services.name_in_use': {
    status: 409,
    title: 'This node uses the name already',
    hint: 'Delete what has the name, or choose another.',
  },
  'services.too_many': {
    status: 409,
    title: 'This node holds as many as it takes',
    hint: 'Delete what is not needed any more.',
  },
  'services.cannot_listen': {
    status: 409,
    title: 'Nothing can listen at this address',
    hint: 'Choose another address, or end what uses it.',
  },
  'files.unreadable': {
    status: 400,
    title: 'The file or folder cannot be offered',
    hint: 'Give the path of a file or folder that the node may read, as the machine names it.',
  },
  'files.too_many': {
    status: 409,
    title: 'That is more than this node can offer',
    hint: 'Offer fewer names, or folders with fewer files.',
  },
  'trust.no_peerguard': {
    status: 404,
    title: 'This node has no peer gate',
    hint: 'Start it with --peerguard.',
  },
  'trust.no_administrators': {
    status: 404,
    title: 'This network has no administrators: whoever has its token is in',
    hint: 'Make one with `mesh admin init`, which prints a token that names it.',
  },
  'trust.no_admin_key': {
    status: 403,
    title: "This node holds no administrator's key",
    hint: 'Ask on the machine where `mesh admin init` was run, or start this node with --admin-key FILE.',
  },
  'trust.foreign_admin_key': {
    status: 403,
    title: "The key that this node holds is no administrator's of this network",
    hint: 'Start the node with the token that `mesh admin init` printed.',
  },
  'trust.not_stated': {
    status: 409,
    title: 'The ledger did not take it',
    hint: "Check this machine's clock, and that the ledger is stored; GET /api/health says what is wrong.",
    commandHint:
      "Check this machine's clock, and that the ledger is stored; `mesh status` says what is wrong.",
  },
  'trust.own_node': {
    status: 409,
    title: "This node holds the administrator's key and cannot shut itself out",
    hint: 'Put the key on another machine that is in, and ask there.',
  },
  'trust.unknown_invite': {
    status: 404,
    title: 'There is no such invite of this administrator',
    hint: 'GET /api/admission lists the invites.',
    commandHint: '`mesh admin list` lists the invites.',
  },
  'debug.busy': {
    status: 503,
    title: 'Another profile is being taken',
    hint: 'Ask again when it is done; Retry-After says when to try.',
    commandHint: 'Try again when it is done.',
  },
  'node.no_log': {
    status: 404,
    title: 'The log of this node cannot be changed while it runs',
    hint: 'Start it with --log-level.',
  },
  'node.bad_log_level': {
    status: 400,
    title: 'These levels cannot be used',
    hint: 'Send debug, info, warn, error or off, or for single subsystems as in info,p2p=debug; GET /api/log-level lists them.',
    commandHint:
      'Give debug, info, warn, error or off, or for single subsystems as in info,p2p=debug; `mesh log-level` lists them.',
  },
  'node.not_kept': {
    status: 503,
    title: 'It is in force, and is forgotten when the node ends',
    hint: 'Is the state folder full or read-only? A node with --ephemeral keeps nothing.',
  },
  'node.not_ready': {
    status: 503,
    retryAfterSeconds: 2,
    title: 'The node is not ready yet',
    hint: 'Ask again in a few seconds; GET /api/health says what it waits for.',
    commandHint: 'Ask again in a few seconds; `mesh status` says what it waits for.',
  },
} as const satisfies Readonly<Record<string, ErrorDescription>>

export type ErrorCode = keyof typeof errorCatalogue

const has = Object.prototype.hasOwnProperty.bind(errorCatalogue)

/** Gives the next step, in the words of HTTP or of the command line. */
export function hintOf(code: ErrorCode, asker: 'http' | 'command'): string {
  const { hint, commandHint }: ErrorDescription = errorCatalogue[code]
  return asker === 'command' ? (commandHint ?? hint) : hint
}

/** After how many seconds a failure may be over; undefined where nobody knows. */
export function retryAfterSecondsOf(code: ErrorCode): number | undefined {
  const { retryAfterSeconds }: ErrorDescription = errorCatalogue[code]
  return retryAfterSeconds
}

/** Narrows any text to a code of the catalogue. */
export function isErrorCode(code: string): code is ErrorCode {
  return has(code)
}

/** The body of every answer with a status of 400 or more. */
export const errorBody = z
  .object({
    Code: z.string().meta({ description: 'One of the closed list of codes.', example: 'ledger.not_owner' }),
    Message: z.string(),
    Hint: z.string(),
    RequestID: z.string(),
    Issues: z.array(z.object({ Field: z.string(), Value: z.string(), Expected: z.string() })),
    Owner: z.string().optional().meta({ description: 'With ledger.not_owner: who owns the key.' }),
    LeaseEndsAt: z
      .string()
      .optional()
      .meta({ description: 'With ledger.not_owner: when the lease ends unless renewed, RFC 3339 UTC.' }),
  })
  .meta({ id: 'Error' })
export type ErrorBody = z.infer<typeof errorBody>
