/**
 * `mesh dns`: registers records with the node that runs here; or a node without the VPN that answers DNS, registers
 * records while it runs, or both.
 */
import { dnsTypeName, tryParseDnsType } from '@mesh/api-contract'
import { BUCKETS, type Issue, MeshError } from '@mesh/core'
import { tryParsePattern } from '@mesh/core/pattern'
import { EXIT } from '../errors.ts'
import { shellWord } from '../log/shell-word.ts'
import type { Announcement } from '../node/announce.ts'
import type { Settings } from '../settings/options.ts'
import type { Run } from './command.ts'
import { type Asked, askCommonNode } from './common-node.ts'
import { runNode } from './run-node.ts'

const DEFAULT_PLACE = '127.0.0.1:53'
/** How long the running node may take to commit the records before the command ends. */
const WRITE_WAIT = '5s'
const RECORD_FLAGS = ['a', 'aaaa', 'cname', 'txt', 'srv', 'mx', 'ptr'] as const

export const runDns: Run = async (call) => {
  const { settings } = call
  const given = await readRecords(settings)
  if (given !== undefined && settings.dns.length === 0 && (await askCommonNode(call, [askFor(given)]))) {
    return EXIT.ok.code
  }
  const announcements: Announcement[] =
    given === undefined ? [] : [{ bucket: BUCKETS.dns, key: given.regex, value: ledgerValue(given) }]
  const dns = settings.dns.length > 0 || given !== undefined ? settings.dns : [DEFAULT_PLACE]
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

/** Undefined: none were given. @throws MeshError `node.bad_input`, naming all that is wrong */
async function readRecords(settings: Settings): Promise<GivenRecords | undefined> {
  const { regex } = settings
  const given = RECORD_FLAGS.flatMap((flag) => {
    const value = settings[flag]
    return value === undefined ? [] : [{ flag, value, type: tryParseDnsType(flag) ?? 0 }]
  })
  if (regex === undefined && given.length === 0) return undefined
  const { encodeRecordData } = await import('@mesh/dns')
  const issues: Issue[] = given
    .filter(({ type, value }) => encodeRecordData(type, value) === undefined)
    .map(({ flag, value, type }) => ({
      field: `--${flag}`,
      value,
      expected: `the value of a ${dnsTypeName(type)} record`,
    }))
  if (regex === undefined) issues.push({ field: '--regex', expected: 'the names that the records are for' })
  else if (tryParsePattern(regex) === undefined) {
    issues.push({
      field: '--regex',
      value: regex,
      expected: 'an RE2 expression (no look-around, no back-references)',
    })
  }
  if (given.length === 0)
    issues.push({ field: '--regex', expected: 'given with a record, like --a 10.1.0.5' })
  if (issues.length > 0) throw new MeshError('node.bad_input', 'the records cannot be used', { issues })
  return { regex: regex ?? '', records: given }
}
