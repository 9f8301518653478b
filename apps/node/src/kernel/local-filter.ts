/**
 * Stands between the kernel's WireGuard and this machine: an nftables table that lets in from the interface only what is for
 * this node's addresses and the networks that it routes for others. The engine checks that itself; the kernel checks the
 * source of a packet alone. The interface and the table outlive a node that is killed, so they are written down first, and
 * the next node of the state folder takes them away. A firewall that is loaded anew flushes the table with its own, so it is
 * looked at and set again.
 */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Cidr, type Clock, type Logger, MeshError } from '@mesh/core'
import type { LocalFilter } from '@mesh/engine'
import * as z from 'zod'
import { MEND_MS } from '../exit/limits.ts'
import { CommandFailure, lookSystem, runSystem, trySystem } from '../exit/system-command.ts'
import { isRunning, processFields, thisProcess } from '../state/process-record.ts'
import { readStateFile, writeStateFile } from '../state/state-file.ts'

export const kernelJournal = z.object({
  ...processFields,
  interface: z.string().regex(/^[^\s/]{1,15}$/),
})

type KernelJournal = Readonly<z.infer<typeof kernelJournal>>

/** The names of the journals: the interface stands between these two. */
const [PREFIX, SUFFIX] = ['kernel-', '.json']

function tableOf(interfaceName: string): string {
  return `mesh_kernel_${interfaceName.replaceAll(/[^A-Za-z0-9]/g, '_')}`
}

/** The table as `nft -f` takes it: in one transaction, in place of the one before. Pure. */
export function localTable(interfaceName: string, local: readonly string[]): string {
  const table = `inet ${tableOf(interfaceName)}`
  // one rule each: ranges of one set must not overlap
  const accepted = local.map((range) => `${range.includes(':') ? 'ip6' : 'ip'} daddr ${range} accept`)
  return [
    `table ${table} {}`,
    `delete table ${table}`,
    `table ${table} {`,
    '  chain prerouting {',
    // before connections are tracked and addresses are exchanged
    '    type filter hook prerouting priority raw; policy accept;',
    `    iifname != "${interfaceName}" accept`,
    ...accepted.map((rule) => `    ${rule}`),
    '    drop',
    '  }',
    '}',
    '',
  ].join('\n')
}

export function createLocalFilter(stateDir: string, components: LocalFilterComponents): LocalFilter {
  return new NftFilter(stateDir, components)
}

interface LocalFilterComponents {
  readonly clock: Clock
  readonly log: Logger
}

interface ToldFilter {
  readonly interface: string
  readonly local: readonly Cidr[]
}

class NftFilter implements LocalFilter {
  readonly #stateDir: string
  readonly #components: LocalFilterComponents
  #told: ToldFilter | undefined
  #cancelWatch = () => {}

  constructor(stateDir: string, components: LocalFilterComponents) {
    this.#stateDir = stateDir
    this.#components = components
  }

  set(interfaceName: string, local: readonly Cidr[]): void {
    const isFirst = this.#told === undefined
    if (isFirst) {
      const journal: KernelJournal = { ...thisProcess(), interface: interfaceName }
      writeStateFile(journalPath(this.#stateDir, interfaceName), journal)
    }
    this.#told = { interface: interfaceName, local }
    try {
      apply(interfaceName, local)
    } catch (error) {
      // what was not made must not be taken away by a later node
      if (isFirst) this.clear()
      throw error
    }
    this.#watch()
  }

  clear(): void {
    this.#cancelWatch()
    if (this.#told === undefined) return
    const { interface: name } = this.#told
    trySystem('nft', ['delete', 'table', 'inet', tableOf(name)])
    rmSync(journalPath(this.#stateDir, name), { force: true })
    this.#told = undefined
  }

  #watch(): void {
    this.#cancelWatch()
    this.#cancelWatch = this.#components.clock.after(MEND_MS, () => void this.#look())
  }

  async #look(): Promise<void> {
    const [told, watch] = [this.#told, this.#cancelWatch]
    if (told === undefined) return
    const shown = await lookSystem('nft', ['list', 'table', 'inet', tableOf(told.interface)])
    // it was taken back meanwhile, or set anew
    if (this.#told !== told || this.#cancelWatch !== watch) return
    if (shown === undefined) this.#mend(told)
    this.#watch()
  }

  #mend({ interface: name, local }: ToldFilter): void {
    const { log } = this.#components
    try {
      apply(name, local)
      log.warn('another program took away the filter of the interface, and it was set again', {
        interface: name,
      })
    } catch (error) {
      log.error('filter of the interface is gone', { interface: name, error })
    }
  }
}

/** Takes away the interfaces and the tables of nodes of this state folder that were killed. */
export function restoreKernel(stateDir: string, log: Logger): void {
  for (const journal of readJournals(stateDir, log)) {
    if (isRunning(journal)) continue
    const { interface: name } = journal
    trySystem('ip', ['link', 'delete', 'dev', name, 'type', 'wireguard'])
    trySystem('nft', ['delete', 'table', 'inet', tableOf(name)])
    rmSync(journalPath(stateDir, name), { force: true })
    log.info('kernel interface of an earlier run taken away', { interface: name })
  }
}

/** @throws MeshError `kernel.no_nftables` */
function apply(interfaceName: string, local: readonly string[]): void {
  try {
    runSystem('nft', ['-f', '-'], localTable(interfaceName, local))
  } catch (error) {
    const isMissing = error instanceof CommandFailure && error.isMissing
    throw new MeshError(
      'kernel.no_nftables',
      isMissing
        ? "the kernel's WireGuard needs the command `nft`, which is not installed: without it members would reach more of this machine than its address in the VPN"
        : `nftables refused the filter for the kernel's WireGuard: ${error instanceof Error ? error.message : String(error)}`,
      {
        hint: isMissing
          ? 'Install nftables, or start with --wireguard engine.'
          : 'It needs root, and nftables in the kernel; or start with --wireguard engine.',
        cause: error,
      },
    )
  }
}

function journalPath(stateDir: string, interfaceName: string): string {
  return join(stateDir, `${PREFIX}${encodeURIComponent(interfaceName)}${SUFFIX}`)
}

function readJournals(stateDir: string, log: Logger): readonly KernelJournal[] {
  return journalFiles(stateDir).flatMap((name) => {
    const shown = name.slice(PREFIX.length, -SUFFIX.length)
    const hint = `If no node of this machine has an interface ${shown} any more: \`ip link delete dev ${shown}\` and \`nft delete table inet ${tableOf(shown)}\` take away what is left of it.`
    const journal = readStateFile({ file: join(stateDir, name), schema: kernelJournal, log, hint })
    return journal === undefined || journal === 'damaged' ? [] : [journal]
  })
}

function journalFiles(stateDir: string): readonly string[] {
  try {
    return readdirSync(stateDir).filter((name) => name.startsWith(PREFIX) && name.endsWith(SUFFIX))
  } catch {
    return []
  }
}
