/**
 * Protects this machine behind the kernel's WireGuard, which checks only the source of a packet. An nftables table lets in from the
 * interface only packets for this node's addresses and the networks that it routes. Interface and table survive a killed node,
 * so they are written down first and removed by the next node. A firewall reload flushes the table; the node sets it again.
 */
import { type Cidr, type Clock, type Logger, MeshError } from '@mesh/core'
import type { LocalFilter } from '@mesh/engine'
import * as z from 'zod'
import { MEND_MS } from '../limits.ts'
import {
  acceptRules,
  hasTable,
  refusalOf,
  removeTable,
  setTable,
  tableSuffix,
  tableText,
} from '../system/nft-table.ts'
import { trySystem } from '../system/system-command.ts'
import { type Journals, processFields } from '../journals.ts'

export const kernelJournal = z.object({
  ...processFields,
  interface: z.string().regex(/^[^\s/]{1,15}$/),
})

type KernelJournal = Readonly<z.infer<typeof kernelJournal>>

/** The names of the journals begin so; the interface follows. */
const PREFIX = 'kernel-'

function tableOf(interfaceName: string): string {
  return `mesh_kernel_${tableSuffix(interfaceName)}`
}

/** The table of the filter. Pure. */
export function localTable(interfaceName: string, local: readonly string[]): string {
  const rules = [`iifname != "${interfaceName}" accept`, ...acceptRules(local), 'drop']
  // before connections are tracked and addresses are exchanged
  const hook = 'type filter hook prerouting priority raw'
  return tableText(tableOf(interfaceName), [{ name: 'prerouting', hook, rules }])
}

export function createLocalFilter(
  journals: Journals,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): LocalFilter {
  /** The interface that the filter is for; undefined: none was set. */
  let current: string | undefined
  let cancelWatch = () => {}

  function watch(name: string, local: readonly Cidr[]): void {
    cancelWatch()
    cancelWatch = clock.after(MEND_MS, () => void look(name, local))
  }

  async function look(name: string, local: readonly Cidr[]): Promise<void> {
    const cancel = cancelWatch
    const isThere = await hasTable(tableOf(name))
    // it was taken back meanwhile, or set anew
    if (cancelWatch !== cancel) return
    if (!isThere) mend(name, local)
    watch(name, local)
  }

  function mend(name: string, local: readonly Cidr[]): void {
    try {
      apply(name, local)
      log.warn('another program took away the filter of the interface, and it was set again', {
        interface: name,
      })
    } catch (error) {
      log.error('filter of the interface is gone', { interface: name, error })
    }
  }

  function clear(): void {
    cancelWatch()
    cancelWatch = () => {}
    if (current === undefined) return
    removeTable(tableOf(current))
    journals.remove(nameOf(current))
    current = undefined
  }

  return {
    set(name, local) {
      const isFirst = current === undefined
      if (isFirst) journals.write(nameOf(name), { ...journals.thisProcess(), interface: name })
      current = name
      try {
        apply(name, local)
      } catch (error) {
        // what was not made must not be taken away by a later node
        if (isFirst) clear()
        throw error
      }
      watch(name, local)
    },
    clear,
  }
}

/** Takes away the interfaces and the tables of nodes of this state folder that were killed. */
export function restoreKernel(journals: Journals, log: Logger): void {
  for (const journal of readJournals(journals)) {
    if (journals.isRunning(journal)) continue
    const { interface: name } = journal
    trySystem('ip', ['link', 'delete', 'dev', name, 'type', 'wireguard'])
    removeTable(tableOf(name))
    journals.remove(nameOf(name))
    log.info('kernel interface of an earlier run taken away', { interface: name })
  }
}

/** @throws MeshError `kernel.no_nftables` */
function apply(interfaceName: string, local: readonly string[]): void {
  try {
    setTable(localTable(interfaceName, local))
  } catch (error) {
    const { isMissing, why } = refusalOf(error)
    throw new MeshError(
      'kernel.no_nftables',
      isMissing
        ? "the kernel's WireGuard needs the command `nft`, which is not installed: without it members would reach more of this machine than its address in the VPN"
        : `nftables refused the filter for the kernel's WireGuard: ${why}`,
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
