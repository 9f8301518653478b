/** DNS record types: numbers in the ledger, names in the API. */

const NUMBER_BY_NAME: Readonly<Record<string, number>> = {
  __proto__: null as never,
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  RP: 17,
  AFSDB: 18,
  SIG: 24,
  KEY: 25,
  AAAA: 28,
  LOC: 29,
  SRV: 33,
  NAPTR: 35,
  KX: 36,
  CERT: 37,
  DNAME: 39,
  APL: 42,
  DS: 43,
  SSHFP: 44,
  IPSECKEY: 45,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  DHCID: 49,
  NSEC3: 50,
  NSEC3PARAM: 51,
  TLSA: 52,
  SMIMEA: 53,
  HIP: 55,
  CDS: 59,
  CDNSKEY: 60,
  OPENPGPKEY: 61,
  CSYNC: 62,
  ZONEMD: 63,
  SVCB: 64,
  HTTPS: 65,
  SPF: 99,
  EUI48: 108,
  EUI64: 109,
  URI: 256,
  CAA: 257,
}
const NAME_BY_NUMBER = new Map(Object.entries(NUMBER_BY_NAME).map(([name, number]) => [number, name]))
const MAX_TYPE = 65_535

/**
 * `A` for 1, `TYPE65280` for numbers without a name.
 *
 * @param type the number of a record type as IANA lists it, 0 to 65,535
 */
export function dnsTypeName(type: number): string {
  return NAME_BY_NUMBER.get(type) ?? `TYPE${type}`
}

/** 1 for `A`, `a` or `TYPE1`; undefined for anything else. */
export function tryParseDnsType(text: string): number | undefined {
  const name = text.toUpperCase()
  const known = NUMBER_BY_NAME[name]
  if (known !== undefined) return known
  const number = /^TYPE(\d{1,5})$/.exec(name)?.[1]
  return number === undefined || Number(number) > MAX_TYPE ? undefined : Number(number)
}

/** Value of the `dns` bucket (`{"1":"10.1.0.11"}`) with names for numbers; keys that are no number stay. */
export function dnsRecordsByName(records: Readonly<Record<string, string>>): Record<string, string> {
  const named: Record<string, string> = Object.create(null)
  const entries = Object.entries(records)
  for (const [type, value] of entries) if (!isTypeNumber(type)) named[type] = value
  for (const [type, value] of entries) if (isTypeNumber(type)) named[dnsTypeName(Number(type))] = value
  return named
}

function isTypeNumber(text: string): boolean {
  return /^(0|[1-9]\d{0,4})$/.test(text) && Number(text) <= MAX_TYPE
}
