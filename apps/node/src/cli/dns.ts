/** `mesh dns`: a node without the VPN that answers DNS, registers records while it runs, or both. */
import { dnsTypeName, tryParseDnsType } from '@mesh/api-contract'
import { type Issue, MeshError } from '@mesh/core'
import { tryParsePattern } from '@mesh/core/pattern'
import type { Announcement } from '../node/announce.ts'
import type { Settings } from '../settings/options.ts'
import type { Run } from './command.ts'
import { runNode } from './run-node.ts'

const DEFAULT_PLACE = '127.0.0.1:53'
const RECORD_FLAGS = ['a', 'aaaa', 'cname', 'txt', 'srv', 'mx', 'ptr'] as const

export const runDns: Run = async (call) => {
  const { settings } = call
  const announcements = await readRecords(settings)
  const dns = settings.dns.length > 0 || announcements.length > 0 ? settings.dns : [DEFAULT_PLACE]
  // beside a node of this machine, with an identity of its own
  const role = { listen: undefined, hasVpn: false, settings: { dns }, instance: 'dns' } as const
  return runNode(call, { ...role, needsDns: true, announcements })
}

/** @throws MeshError `node.bad_input`, naming all that is wrong */
async function readRecords(settings: Settings): Promise<readonly Announcement[]> {
  const { regex } = settings
  const given = RECORD_FLAGS.flatMap((flag) => {
    const value = settings[flag]
    return value === undefined ? [] : [{ flag, value, type: tryParseDnsType(flag) ?? 0 }]
  })
  if (regex === undefined && given.length === 0) return []
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
  const value = JSON.stringify(Object.fromEntries(given.map(({ type, value: text }) => [type, text])))
  return [{ bucket: 'dns', key: regex ?? '', value }]
}
