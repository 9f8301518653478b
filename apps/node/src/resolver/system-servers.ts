/**
 * Follows the DNS servers of this machine as they change. A laptop changes networks, and a machine may start before its network is
 * there.
 */
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import type { Logger } from '@mesh/core'
import type { ForwardServer } from '@mesh/dns'
import { machineResolvers, RESOLVED_CONF } from '@mesh/exit-node'
import { parseForwardPlace } from '../settings/dns-values.ts'
import { valuesOf } from '../settings/vpn-values.ts'
import { isMarked, nameServersOf } from './resolv-conf.ts'
import { readSavedResolver, RESOLV_CONF } from './restore-resolver.ts'

/** How often a file is looked at, in ms. It may be replaced, or a link whose target changes, which no event tells. */
const FILE_LOOK_MS = 2_000

export interface SystemServersInit {
  /** The state folder, where what stood in a file that this node wrote is kept. */
  readonly stateDir: string
  /** True with an exit node: the servers of systemd-resolved are asked, which itself would ask past the exit. */
  readonly usesExit: boolean
  readonly log: Logger
}

/** The servers now; none where the machine names none. */
export function systemServers({ stateDir, usesExit, log }: SystemServersInit): readonly ForwardServer[] {
  if (usesExit) return valuesOf(machineResolvers(), parseForwardPlace)
  try {
    const text = readFileSync(RESOLV_CONF, 'utf8')
    const saved = isMarked(text) ? readSavedResolver(stateDir, log) : undefined
    return valuesOf(nameServersOf(saved?.text ?? text), parseForwardPlace)
  } catch {
    return []
  }
}

/** Calls back when the servers may be others. The returned function ends it. */
export function watchSystemServers(onChange: () => void): () => void {
  return watchFiles([RESOLV_CONF, RESOLVED_CONF], onChange)
}

/** Calls back when a file was written, replaced, made or removed; links are followed. The returned function ends it. */
export function watchFiles(paths: readonly string[], onChange: () => void): () => void {
  const listener = () => onChange()
  for (const path of paths) watchFile(path, { interval: FILE_LOOK_MS, persistent: false }, listener)
  return () => {
    for (const path of paths) unwatchFile(path, listener)
  }
}
