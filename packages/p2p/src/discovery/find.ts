import type { Multiaddr } from '@multiformats/multiaddr'

type FindKind = 'configured' | 'member' | 'found'

export interface Find {
  readonly peer: string
  readonly addresses: readonly Multiaddr[]
  /** `configured`: dialled first and never given up. `member`: was connected before. Default `found`. */
  readonly kind?: FindKind
  /** Whence it was told, as `addressGroupOf` gives it; unless given, all that one way of discovery finds counts as told by one. */
  readonly from?: string
}
