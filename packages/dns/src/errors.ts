import { errorsOf } from '@mesh/core'

/** Codes of the `MeshError`s that this package throws. */
export type DnsErrorCode =
  /** No socket could be opened at the address. */
  | 'dns.cannot_listen'
  /** No name of DNS, or no type of a record. */
  | 'dns.bad_question'
  /** Patterns could not be tried in time. */
  | 'dns.busy'

export const dnsError = errorsOf<DnsErrorCode>()
