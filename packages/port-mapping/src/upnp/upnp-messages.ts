/**
 * Writes the messages of UPnP to routers and reads their answers. They are SSDP (UPnP Device Architecture 1.1, section 1.3), the
 * description of an Internet gateway 1 or 2, and actions of its connection service. Pure.
 */
import { type IpAddress, tryParseIp } from '@mesh/core'
import { MAX_SSDP_BYTES, MAX_UPNP_URL_CHARS } from '../limits.ts'
import { isOutside } from '../local-network/outside-address.ts'
import { elementsOf, parseXml, textOf } from './upnp-xml.ts'

/** A router of version 2 may answer to both, one of version 1 to its own alone. */
const GATEWAYS: readonly string[] = [
  'urn:schemas-upnp-org:device:InternetGatewayDevice:2',
  'urn:schemas-upnp-org:device:InternetGatewayDevice:1',
]
/** The services that map ports, the best one first. */
const WAN_CONNECTIONS = [
  'urn:schemas-upnp-org:service:WANIPConnection:2',
  'urn:schemas-upnp-org:service:WANIPConnection:1',
  'urn:schemas-upnp-org:service:WANPPPConnection:1',
] as const
export type WanConnection = (typeof WAN_CONNECTIONS)[number]

/** Where a router is asked for mappings, and as which service. */
export interface RouterControl {
  readonly url: URL
  readonly service: WanConnection
}

/** True for a service that chooses another port where the one that is wished for is taken. */
export function choosesPort(service: WanConnection): boolean {
  return service === 'urn:schemas-upnp-org:service:WANIPConnection:2'
}

/** Where routers listen for searches, which the specification fixes. */
export const SSDP_GROUP = { address: '239.255.255.250', port: 1_900 } as const

/** The questions who is a router, one for each version; answers come within a second. */
export const SEARCHES: readonly Uint8Array[] = GATEWAYS.map((gateway) =>
  Buffer.from(
    [
      'M-SEARCH * HTTP/1.1',
      `HOST: ${SSDP_GROUP.address}:${SSDP_GROUP.port}`,
      'MAN: "ssdp:discover"',
      'MX: 1',
      `ST: ${gateway}`,
      '\r\n',
    ].join('\r\n'),
  ),
)

/**
 * Gives where a router that answered has its description: over HTTP, at the very address that the answer came from. Undefined
 * for all else.
 */
export function locationIn(bytes: Uint8Array, from: string): URL | undefined {
  if (bytes.length > MAX_SSDP_BYTES) return undefined
  const [status = '', ...lines] = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    .toString('latin1')
    .split('\r\n')
  if (!status.startsWith('HTTP/1.1 200')) return undefined
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const isRouter = GATEWAYS.includes(headers.get('st') ?? '')
  return isRouter ? urlAt(headers.get('location') ?? '', from) : undefined
}

/** Gives where the router's mappings are asked for; undefined where it has none, or names another machine. */
export function controlIn(description: string, location: URL): RouterControl | undefined {
  const root = parseXml(description)
  if (root === undefined) return undefined
  const services = elementsOf(root, 'service').map((element) => ({
    element,
    type: textOf(element, 'serviceType'),
  }))
  const service = WAN_CONNECTIONS.find((known) => services.some(({ type }) => type === known))
  const element = services.find(({ type }) => type === service)?.element
  const text = element && textOf(element, 'controlURL')
  if (service === undefined || text === undefined || text === '') return undefined
  // of UPnP Device Architecture 1.0, and the location itself where it is empty
  const base = urlAt(textOf(root, 'URLBase') ?? '', location.hostname, location) ?? location
  const url = urlAt(text, location.hostname, base)
  return url && { url, service }
}

/** Names lead wherever their owner likes, and redirections too: only this address is ever asked. */
function urlAt(text: string, address: string, base?: URL): URL | undefined {
  if (text.length > MAX_UPNP_URL_CHARS) return undefined
  const url = URL.parse(text, base)
  if (url === null || url.protocol !== 'http:' || url.hostname !== address) return undefined
  return url.username === '' && url.password === '' ? url : undefined
}

/** @param values those of this node, in the order that the service has them; none needs to be escaped */
export function encodeAction(
  service: WanConnection,
  action: string,
  values: Readonly<Record<string, string | number>>,
): string {
  const written = Object.entries(values).map(([name, value]) => `<${name}>${value}</${name}>`)
  return (
    '<?xml version="1.0"?>' +
    '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" ' +
    's:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><s:Body>' +
    `<u:${action} xmlns:u="${service}">${written.join('')}</u:${action}></s:Body></s:Envelope>`
  )
}

/** Reads the port that a router has given. @throws Error when it is none */
export function decodePort(answer: string): number {
  const text = valueIn(answer, 'NewReservedPort')
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) throw new Error('the router names no port')
  return port
}

/** Reads the address that a router has outside. @throws Error when it is none that leads anywhere */
export function decodeAddress(answer: string): IpAddress {
  const address = tryParseIp(valueIn(answer, 'NewExternalIPAddress'))
  if (address === undefined || !isOutside(address)) throw new Error('the router has no address outside')
  return address
}

/** Reads the number by which a router says why it refused; undefined when it does not say. */
export function decodeFault(answer: string): number | undefined {
  const root = parseXml(answer)
  const code = root && textOf(root, 'errorCode')
  return code !== undefined && /^\d{1,4}$/.test(code) ? Number(code) : undefined
}

function valueIn(answer: string, name: string): string {
  const root = parseXml(answer)
  return (root && textOf(root, name)) ?? ''
}
