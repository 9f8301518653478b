/** The nftables tables of a node: each is set in one transaction, looked at, and removed. */
import { CommandFailure, lookSystem, runSystem, trySystem } from './system-command.ts'

interface NftChain {
  readonly name: string
  /** Its type, hook and priority: `type filter hook output priority filter`. */
  readonly hook: string
  readonly rules: readonly string[]
}

/** The table as `nft -f` takes it: in one transaction, in place of the one before. Pure. */
export function tableText(name: string, chains: readonly NftChain[]): string {
  return [
    `table inet ${name} {}`,
    `delete table inet ${name}`,
    `table inet ${name} {`,
    ...chains.flatMap(({ name: chain, hook, rules }) => [
      `  chain ${chain} {`,
      `    ${hook}; policy accept;`,
      ...rules.map((rule) => `    ${rule}`),
      '  }',
    ]),
    '}',
    '',
  ].join('\n')
}

/** The interface's name as a part of a table's. */
export function tableSuffix(interfaceName: string): string {
  return interfaceName.replaceAll(/[^A-Za-z0-9]/g, '_')
}

/** Accepts what is for the ranges: one rule each, as ranges of one set must not overlap. */
export function acceptRules(ranges: readonly string[]): readonly string[] {
  return ranges.map((range) => `${range.includes(':') ? 'ip6' : 'ip'} daddr ${range} accept`)
}

/** @param text of `tableText` @throws CommandFailure */
export function setTable(text: string): void {
  runSystem('nft', ['-f', '-'], text)
}

/** False: it is not there, or nobody can say. It holds nothing up. */
export async function hasTable(name: string): Promise<boolean> {
  return (await lookSystem('nft', ['list', 'table', 'inet', name])) !== undefined
}

export function removeTable(name: string): void {
  trySystem('nft', ['delete', 'table', 'inet', name])
}

/** Why nftables refused; `isMissing`: it is not installed. */
export function refusalOf(error: unknown): { readonly isMissing: boolean; readonly why: string } {
  const isMissing = error instanceof CommandFailure && error.isMissing
  return { isMissing, why: error instanceof Error ? error.message : String(error) }
}
