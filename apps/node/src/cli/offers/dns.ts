/**
 * `mesh dns`: registers records with the node that runs here; or a node without the VPN that answers DNS, registers
 * records while it runs, or both.
 */
import { dnsTypeName, tryParseDnsType } from '@mesh/api-contract'
import { BUCKETS, type Issue, MeshError } from '@mesh/core'
import { patternFault } from '@mesh/core/pattern'
import { EXIT } from '../../errors.ts'
import { shellWord } from '../../words/shell-word.ts'
import type { Announcement } from '../../compose/announce.ts'
import type { Call, Run } from '../command.ts'
import { type Asked, askCommonNode } from './common-node.ts'
import { runNode } from '../run/run-node.ts'

const DEFAULT_PLACE = '127.0.0.1:53'
/** How long the running node may take to commit the records before the command ends. */
const WRITE_WAIT = '5s'
const RECORD_FLAGS = ['a', 'aaaa', 'cname', 'txt', 'srv', 'mx', 'ptr'] as const

export const runDns: Run = async (call) => {
  const { settings } = call
  const given = await readRecords(call.flags)
  const mayAsk = given.length > 0 && settings.dns.length === 0
  if (mayAsk && (await askCommonNode(call, given.map(askFor)))) return EXIT.ok.code
  const announcements = given.map((one): Announcement => {
    return { bucket: BUCKETS.dns, key: one.regex, value: ledgerValue(one) }
  })
  const dns = settings.dns.length > 0 || given.length > 0 ? settings.dns : [DEFAULT_PLACE]
  // beside a node of this machine, with an identity of its own
  const role = { listen: undefined, hasVpn: false, settings: { dns }, instance: 'dns' } as const
  return runNode(call, { ...role, needsDns: true, announcements })
}

interface GivenRecords {
  readonly regex: string
  readonly records: readonly { readonly type: number; readonly value: string }[]
}

function askFor({ regex, records }: GivenRecords): Asked {
  const Records = Object.fromEntries(records.map(({ type, value }) => [dnsTypeName(type), value]))
  return {
    ask: (client) => client.createDns({ body: { Regex: regex, Records }, wait: WRITE_WAIT }),
    told: `names that match ${regex} have these records`,
    shown: 'mesh dns resolve NAME',
    undo: `mesh ledger delete dns ${shellWord(regex)}`,
  }
}

/** Gives the form that the ledger keeps: values by the number of their type. */
function ledgerValue({ records }: GivenRecords): string {
  return JSON.stringify(Object.fromEntries(records.map(({ type, value }) => [type, value])))
}

/** A pattern as it was given, and the records that were given for it. */
interface Group {
  readonly regex: string | undefined
  readonly records: { readonly flag: RecordFlag; readonly value: string }[]
}

/** Each pattern with the records behind it, and for the first one those ahead of it, too. */
function groupFlags(flags: Call['flags']): readonly Group[] {
  const groups: Group[] = []
  for (const { name, texts } of flags) {
    const value = texts[0] ?? ''
    const last = groups.at(-1)
    if (name === 'regex') {
      if (last !== undefined && last.regex === undefined) groups[0] = { ...last, regex: value }
      else groups.push({ regex: value, records: [] })
    } else if (isRecordFlag(name)) {
      if (last === undefined) groups.push({ regex: undefined, records: [{ flag: name, value }] })
      else last.records.push({ flag: name, value })
    }
  }
  return groups
}

/** Empty: none were given. @throws MeshError `node.bad_input`, naming all that is wrong */
async function readRecords(flags: Call['flags']): Promise<readonly GivenRecords[]> {
  const groups = groupFlags(flags)
  if (groups.length === 0) return []
  const { encodeRecordData } = await import('@mesh/dns')
  const patterns = groups.map(({ regex }) => regex)
  const issues = groups.flatMap((group, at) => {
    const isRepeated = group.regex !== undefined && patterns.indexOf(group.regex) < at
    return [
      ...patternIssues(group, isRepeated),
      ...group.records.flatMap((record, place) => {
        const isSecond = group.records.findIndex(({ flag }) => flag === record.flag) < place
        return recordIssues(record, isSecond, (type) => encodeRecordData(type, record.value) !== undefined)
      }),
    ]
  })
  if (issues.length > 0) throw new MeshError('node.bad_input', 'the records cannot be used', { issues })
  return groups.map(({ regex = '', records }) => ({
    regex,
    records: records.map(({ flag, value }) => ({ type: typeOf(flag), value })),
  }))
}

function patternIssues({ regex, records }: Group, isRepeated: boolean): readonly Issue[] {
  if (regex === undefined) return [{ field: '--regex', expected: 'the names that the records are for' }]
  const field = { field: '--regex', value: regex }
  const fault = patternFault(regex)
  if (fault === 'too_complex') {
    return [{ ...field, expected: 'a simpler expression: no member would match names with this one' }]
  }
  if (fault !== undefined) {
    return [{ ...field, expected: 'an RE2 expression (no look-around, no back-references)' }]
  }
  if (isRepeated) return [{ ...field, expected: 'each pattern once, with all of its records' }]
  return records.length > 0 ? [] : [{ ...field, expected: 'followed by a record, like --a 10.1.0.5' }]
}

function recordIssues(
  { flag, value }: Group['records'][number],
  isSecond: boolean,
  isValid: (type: number) => boolean,
): readonly Issue[] {
  const field = { field: `--${flag}`, value }
  const name = dnsTypeName(typeOf(flag))
  if (isSecond) return [{ ...field, expected: `one ${name} record for each --regex, which stands before it` }]
  return isValid(typeOf(flag)) ? [] : [{ ...field, expected: `the value of a ${name} record` }]
}

type RecordFlag = (typeof RECORD_FLAGS)[number]

function isRecordFlag(name: string): name is RecordFlag {
  return (RECORD_FLAGS as readonly string[]).includes(name)
}

function typeOf(flag: RecordFlag): number {
  return tryParseDnsType(flag) ?? 0
}
