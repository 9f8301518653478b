/** Reads the options of DNS, from text to addresses; each refusal is the form that would have been right. */
import { type IpAddress, tryParseIp } from '@mesh/core'
import type { Parsed } from './option.ts'

const DNS_PORT = 53

export interface DnsPlace {
  /** Undefined: every address of the machine. */
  readonly host: IpAddress | undefined
  readonly port: number
}

/** `127.0.0.1:5353`, `:53`, `[::1]:53`, `10.1.0.11`. */
export function parseDnsPlace(text: string): Parsed<DnsPlace> {
  const expected = 'ADDRESS:PORT like 127.0.0.1:5353, :53 or [::1]:53'
  const plain = tryParseIp(text)
  if (plain !== undefined) return { value: { host: plain, port: DNS_PORT } }
  const found = /^(?:\[([^\]]+)\]|([\d.]*))(?::(\d{1,5}))?$/.exec(text)
  if (found === null || text === '') return { expected }
  const [, inBrackets, bare = '', port = String(DNS_PORT)] = found
  const host = tryParseIp(inBrackets ?? bare)
  const isWildcard = inBrackets === undefined && bare === ''
  if ((host === undefined && !isWildcard) || Number(port) > 65_535) return { expected }
  return { value: { host, port: Number(port) } }
}

export interface ForwardPlace {
  readonly address: IpAddress
  /** The interface of a link-local address. */
  readonly scope?: string
  readonly port: number
  /** `.` for all names. */
  readonly domain: string
}

/** `fe80::1%eth0`, and with brackets around. */
const LINK_LOCAL = /^(\[?fe[89ab][0-9a-f]:[0-9a-f:]+)%([\w.@-]{1,15})(\]?.*)$/i

/** `8.8.8.8`, `8.8.8.8:53`, `[2001:4860:4860::8888]:53`, `fe80::1%eth0`, `example.com=10.0.0.1`. */
export function parseForwardPlace(text: string): Parsed<ForwardPlace> {
  const expected = 'a server like 9.9.9.9, [2620:fe::fe]:53 or, for one domain, example.com=10.0.0.1'
  const at = text.indexOf('=')
  const domain = at === -1 ? { value: '.' } : parseZone(text.slice(0, at))
  const given = text.slice(at + 1)
  const [, before = given, scope, behind = ''] = LINK_LOCAL.exec(given) ?? []
  const server = parseDnsPlace(before + behind)
  if ('expected' in domain || 'expected' in server) return { expected }
  const { host: address, port } = server.value
  if (address === undefined || port === 0) return { expected }
  return { value: { address, ...(scope !== undefined && { scope }), port, domain: domain.value } }
}

/** `mesh`, `home.arpa.`; gives it in lower case with a dot at the end. */
export function parseZone(text: string): Parsed<string> {
  const name = text.toLowerCase().replace(/\.$/, '')
  const isName =
    name.length <= 190 &&
    /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/.test(name)
  return isName ? { value: `${name}.` } : { expected: 'a name like mesh or home.arpa' }
}
