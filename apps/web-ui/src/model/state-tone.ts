/** Every state of the page: a word with a shape, never a colour alone. */
export type StateTone =
  | 'self'
  | 'direct'
  | 'relayed'
  | 'indirect'
  | 'offline'
  | 'announcing'
  | 'committed'
  | 'refused'
  | 'warning'

/** A state in words for people. */
export interface StateInWords {
  readonly tone: StateTone
  readonly word: string
  /** Stands softer after the word. */
  readonly detail?: string | undefined
  /** A whole sentence: what the state means, and for whom. */
  readonly sentence: string
}
