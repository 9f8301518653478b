/** Sets up a wireguard-go by its control socket, as `wg` does, which then need not be installed. */
import { generateKeyPairSync } from 'node:crypto'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

const SOCKETS_FOLDER = '/var/run/wireguard'

export interface WireguardKeys {
  /** 32 bytes, base64. */
  readonly privateKey: string
  /** 32 bytes, base64. */
  readonly publicKey: string
}

export interface WireguardPeer {
  /** 32 bytes, base64. */
  readonly publicKey: string
  /** 32 bytes. */
  readonly presharedKey?: Uint8Array
  /** `HOST:PORT`; without it the peer is expected to come. */
  readonly endpoint?: string
  /** `ADDRESS/BITS`. */
  readonly allowed: string
}

export function makeWireguardKeys(): WireguardKeys {
  const { d = '', x = '' } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' })
  return { privateKey: fromBase64(d).toString('base64'), publicKey: fromBase64(x).toString('base64') }
}

/** @throws Error while nothing listens there, or with what the process refused */
export function setWireguardKey(device: string, privateKey: string, port: number): Promise<void> {
  return configure(device, [`private_key=${toHex(privateKey)}`, `listen_port=${port}`])
}

/** @throws Error with what the process refused */
export function addWireguardPeers(device: string, peers: readonly WireguardPeer[]): Promise<void> {
  const lines = peers.flatMap(({ publicKey, presharedKey, endpoint, allowed }) => [
    `public_key=${toHex(publicKey)}`,
    ...(presharedKey === undefined ? [] : [`preshared_key=${Buffer.from(presharedKey).toString('hex')}`]),
    ...(endpoint === undefined ? [] : [`endpoint=${endpoint}`]),
    `allowed_ip=${allowed}`,
  ])
  return configure(device, lines)
}

async function configure(device: string, lines: readonly string[]): Promise<void> {
  // folders are shared by all network namespaces
  const socket = connect(`${SOCKETS_FOLDER}/${device}.sock`)
  socket.end(['set=1', ...lines, '', ''].join('\n'))
  const answer = await text(socket)
  if (answer.trim() !== 'errno=0') throw new Error(`wireguard-go refused its settings: ${answer.trim()}`)
}

function toHex(base64: string): string {
  return fromBase64(base64).toString('hex')
}

/** Takes both alphabets. */
function fromBase64(base64: string): Buffer {
  return Buffer.from(base64, 'base64')
}
