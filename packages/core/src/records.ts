/**
 * What nodes write into the ledger's own buckets (specification, 2.3). Read loosely, as members of older networks
 * write them: unknown fields stay, missing text reads as empty.
 */
import * as z from 'zod'

const text = z.string().catch('')

export const machineRecord = z.looseObject({
  PeerID: z.string(),
  Hostname: text,
  OS: text,
  Arch: text,
  Address: text,
  Version: text,
})
/** Bucket `machines`, key: VPN address without mask. */
export type MachineRecord = z.infer<typeof machineRecord>

export const userRecord = z.looseObject({ PeerID: z.string(), Timestamp: text })
/** Bucket `users`, key: peer id. We write the timestamp as RFC 3339 UTC; any text is read. */
export type UserRecord = z.infer<typeof userRecord>

export const serviceRecord = z.looseObject({ PeerID: z.string(), Name: text })
/** Buckets `services` and `files`, key: name. */
export type ServiceRecord = z.infer<typeof serviceRecord>

/** Bucket `dns`, key: pattern; in the ledger by numeric record type (`{"1":"10.1.0.11"}`). */
export const dnsRecord = z.record(z.string(), z.string())
export type DnsRecord = z.infer<typeof dnsRecord>
