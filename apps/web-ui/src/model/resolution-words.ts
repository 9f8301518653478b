/** Who answers for a name and why not another, in words for people. */
import type { NameResolutionView } from '@mesh/api-contract'
import type { StateInWords } from './state-tone.ts'

interface ResolutionInWords extends Pick<StateInWords, 'tone' | 'word'> {
  /** Whole sentences: who answers, and what is missing. */
  readonly sentences: readonly string[]
}

type NameOf = (id: string) => string

export function resolutionInWords(resolution: NameResolutionView, name: NameOf): ResolutionInWords {
  const { Code, Records, Source, Servers, Type } = resolution
  const sentences = [sourceInWords(resolution, name)]
  if (Code === 'NOERROR' && Records.length === 0) sentences.push(`It has no ${Type} record.`)
  if (Servers.length > 0 && Source !== 'forwarder') {
    sentences.push(`The name that it stands for is asked for at ${Servers.join(', ')}.`)
  }
  return { ...markOf(resolution), sentences }
}

function markOf({ Code, Records }: NameResolutionView): Pick<StateInWords, 'tone' | 'word'> {
  switch (Code) {
    case null:
      return { tone: 'indirect', word: 'asked elsewhere' }
    case 'NOERROR':
      return Records.length > 0
        ? { tone: 'direct', word: 'answered' }
        : { tone: 'offline', word: 'no such record' }
    case 'NXDOMAIN':
      return { tone: 'offline', word: 'no such name' }
    case 'REFUSED':
      return { tone: 'refused', word: 'nobody answers' }
    default:
      return { tone: 'refused', word: Code }
  }
}

function sourceInWords({ Source, Winner, Servers, Code }: NameResolutionView, name: NameOf): string {
  const owner = ownerInWords(Winner?.Owner ?? '', name)
  switch (Source) {
    case 'machine':
      return `It is the name of the machine ${owner}.`
    case 'service':
      return `It is a service that ${owner} offers.`
    case 'reverse':
      return `It is the address of ${owner}.`
    case 'zone':
      return Code === 'NXDOMAIN' ? NOT_IN_ZONE : 'The zone of this network answers for itself.'
    case 'pattern':
      return `A pattern of ${owner} answers.`
    case 'forwarder':
      return Servers.length === 0
        ? 'This network does not know it; it is asked for outside.'
        : `This network does not know it; it is asked for at ${Servers.join(', ')}.`
    case 'nobody':
      if (Code === 'NXDOMAIN') return NOT_IN_ZONE
      return 'No machine, service or pattern has this name, and no other server is asked for such names.'
  }
}

const NOT_IN_ZONE =
  'No machine, service or pattern has this name; it is in the zone of this network, so nobody else is asked.'

/** Members of EdgeVPN-compatible networks sign nothing. */
export function ownerInWords(owner: string, name: NameOf): string {
  return owner === '' ? 'an unknown member' : name(owner)
}

/** @param reason of the API: `weaker` */
export function loserReasonInWords(reason: string): string {
  return Object.hasOwn(REASONS, reason) ? (REASONS[reason] ?? reason) : reason
}

const REASONS: Readonly<Record<string, string>> = {
  automatic_name: 'The name is a machine’s or a service’s, which no pattern takes.',
  weaker: 'Another pattern is stronger: one that is a whole name, else the longer one.',
  no_such_type: 'It has no value of this type.',
  bad_value: 'Its value is no valid record.',
  bad_syntax: 'It is no valid regular expression.',
  too_complex: 'It is too complex to be tried.',
  too_many: 'Too many patterns fit such names.',
  later_claim: 'Another member had the name before.',
}
