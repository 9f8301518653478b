/** Bounds and times of measuring bandwidth. */

/** The most protocols whose bandwidth is counted one by one. */
export const MAX_METERED_PROTOCOLS = 256
/** The most peers whose bandwidth is counted one by one. */
export const MAX_METERED_PEERS = 1024
