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
