/** Keeps a text over restarts: an address, or those of others. */
export interface LeaseStore {
  read(): string | undefined
  write(text: string): void
}
