/** The form in which the doctor says what it found; `mesh doctor` prints it, and whoever else asks gets the same. */

/**
 * The outcome of a check. `ok`: nothing to do. `warn`: something works less well than it could. `fail`: something does
 * not work. `skip`: it could not be looked at, and why.
 */
export type Verdict = 'ok' | 'warn' | 'fail' | 'skip'

export interface Check {
  /** One word or two, such as `clock`. */
  readonly name: string
  readonly verdict: Verdict
  /** One sentence for people: what was found. */
  readonly found: string
  /** One sentence for people: what to do next; undefined where nothing is to be done. */
  readonly next?: string
}

export const ok = (name: string, found: string): Check => ({ name, verdict: 'ok', found })
export const skip = (name: string, found: string): Check => ({ name, verdict: 'skip', found })
export const warn = (name: string, found: string, next: string): Check => ({
  name,
  verdict: 'warn',
  found,
  next,
})
export const fail = (name: string, found: string, next: string): Check => ({
  name,
  verdict: 'fail',
  found,
  next,
})
