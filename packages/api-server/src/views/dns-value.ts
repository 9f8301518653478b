/** Records of a name, from what a caller wrote (`{"a":"10.1.0.11"}`) to the ledger's form (`{"1":"10.1.0.11"}`). */
import { dnsTypeName, tryParseDnsType } from '@mesh/api-contract'
import { type Issue, tryParseIp } from '@mesh/core'
import { patternFault } from '@mesh/core/pattern'
import { issue, Problem } from '../messages/problem.ts'
import { MAX_ISSUES } from '../limits.ts'
import { isTextRecord } from './ledger-text.ts'

/** Text of one record at most; the longest that DNS carries. */
const MAX_RECORD_BYTES = 65_535
const HOST_NAME =
  /^(?=.{1,254}$)(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.?$/i
const isHostName = (text: string) => text === '.' || HOST_NAME.test(text)
const isUint16 = (text: string | undefined) => /^\d{1,5}$/.test(text ?? '') && Number(text) <= 65_535

/** Checks for the values of the types that people write by hand; other types take any text. */
const CHECKS = new Map<string, { readonly expected: string; readonly test: (text: string) => boolean }>([
  [
    'A',
    { expected: 'an IPv4 address', test: (text) => !text.includes(':') && tryParseIp(text) !== undefined },
  ],
  [
    'AAAA',
    { expected: 'an IPv6 address', test: (text) => text.includes(':') && tryParseIp(text) !== undefined },
  ],
  ...['CNAME', 'DNAME', 'NS', 'PTR'].map(
    (type) => [type, { expected: 'a host name', test: isHostName }] as const,
  ),
  ['MX', { expected: 'PREFERENCE NAME', test: (text) => isFieldList(text, 1) }],
  ['SRV', { expected: 'PRIORITY WEIGHT PORT NAME', test: (text) => isFieldList(text, 3) }],
])

/**
 * JSON text for the bucket `dns`.
 * @throws Problem `dns.bad_record`, naming all that is wrong
 */
export function encodeDnsValue(pattern: string, records: unknown): string {
  const issues = [...patternIssues(pattern), ...recordIssues(records)].slice(0, MAX_ISSUES)
  const first = issues[0]
  if (first !== undefined) {
    throw new Problem('dns.bad_record', `${first.field} must be ${first.expected}`, { issues })
  }
  const byNumber = Object.entries(isTextRecord(records) ? records : {}).map(
    ([type, value]) => [tryParseDnsType(type) ?? 0, value] as const,
  )
  return JSON.stringify(Object.fromEntries(byNumber))
}

const TOO_COMPLEX =
  'a simpler expression: fewer repetitions, alternatives and classes, as no member would match names with this one'

function patternIssues(pattern: string): readonly Issue[] {
  const fault = patternFault(pattern)
  if (fault === undefined) return []
  if (fault === 'too_complex') return [issue('Regex', pattern, TOO_COMPLEX)]
  return [issue('Regex', pattern, 'a regular expression in RE2 syntax (no look-around, no back-references)')]
}

function recordIssues(records: unknown): readonly Issue[] {
  if (!isTextRecord(records) || Object.keys(records).length === 0) {
    const noTexts =
      typeof records === 'object' && records !== null && !Array.isArray(records)
        ? Object.entries(records).filter(([, value]) => typeof value !== 'string')
        : []
    if (noTexts.length > 0)
      return noTexts.slice(0, MAX_ISSUES).map(([name, value]) => issue(`Records.${name}`, value, 'text'))
    return [issue('Records', records, 'an object of record type to text, like {"A":"10.1.0.11"}')]
  }
  const seen = new Set<number>()
  return Object.entries(records).flatMap(([name, value]) => {
    const field = `Records.${name}`
    const type = tryParseDnsType(name)
    if (type === undefined) return [issue(field, name, 'a record type like A, AAAA, TXT or TYPE65280')]
    if (seen.has(type)) return [issue(field, name, 'given once')]
    seen.add(type)
    return valueIssue(field, dnsTypeName(type), value)
  })
}

function valueIssue(field: string, type: string, value: string): readonly Issue[] {
  const check = CHECKS.get(type)
  if (check !== undefined && !check.test(value)) return [issue(field, value, check.expected)]
  if (Buffer.byteLength(value) > MAX_RECORD_BYTES) {
    return [issue(field, value, `at most ${MAX_RECORD_BYTES} bytes`)]
  }
  return []
}

/** `numbers` numbers of 16 bits, then a host name. */
function isFieldList(text: string, numbers: number): boolean {
  const fields = text.split(/\s+/)
  const name = fields.at(-1) ?? ''
  return fields.length === numbers + 1 && fields.slice(0, -1).every(isUint16) && isHostName(name)
}
