/** Numbers by which the kernel keeps apart what belongs to an exit. */

/** The table of the kernel with the default route into the VPN. */
export const EXIT_TABLE = 28_005
/** The preference of the first rule, and eight after it: before those of Tailscale (5210) and of wg-quick (32764). */
export const FIRST_PREFERENCE = 5_100
/** How long a command of the system may take, in ms. */
export const COMMAND_MS = 10_000
/** How long `resolvectl` may take, in ms: the node waits for it. */
export const RESOLVECTL_MS = 3_000
/** The most that a command of the system may print, in bytes. */
export const MAX_OUTPUT_BYTES = 32 * 1024 * 1024
/** How often the host is looked at for what disturbs an exit, in ms. */
export const CHECK_MS = 30_000
/** How often what an exit needs of the kernel is looked at, in ms: other programs take it away. */
export const MEND_MS = 5_000
/** The most connections of each family, begun by others before an exit was switched on, whose answers still go their way. */
export const MAX_BEGUN_CONNECTIONS = 1_024
/** The most ports of which it is asked who dialled the connections there. */
export const MAX_ASKED_PORTS = 256
/** How long people are told that another program took it away, in ms. */
export const MENDED_TOLD_MS = 600_000
/** Routes of IPv4 with fewer bits than this take so much of the Internet along that they count as default routes. */
export const BROAD_IPV4_BITS = 8
/** The same for IPv6. */
export const BROAD_IPV6_BITS = 16
