/** Lists what can be wrong with a request, or with the token that it brings. */
import type { ErrorDescription } from './error-description.ts'

export const httpErrors = {
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
    hint: 'Path and headers may have 64 KiB together; clear cookies for this address.',
    commandHint: 'Use a shorter bucket or key.',
  },
  'http.internal': {
    status: 500,
    title: 'Something went wrong in this node',
    hint: 'The log of the node has the details under the RequestID.',
    commandHint: 'The log of the node has the details.',
  },
} as const satisfies Readonly<Record<string, ErrorDescription>>
