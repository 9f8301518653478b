import { type ErrorCode, errorBody, errorCatalogue, isErrorCode } from '@mesh/api-contract'
import { MeshError, type MeshErrorInit, parseExactJson } from '@mesh/core'

/** Codes of what can go wrong on this side, or before a node of ours answers. */
export type ClientErrorCode =
  /** No connection, or it broke. */
  | 'client.unreachable'
  | 'client.timeout'
  /** A name that cannot stand in a URL: empty, `.`, `..`, or broken Unicode. */
  | 'client.bad_name'
  /** What answered does not speak this API. */
  | 'client.bad_answer'

export interface ApiErrorInit extends MeshErrorInit {
  /** HTTP status; 0, the default, when there was no answer. */
  readonly status?: number
  readonly requestId?: string
  /** How long the node asks to wait before the next try, in ms. */
  readonly retryAfterMs?: number | undefined
  /** Who holds the key, and until when (RFC 3339); there with `ledger.not_owner`. */
  readonly owner?: string | undefined
  readonly leaseEndsAt?: string | undefined
}

/** Why a call failed: what the node answered, or what happened on the way. */
export class ApiError extends MeshError<ErrorCode | ClientErrorCode> {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  /** Finds the line in the node's log. */
  readonly requestId: string | undefined
  readonly owner: string | undefined
  readonly leaseEndsAt: string | undefined
  /** How long the node asks to wait before the next try, in ms. */
  readonly retryAfterMs: number | undefined

  constructor(code: ErrorCode | ClientErrorCode, message: string, init: ApiErrorInit = {}) {
    super(code, message, init)
    this.status = init.status ?? 0
    this.requestId = init.requestId
    this.owner = init.owner
    this.leaseEndsAt = init.leaseEndsAt
    this.retryAfterMs = init.retryAfterMs
  }
}

/** The error that an answer with a status of 400 or more stands for. */
export function errorOfAnswer(status: number, text: string, retryAfterMs?: number): ApiError {
  const body = errorBody.safeParse(tryParse(text)).data
  if (body === undefined || !isErrorCode(body.Code)) {
    return new ApiError('client.bad_answer', body?.Message ?? `the server answered with status ${status}`, {
      status,
      retryAfterMs,
      hint: body?.Hint ?? 'Check that the address is that of a mesh node, of this or a newer version.',
    })
  }
  return new ApiError(body.Code, body.Message, {
    status,
    retryAfterMs,
    hint: body.Hint === '' ? errorCatalogue[body.Code].hint : body.Hint,
    requestId: body.RequestID,
    owner: body.Owner,
    leaseEndsAt: body.LeaseEndsAt,
    issues: body.Issues.map(({ Field, Value, Expected }) => ({
      field: Field,
      value: Value,
      expected: Expected,
    })),
  })
}

function tryParse(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    return undefined
  }
}
