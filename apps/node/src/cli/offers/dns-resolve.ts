/** `mesh dns resolve NAME`: who answers for a name, and why not somebody else. */
import type { NameResolutionView } from '@mesh/api-contract'
import { printable, shortPeerId } from '@mesh/core'
import { EXIT } from '../../errors.ts'
import { printableJson } from '../../words/printable.ts'
import type { Run } from '../command.ts'
import { findNode } from '../find-node.ts'
import { formatTable } from '../format-table.ts'

export const runDnsResolve: Run = async (call) => {
  const [name = ''] = call.positionals
  const client = await findNode(call)
  const resolved = await client.resolveName({ name, type: call.settings.type })
  call.out(call.settings.json ? printableJson(resolved, 2) : formatResolution(resolved))
  return resolved.Code === null || resolved.Records.length > 0 ? EXIT.ok.code : EXIT.notFound.code
}

const REASONS: Readonly<Record<string, string>> = {
  automatic_name: "the name is a machine's or a service's, which no pattern takes",
  weaker: 'another pattern is stronger: a whole name, then the longer one',
  no_such_type: 'it has no value of this type',
  bad_value: 'its value cannot be read',
  bad_syntax: 'no RE2 expression',
  too_complex: 'too complex to be tried',
  too_many: 'too many patterns match such names',
  later_claim: 'another had the name before',
}

/** Prints the lines that people read. */
export function formatResolution(resolved: NameResolutionView): string {
  const { Name, Type, Code, Records, Losers } = resolved
  const records = Records.map((record) =>
    [record.Name, String(record.TTL), record.Type, record.Value].map(printable),
  )
  const losers = Losers.map((loser) =>
    [loser.Name, ownerOf(loser.Owner), REASONS[loser.Reason] ?? loser.Reason].map(printable),
  )
  return [
    `${printable(Name)} ${Type}: ${Code ?? 'asked elsewhere'}, ${printable(sourceOf(resolved))}\n`,
    ...(records.length === 0 ? [] : [`\n${formatTable(['NAME', 'TTL', 'TYPE', 'VALUE'], records)}`]),
    ...(losers.length === 0
      ? []
      : [`\n${formatTable(['ALSO MATCHES', 'OWNER', 'NOT TAKEN BECAUSE'], losers)}`]),
  ].join('')
}

function sourceOf({ Source, Winner, Servers }: NameResolutionView): string {
  const servers = Servers.length === 0 ? '' : ` by ${Servers.join(', ')}`
  switch (Source) {
    case 'forwarder':
      return `forwarded${servers}`
    case 'nobody':
      return 'nobody answers for it'
    case 'zone':
      return 'the zone itself'
    case 'pattern':
      return `pattern ${Winner?.Name ?? ''} of ${ownerOf(Winner?.Owner ?? '')}${servers}`
    case 'machine':
    case 'service':
    case 'reverse':
      return `${Source === 'reverse' ? 'address' : Source} of ${ownerOf(Winner?.Owner ?? '')}`
  }
}

function ownerOf(id: string): string {
  return id === '' ? '-' : shortPeerId(id)
}
