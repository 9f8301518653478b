/** Keeps a text over restarts: an address, or those of others. */
export interface LeaseStore {
  read(): string | undefined
  write(text: string): void
}

/** A memory that remembers nothing: what would be in it ends with the node. */
export const NO_STORE: LeaseStore = { read: () => undefined, write() {} }
