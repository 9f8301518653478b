export interface CallOptions {
  readonly signal?: AbortSignal
}

export interface PagesOptions extends CallOptions {
  /** How many entries a page has at most; as many as the node gives unless given. */
  readonly limit?: number
  /** Begin after this: a key, an entry's path or a peer id, as the route takes it. */
  readonly after?: string
}
