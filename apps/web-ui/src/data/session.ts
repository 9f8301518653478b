/**
 * The token of this tab, where the node asks for one: from the address (`#token=...`), or typed. It is kept in the
 * session storage, which no other tab or page reads and which ends with the tab.
 */
import type { Fetch } from '@mesh/api-client'

const STORAGE_KEY = 'mesh.token'

export interface Session {
  /** The token that goes with each request. */
  readonly token: () => string | undefined
  /** Does the node ask for a token that this tab does not have? */
  readonly isAsked: () => boolean
  /** Calls back when the answers above may have changed. */
  readonly subscribe: (listener: () => void) => () => void
  /** A fetch that notices when the node asks for a token. */
  watch(fetch: Fetch): Fetch
  /** Uses a token that the node has taken. */
  use(token: string): void
  /** Ends this tab's use of its token. */
  forget(): void
}

export function createSession(given: string | undefined = takeToken()): Session {
  let token = given
  let asked = false
  const listeners = new Set<() => void>()
  const change = (next: string | undefined, isAsked: boolean) => {
    token = next
    asked = isAsked
    keep(next)
    for (const listener of listeners) listener()
  }
  return {
    token: () => token,
    isAsked: () => asked,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    watch: (fetch) => async (url, init) => {
      const sent = init.headers['authorization']
      const response = await fetch(url, init)
      const isOld = sent !== bearer(token)
      if (response.status === 401 && !asked && !isOld) change(undefined, true)
      return response
    },
    use: (next) => change(next, false),
    forget: () => change(undefined, true),
  }
}

function bearer(token: string | undefined): string | undefined {
  return token === undefined ? undefined : `Bearer ${token}`
}

/** A token in the address is taken out of it, so that it is neither seen nor passed on with a link. */
function takeToken(): string | undefined {
  const given = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
  if (given === '') return kept()
  history.replaceState(null, '', location.pathname + location.search)
  keep(given)
  return given
}

function kept(): string | undefined {
  try {
    return sessionStorage.getItem(STORAGE_KEY) ?? undefined
  } catch {
    return undefined
  }
}

/** Where storage is switched off, the token lasts as long as the page. */
function keep(token: string | undefined): void {
  try {
    if (token === undefined) sessionStorage.removeItem(STORAGE_KEY)
    else sessionStorage.setItem(STORAGE_KEY, token)
  } catch {
    // it is in memory
  }
}
