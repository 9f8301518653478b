/**
 * Protects this machine behind the kernel's WireGuard, which checks only the source of a packet. An nftables table lets in from the
 * interface only packets for this node's addresses and the networks that it routes. Interface and table survive a killed node,
 * so they are written down first and removed by the next node. A firewall reload flushes the table; the node sets it again.
 */
import { type Cidr, type Clock, type Logger, MeshError } from '@mesh/core'
import type { LocalFilter } from '@mesh/engine'
import * as z from 'zod'
import { MEND_MS } from '../limits.ts'
import { CommandFailure, lookSystem, runSystem, trySystem } from '../system/system-command.ts'
import { type Journals, processFields } from '../journals.ts'

export const kernelJournal = z.object({
  ...processFields,
  interface: z.string().regex(/^[^\s/]{1,15}$/),
})

type KernelJournal = Readonly<z.infer<typeof kernelJournal>>

/** The names of the journals begin so; the interface follows. */
const PREFIX = 'kernel-'

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

export function createLocalFilter(journals: Journals, components: LocalFilterComponents): LocalFilter {
  return new NftFilter(journals, components)
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
  readonly #journals: Journals
  readonly #components: LocalFilterComponents
  #told: ToldFilter | undefined
  #cancelWatch = () => {}

  constructor(journals: Journals, components: LocalFilterComponents) {
    this.#journals = journals
    this.#components = components
  }

  set(interfaceName: string, local: readonly Cidr[]): void {
    const isFirst = this.#told === undefined
    if (isFirst) {
      const journal: KernelJournal = { ...this.#journals.thisProcess(), interface: interfaceName }
      this.#journals.write(nameOf(interfaceName), journal)
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
    this.#journals.remove(nameOf(name))
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
export function restoreKernel(journals: Journals, log: Logger): void {
  for (const journal of readJournals(journals)) {
    if (journals.isRunning(journal)) continue
    const { interface: name } = journal
    trySystem('ip', ['link', 'delete', 'dev', name, 'type', 'wireguard'])
    trySystem('nft', ['delete', 'table', 'inet', tableOf(name)])
    journals.remove(nameOf(name))
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

function nameOf(interfaceName: string): string {
  return `${PREFIX}${encodeURIComponent(interfaceName)}`
}

function readJournals(journals: Journals): readonly KernelJournal[] {
  return journals.list(PREFIX).flatMap((name) => {
    const shown = name.slice(PREFIX.length)
    const hint = `If no node of this machine has an interface ${shown} any more: \`ip link delete dev ${shown}\` and \`nft delete table inet ${tableOf(shown)}\` take away what is left of it.`
    const journal = journals.read(name, kernelJournal, hint)
    return journal === undefined || journal === 'damaged' ? [] : [journal]
  })
}
