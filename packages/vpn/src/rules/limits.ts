/** How often refused packets are told, in ms, as one batch. */
export const REFUSALS_MS = 1_000
/** The most refusals that the status lists, alike packets as one; the ones that were repeated longest ago go first. */
export const MAX_KEPT_REFUSALS = 256
