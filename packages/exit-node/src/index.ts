/**
 * Does what an exit node needs of a Linux machine: routing rules, nftables tables and DNS servers. It writes each change
 * down first, through a port, and takes it back at the end or at the next start.
 *
 * @example
 * ```ts
 * import { examineExit } from '@mesh/exit-node'
 *
 * const problems = examineExit({ interface: 'mesh0', exitNode: 'gate', advertiseExit: false }) ?? []
 * for (const { title, hint } of problems) console.log(title, hint)
 * ```
 */
export { examineExit } from './examine-exit.ts'
export { type ExitHost, type ExitHostInit, forwardedFamilies, openExitHost } from './exit-host.ts'
export { asksForAll } from './exit-resolver.ts'
export type { ExitSettings } from './exit-settings.ts'
export type { Journals, ProcessRecord } from './journals.ts'
export { createLocalFilter, restoreKernel } from './kernel/local-filter.ts'
export { forwards } from './system/forwards.ts'
export { machineResolvers, RESOLVED_CONF } from './system/machine-resolvers.ts'
