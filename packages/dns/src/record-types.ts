/** Numbers that DNS fixes: record types, answer codes, classes. */
export const TYPE = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  DNAME: 39,
  OPT: 41,
  ANY: 255,
} as const

/** The first and last type that is a question or a part of the protocol, no record; `ANY` is answered apart. */
export const META_TYPES = [128, 254] as const

export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  /** Extended: its upper bits stand in OPT. */
  BADVERS: 16,
} as const

export const CLASS_IN = 1
