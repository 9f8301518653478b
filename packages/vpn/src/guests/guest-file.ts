/** The text in which a node keeps its guests over restarts. Pure. */
import { type IpAddress, tryParseIp } from '@mesh/core'
import { vpnError } from '../errors.ts'
import type { GuestStore } from '../vpn.ts'

/** A stock WireGuard device that this node carries for. Its private key was told once, and is kept nowhere. */
export interface Guest {
  readonly name: string
  readonly address: IpAddress
  /** Its address of IPv6, where the VPN has a range of it that a person gave. */
  readonly address6?: IpAddress | undefined
  /** Base64, as WireGuard's tools write it. */
  readonly publicKey: string
  readonly presharedKey: string
  /** Where its configuration finds this node, `HOST:PORT`; unknown of those that were added long ago. */
  readonly endpoint?: string
  /** The same place, where no person named it. */
  readonly found?: FoundAddress
  /** Its configuration sends all to this node, what is for the Internet too. */
  readonly fullTunnel?: true
  /** When the guest was added, in unix ms. */
  readonly addedAt: number
}

export interface FoundAddress {
  readonly address: IpAddress
  /** The port there, where it is a router's; an interface's own address has the node's port. */
  readonly port?: number
  /** True for an interface's own address; others are told by whoever sees the node from outside. */
  readonly isOwn: boolean
}

export interface GuestFile {
  /** The node's WireGuard key, base64: guests know it by the public one. */
  readonly privateKey: string
  /** The UDP port that their configurations name. */
  readonly port: number
  readonly guests: readonly Guest[]
}

export function encodeGuestFile(file: GuestFile): string {
  return `${JSON.stringify(file, undefined, 2)}\n`
}

/** The longest endpoint that is kept, in characters: a host name and a port. */
const MAX_ENDPOINT_LENGTH = 262

/**
 * Undefined where no guests are kept.
 * @throws MeshError `vpn.bad_guest_file`: writing another in its place would cut all guests off
 */
export function readGuestFile(store: GuestStore): GuestFile | undefined {
  let text: string | undefined
  try {
    text = store.read()
  } catch (cause) {
    throw badFile(cause)
  }
  return text === undefined ? undefined : parseGuestFile(text)
}

/** @throws MeshError `vpn.bad_guest_file` */
export function parseGuestFile(text: string): GuestFile {
  const file = tryParse(text)
  if (isObject(file) && isKey(file['privateKey']) && isPort(file['port']) && Array.isArray(file['guests'])) {
    const guests = file['guests'].map(readGuest)
    if (guests.every((guest) => guest !== undefined))
      return { privateKey: file['privateKey'], port: file['port'], guests }
  }
  throw badFile()
}

function badFile(cause?: unknown): Error {
  return vpnError('vpn.bad_guest_file', 'the file with the guests of this node cannot be read', {
    hint: 'It is guests.json in the folder of the instance, and has to be a file that the user the node runs as may read. Put it right, or restore it from a copy; or remove it, and add all guests anew.',
    ...(cause !== undefined && { cause }),
  })
}

function readGuest(value: unknown): Guest | undefined {
  if (!isObject(value)) return undefined
  const { name, address: text, address6: text6, publicKey, presharedKey, addedAt } = value
  const { endpoint, found, fullTunnel } = value
  const address = typeof text === 'string' ? tryParseIp(text) : undefined
  const address6 = typeof text6 === 'string' ? tryParseIp(text6) : undefined
  if (typeof name !== 'string' || address === undefined || typeof addedAt !== 'number') return undefined
  if (!isKey(publicKey) || !isKey(presharedKey)) return undefined
  return {
    name,
    address,
    ...(address6 !== undefined && { address6 }),
    publicKey,
    presharedKey,
    ...(typeof endpoint === 'string' && endpoint.length <= MAX_ENDPOINT_LENGTH && { endpoint }),
    ...readFound(found),
    ...(fullTunnel === true && { fullTunnel }),
    addedAt,
  }
}

function readFound(value: unknown): Pick<Guest, 'found'> {
  if (!isObject(value) || typeof value['address'] !== 'string') return {}
  const address = tryParseIp(value['address'])
  const { port } = value
  if (address === undefined) return {}
  return { found: { address, ...(isPort(port) && { port }), isOwn: value['isOwn'] === true } }
}

/** All addresses of a guest, the one of IPv4 first. */
export function guestAddresses({
  address,
  address6,
}: Pick<Guest, 'address' | 'address6'>): readonly IpAddress[] {
  return address6 === undefined ? [address] : [address, address6]
}

function isKey(value: unknown): value is string {
  return typeof value === 'string' && Buffer.from(value, 'base64').length === 32
}

function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 65_535
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
