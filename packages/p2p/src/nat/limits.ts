/** Bounds and times of NAT traversal. */
import type { RateInit } from '@mesh/core/limits'

/** How often peers may have this node dial them for hole punching. */
export const HOLE_PUNCHES = {
  perAddress: { perSecond: 2, burst: 64 },
  all: { perSecond: 5, burst: 128 },
} satisfies RateInit
/** How often peers may ask whether this node can dial them. */
export const DIAL_BACKS = {
  perAddress: { perSecond: 0.5, burst: 16 },
  all: { perSecond: 2, burst: 64 },
} satisfies RateInit
/** How often members are asked to dial addresses that nobody has confirmed, in ms. */
export const AUTONAT_ASK_MS = 5_000
/** The most peers that are asked at a time; the library itself asks three at once. */
export const MAX_AUTONAT_ASKED = 8
/** The longest STUN request that is read. */
export const MAX_STUN_PACKET_BYTES = 576
/** The most STUN requests that are answered in a second. */
export const MAX_STUN_PER_SECOND = 200
