/** Reads the options of services, from text; each refusal is the form that would have been right. */
import { type Cidr, MeshError, tryParseAddressInRange } from '@mesh/core'
import { checkServiceName, parseEndpoint } from '@mesh/services/endpoint'
import type { Parsed } from './option.ts'

export interface NamedAddress {
  readonly name: string
  readonly address: string
}

/** Reads a service, `web=127.0.0.1:8080`. */
export function parseOffer(text: string): Parsed<NamedAddress> {
  return parseNamed(text, false)
}

/** `web=127.0.0.1:9000`; port 0 takes a free one. */
export function parseListen(text: string): Parsed<NamedAddress> {
  return parseNamed(text, true)
}

/** `photos=/srv/photos`; the path may be relative. */
export function parseFile(text: string): Parsed<NamedAddress> {
  const at = text.indexOf('=')
  const [name, address] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || address === '') return { expected: 'NAME=PATH, like photos=/srv/photos' }
  return judge({ name, address }, () => checkServiceName(name))
}

/** Reads the address of a proxy, `127.0.0.1:1080`. */
export function parseProxyAddress(text: string): Parsed<string> {
  return judge(text, () => parseEndpoint(text, { isListener: true }))
}

/** `192.168.7.0/24`, or one address. */
export function parseRange(text: string): Parsed<Cidr> {
  const whole = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`
  const range = tryParseAddressInRange(whole)?.range
  return range === undefined ? { expected: 'a range of addresses like 192.168.7.0/24' } : { value: range }
}

export function parseEgressPeer(text: string): Parsed<string> {
  return text.length <= 253 ? { value: text } : { expected: 'a peer id, machine name or VPN address' }
}

function parseNamed(text: string, isListener: boolean): Parsed<NamedAddress> {
  const at = text.indexOf('=')
  const [name, address] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || address === '') {
    return { expected: `NAME=${isListener ? 'LISTEN' : 'TARGET'}, like web=127.0.0.1:8080` }
  }
  return judge({ name, address }, () => {
    checkServiceName(name)
    parseEndpoint(address, { isListener })
  })
}

function judge<Value>(value: Value, check: () => void): Parsed<Value> {
  try {
    check()
    return { value }
  } catch (error) {
    if (!(error instanceof MeshError)) throw error
    return { expected: error.issues[0]?.expected ?? error.hint ?? error.message }
  }
}
