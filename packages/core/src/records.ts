/**
 * The values that nodes write into the ledger's own buckets (docs/WIRE.md 4.4). They are read loosely, as
 * legacy members write them: unknown fields stay, missing text reads as empty.
 */

/** Reads one kind of record from parsed JSON. */
export interface RecordReader<Fields extends object> {
  /** Never throws; `data` is undefined unless the value is such a record. */
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: Fields }
    | { readonly success: false; readonly data?: undefined }
}

/** Bucket `machines`, key: VPN address without mask. */
export interface MachineRecord {
  PeerID: string
  Hostname: string
  OS: string
  Arch: string
  Address: string
  Version: string
  [unknownField: string]: unknown
}
/** Reads what stands in bucket `machines`. */
export const machineRecord = ownedRecord<MachineRecord>(['Hostname', 'OS', 'Arch', 'Address', 'Version'])

/** Bucket `users`, key: peer id. We write the timestamp as RFC 3339 UTC; any text is read. */
export interface UserRecord {
  PeerID: string
  Timestamp: string
  [unknownField: string]: unknown
}
/** Reads what stands in bucket `users`. */
export const userRecord = ownedRecord<UserRecord>(['Timestamp'])

/** Buckets `services` and `files`, key: name. */
export interface ServiceRecord {
  PeerID: string
  Name: string
  [unknownField: string]: unknown
}
/** Reads what stands in buckets `services` and `files`. */
export const serviceRecord = ownedRecord<ServiceRecord>(['Name'])

/** Bucket `dns`, key: pattern; in the ledger by numeric record type (`{"1":"10.1.0.11"}`). */
export type DnsRecord = Record<string, string>
/** Reads what stands in bucket `dns`. */
export const dnsRecord: RecordReader<DnsRecord> = {
  safeParse: (value) =>
    isObject(value) && Object.values(value).every((text) => typeof text === 'string')
      ? { success: true, data: { ...value } as DnsRecord }
      : { success: false },
}

/** An object that names its owner in `PeerID`; `texts` read as empty where they are missing or no text. */
function ownedRecord<Fields extends object>(texts: readonly string[]): RecordReader<Fields> {
  return {
    safeParse(value) {
      if (!isObject(value) || typeof value.PeerID !== 'string') return { success: false }
      const data: Record<string, unknown> = { ...value }
      for (const name of texts) if (typeof data[name] !== 'string') data[name] = ''
      return { success: true, data: data as Fields }
    },
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
