/** Bounds of addresses that peers name. */

/** Addresses whose streams are counted; of more, the one heard longest ago begins anew. */
export const MAX_RATED_ADDRESSES = 4_096
