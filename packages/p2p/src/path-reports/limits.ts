/** Bounds and times of what members tell of their paths. */
import type { RateInit } from '@mesh/core/limits'

/** The most paths in one report; the report counts the others. */
export const MAX_TOLD_PATHS = 256
/** The longest report, in bytes. */
export const MAX_REPORT_BYTES = 64 * 1024
/** How old a report is, in ms, before its member is asked again. */
export const REPORT_MAX_AGE_MS = 30_000
/** How long a member may take to answer, in ms. */
export const REPORT_TIMEOUT_MS = 10_000
/** How long this node answers with the same report, in ms: many members may ask at once. */
export const OWN_REPORT_AGE_MS = 1_000
/** The most members that this node asks at the same time. */
export const MAX_ASKED_AT_ONCE = 8
/** The most members whose reports this node keeps. */
export const MAX_KEPT_REPORTS = 200
/** Questions that this node answers: of one member one each 5 s. */
export const REPORT_QUESTIONS = {
  perPeer: { perSecond: 0.2, burst: 2 },
  perAddress: { perSecond: 10, burst: 200 },
  all: { perSecond: 40, burst: 400 },
} satisfies RateInit
