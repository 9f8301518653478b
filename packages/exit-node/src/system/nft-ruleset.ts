/** Reading what `nft list ruleset` prints: which chains do what to an exit. Pure. */

/** The chain of this node's own that marks answers. */
export const ANSWERS_CHAIN = 'mesh_exit_answers'

interface Chain {
  /** The family and the name, `inet filter`. */
  readonly table: string
  readonly name: string
  /** The lines of the chain. */
  readonly lines: readonly string[]
}

/** Sets the mark of a packet; saving it in the connection (`ct mark set`) does not. */
const SETS_MARK = /meta mark set|\b(CONN)?MARK\b/
/** Looks whether a packet came by the interface that leads to its source. */
const STRICT_FILTER = /\bfib saddr\b.*\biif\b.*\boif\b|\brpfilter\b(?!.*loose)/

/** The chains that mark packets of this machine's own programs, those that are jumped to among them. */
export function markingChains(ruleset: string): readonly string[] {
  return chainsOf(ruleset, 'output', SETS_MARK).filter((name) => name !== ANSWERS_CHAIN)
}

/** The chains that drop what did not come by the interface that leads to its source. */
export function strictFilterChains(ruleset: string): readonly string[] {
  return chainsOf(ruleset, 'prerouting', STRICT_FILTER)
}

/**
 * The chains that drop or reject what they do not know of forwarded packets, unless their table lets pass what comes from
 * the interface and the answers.
 */
export function droppingChains(ruleset: string, interfaceName: string): readonly string[] {
  const chains = parseChains(ruleset)
  return chains
    .filter((chain) => hookOf(chain) === 'forward' && endsInDrop(chain))
    .filter(({ table }) => {
      const lines = chains.filter((each) => each.table === table).flatMap((each) => each.lines)
      return !letsPass(lines, interfaceName)
    })
    .map(({ name }) => name)
}

/**
 * Chains that drop or reject unknown packets of this machine, unless their table lets a mark pass. They belong to a firewall, or to
 * another VPN that lets nothing past itself.
 */
export function outgoingDroppingChains(ruleset: string): readonly string[] {
  const chains = parseChains(ruleset)
  return chains
    .filter((chain) => hookOf(chain) === 'output' && endsInDrop(chain))
    .filter(({ table }) => !chains.some((each) => each.table === table && each.lines.some(letsMarkPass)))
    .map(({ name }) => name)
}

const letsMarkPass = (line: string): boolean => /\bmark\b.*\b(accept|ACCEPT)\b/.test(line)

function chainsOf(ruleset: string, hook: string, does: RegExp): readonly string[] {
  const chains = parseChains(ruleset)
  const found = chains
    .filter((chain) => hookOf(chain) === hook)
    .flatMap((chain) => reachedFrom(chain, chains))
    .filter(({ lines }) => lines.some((line) => does.test(line)))
  return [...new Set(found.map(({ name }) => name))]
}

function parseChains(ruleset: string): readonly Chain[] {
  const chains: { table: string; name: string; lines: string[] }[] = []
  let [table, isOpen] = ['', false]
  for (const line of ruleset.split('\n')) {
    const [, tableName] = /^table (\S+ \S+) \{/.exec(line) ?? []
    const [, chainName] = /^\s*chain (\S+) \{/.exec(line) ?? []
    if (tableName !== undefined) table = tableName
    else if (chainName !== undefined) {
      chains.push({ table, name: chainName, lines: [] })
      isOpen = true
    } else if (/^\s*\}\s*$/.test(line)) isOpen = false
    else if (isOpen) chains.at(-1)?.lines.push(line.trim())
  }
  return chains
}

/** The chain, and those of its table that it leads to. */
function reachedFrom(chain: Chain, all: readonly Chain[]): readonly Chain[] {
  const reached = new Set([chain])
  for (const { table, lines } of reached) {
    const names = lines.flatMap((line) => /\b(?:jump|goto) (\S+)/.exec(line)?.[1] ?? [])
    for (const each of all) if (each.table === table && names.includes(each.name)) reached.add(each)
  }
  return [...reached]
}

function hookOf({ lines }: Chain): string | undefined {
  return /\bhook (\w+)/.exec(lines[0] ?? '')?.[1]
}

function endsInDrop({ lines: [head = '', ...rules] }: Chain): boolean {
  return (
    head.includes('policy drop') ||
    /^(counter packets \d+ bytes \d+ )?(drop|reject\b.*)$/.test(rules.at(-1) ?? '')
  )
}

/** True when packets from the interface are accepted, and those that go there or belong to what is known. */
function letsPass(lines: readonly string[], interfaceName: string): boolean {
  const accepted = lines.filter((line) => /\baccept$|\b(jump|goto) \S*trusted\S*$/.test(line))
  const names = (word: string) =>
    accepted.some((line) => {
      const [, name = ''] = new RegExp(`${word} \\{?\\s*"([^"]*)"`).exec(line) ?? []
      return name === interfaceName || (name.endsWith('*') && interfaceName.startsWith(name.slice(0, -1)))
    })
  const answers = accepted.some((line) => /ct state .*established/.test(line))
  return names('iifname') && (answers || names('oifname'))
}
