/** Turns whatever went wrong into one answer of the contract's catalogue. */
import { type ErrorBody, type ErrorCode, errorCatalogue, isErrorCode } from '@mesh/api-contract'
import { type Issue, MeshError, type MeshErrorInit } from '@mesh/core'
import { MAX_SHOWN_VALUE } from '../limits.ts'

/** An answer other than success, thrown by whoever notices. */
export class Problem extends MeshError<ErrorCode> {
  /** Further headers: `Allow`, `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    message: string = errorCatalogue[code].title,
    init: MeshErrorInit & { readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(code, message, init)
    this.headers = init.headers ?? {}
  }
}

/** Errors of the ledger are in the catalogue by their own codes; all that is not is this node's fault. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof MeshError && isErrorCode(error.code)) {
    const { message, hint, issues, details } = error
    return new Problem(error.code, message, {
      ...(hint !== undefined && { hint }),
      issues,
      details,
      cause: error,
    })
  }
  return new Problem('http.internal', undefined, { cause: error })
}

export function problemBody(problem: Problem, requestId: string): ErrorBody {
  const { owner, leaseEndsAt } = problem.details
  return {
    Code: problem.code,
    Message: problem.message,
    Hint: problem.hint ?? errorCatalogue[problem.code].hint,
    RequestID: requestId,
    Issues: problem.issues.map(({ field, value, expected }) => ({
      Field: field,
      Value: value ?? '',
      Expected: expected,
    })),
    ...(typeof owner === 'string' && owner !== '' && { Owner: owner }),
    ...(typeof leaseEndsAt === 'number' && { LeaseEndsAt: new Date(leaseEndsAt).toISOString() }),
  }
}

/** One thing wrong, with the value shortened. */
export function issue(field: string, value: unknown, expected: string): Issue {
  return { field, value: shown(value), expected }
}

function shown(value: unknown): string {
  if (value === undefined) return ''
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length > MAX_SHOWN_VALUE ? `${text.slice(0, MAX_SHOWN_VALUE).toWellFormed()}...` : text
}
