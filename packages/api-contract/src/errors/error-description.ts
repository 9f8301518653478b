export interface ErrorDescription {
  /** The HTTP status of the answer. */
  readonly status: number
  /** One sentence that says what happened, without jargon. */
  readonly title: string
  /** The next step for anyone who asks over HTTP. */
  readonly hint: string
  /** The seconds after which to ask again, where the failure ends by itself; the answer says them as `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** The hint for anyone who asks by `mesh COMMAND`, where it differs from `hint`. */
  readonly commandHint?: string
}
