/** A TCP connection that others began to a program of this machine. */
export interface InboundConnection {
  /** The address of this machine. */
  readonly local: string
  readonly localPort: number
  readonly remote: string
  readonly remotePort: number
}
