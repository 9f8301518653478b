/**
 * Values of the buckets that nodes write about themselves. What a caller puts there in this node's name must have the
 * form that members read: with another they would not find the node any more, or take it for gone.
 */
import {
  BUCKETS,
  type Issue,
  parseHeartbeat,
  tryParseAddressInRange,
  tryParseIp,
  tryParsePeerId,
} from '@mesh/core'
import { issue, Problem } from '../messages/problem.ts'
import { MAX_HEARTBEAT_AGE_MS, MAX_HEARTBEAT_AHEAD_MS, MAX_ROUTE_METRIC } from '../limits.ts'

export interface NodeWrite {
  readonly bucket: string
  readonly key: string
  /** The value as it was decoded. */
  readonly value: unknown
  /** The peer id of this node, which signs the write. */
  readonly self: string
  /** The present time, in unix ms. */
  readonly now: number
}

type Fields = Readonly<Record<string, unknown>>

/** Checks by bucket; each tells what is wrong with a value that is this node's own by the bucket's rule. */
const CHECKS = new Map<string, (write: NodeWrite) => readonly Issue[]>([
  [BUCKETS.healthcheck, ifKeyIsSelf(heartbeatIssues)],
  [BUCKETS.egress, ifKeyIsSelf(({ value }) => (value === 'ok' ? [] : [issue('value', value, 'ok')]))],
  [BUCKETS.users, ifKeyIsSelf(userIssues)],
  [BUCKETS.machines, ifRecordNamesSelf(machineIssues)],
  [BUCKETS.routes, ifRecordNamesSelf(routeIssues)],
  [BUCKETS.services, ifRecordNamesSelf((record) => textIssues(record, ['Name']))],
  [BUCKETS.files, ifRecordNamesSelf((record) => textIssues(record, ['Name']))],
  [BUCKETS.dhcp, leaderIssues],
])

/**
 * Lets through what members can read, and what belongs to others: that is for the ledger's rules to refuse.
 * @throws Problem `ledger.bad_value`, naming all that is wrong; `ledger.written_by_node` for this node's heartbeat
 */
export function checkNodeValue(write: NodeWrite): void {
  const issues = CHECKS.get(write.bucket)?.(write) ?? []
  const [first] = issues
  if (first !== undefined) {
    throw new Problem('ledger.bad_value', `${first.field} must be ${first.expected}`, { issues })
  }
  checkNotHeartbeat(write)
}

/**
 * A node says itself that it is alive: another time would end the lease of all that it owns, or feign a node that
 * hangs to be well.
 * @throws Problem `ledger.written_by_node`
 */
export function checkNotHeartbeat({ bucket, key, self }: Omit<NodeWrite, 'value' | 'now'>): void {
  if (bucket !== BUCKETS.healthcheck || key !== self) return
  throw new Problem('ledger.written_by_node', `${bucket}/${key} is written by this node itself`)
}

function ifKeyIsSelf(check: (write: NodeWrite) => readonly Issue[]) {
  return (write: NodeWrite) => (write.key === write.self ? check(write) : [])
}

/** Names are folded as the ledger's rule folds them: `peerid` names the owner, too, but readers ask for `PeerID`. */
function ifRecordNamesSelf(check: (record: Fields, write: NodeWrite) => readonly Issue[]) {
  return (write: NodeWrite): readonly Issue[] => {
    const { value, self } = write
    if (!isRecord(value)) return []
    const namesSelf = Object.entries(value).some(
      ([name, peer]) => name.toLowerCase() === 'peerid' && peer === self,
    )
    return namesSelf ? [...peerIssues(value, self), ...check(value, write)] : []
  }
}

function heartbeatIssues({ value, now }: NodeWrite): readonly Issue[] {
  const at = typeof value === 'string' ? parseHeartbeat(JSON.stringify(value)) : undefined
  const example = `${new Date(now).toISOString().slice(0, 19)}Z`
  if (at === undefined) return [issue('value', value, `an RFC 3339 time in UTC, as ${example}`)]
  if (at > now + MAX_HEARTBEAT_AHEAD_MS) {
    return [issue('value', value, `a time that is not in the future, as ${example}`)]
  }
  if (at < now - MAX_HEARTBEAT_AGE_MS) return [issue('value', value, `a time of now, as ${example}`)]
  return []
}

function userIssues({ value, self }: NodeWrite): readonly Issue[] {
  if (!isRecord(value)) return [issue('value', value, 'an object like {"PeerID":"...","Timestamp":"..."}')]
  return [...peerIssues(value, self), ...textIssues(value, ['Timestamp'])]
}

function machineIssues(record: Fields, { key }: NodeWrite): readonly Issue[] {
  const issues: Issue[] = []
  if (tryParseIp(key) !== key) {
    issues.push(issue('key', key, 'an IP address in its usual form without a mask, as 10.1.0.11'))
  }
  issues.push(...textIssues(record, ['Hostname', 'OS', 'Arch', 'Version']))
  const { Address } = record
  if (Address === undefined || Address === key) return issues
  // in the entry of an IPv6 address it is the machine's IPv4 address
  const isOther = key.includes(':') && typeof Address === 'string' && tryParseIp(Address) !== undefined
  const expected = key.includes(':') ? 'an IP address of the machine' : 'the key'
  return isOther ? issues : [...issues, issue('Address', Address, expected)]
}

function routeIssues({ Metric }: Fields, { key }: NodeWrite): readonly Issue[] {
  const issues: Issue[] = []
  if (tryParseAddressInRange(key)?.range !== key) {
    issues.push(issue('key', key, 'a network in CIDR form, as 192.168.7.0/24'))
  }
  const isMetric =
    Metric === undefined ||
    (Number.isInteger(Metric) && Number(Metric) >= 0 && Number(Metric) <= MAX_ROUTE_METRIC)
  return isMetric
    ? issues
    : [...issues, issue('Metric', Metric, `a whole number from 0 to ${MAX_ROUTE_METRIC}`)]
}

function leaderIssues({ key, value }: NodeWrite): readonly Issue[] {
  if (key !== 'leader') return []
  const isPeer = typeof value === 'string' && tryParsePeerId(value) !== undefined
  return isPeer ? [] : [issue('value', value, 'the peer id of a node')]
}

function peerIssues({ PeerID }: Fields, self: string): readonly Issue[] {
  return PeerID === self ? [] : [issue('PeerID', PeerID, `the peer id of this node, ${self}`)]
}

function textIssues(record: Fields, fields: readonly string[]): readonly Issue[] {
  return fields.flatMap((field) => {
    const text = record[field]
    return text === undefined || typeof text === 'string' ? [] : [issue(field, text, 'text')]
  })
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
