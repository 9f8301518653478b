/** One thing wrong with one input field, in words for the person who sent it. */
export interface Issue {
  /** Where: a field path, a flag (`--mtu`) or an environment variable. */
  readonly field: string
  /** The value that was given, shortened and with secrets masked. */
  readonly value?: string
  /** The form that would have been right. */
  readonly expected: string
}

export interface MeshErrorInit extends ErrorOptions {
  /** The next step for the reader, in one sentence. */
  readonly hint?: string
  readonly issues?: readonly Issue[]
  /** Fields for logs and for programs; no secrets. */
  readonly details?: Readonly<Record<string, unknown>>
}

/**
 * The one error class of mesh. `code` is from the closed union of the package that throws, in the form
 * `subsystem.reason` (`ledger.not_owner`); `message` is for people, without a stack trace's knowledge.
 */
export class MeshError<Code extends string = string> extends Error {
  override readonly name = 'MeshError'
  readonly code: Code
  readonly hint: string | undefined
  readonly issues: readonly Issue[]
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: Code, message: string, init: MeshErrorInit = {}) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause })
    this.code = code
    this.hint = init.hint
    this.issues = init.issues ?? []
    this.details = init.details ?? {}
  }
}

/** Gives the function that makes the errors of one package. */
export function errorsOf<Code extends string>() {
  return (code: Code, message: string, init?: MeshErrorInit) => new MeshError(code, message, init)
}
