/** Where browser tabs join: the page at `/join`, and the WebSocket addresses of this node as a page can use them. */
import { isIP } from 'node:net'
import type { AssetsPort, BrowserMembersPort, WebSocketAddress } from '@mesh/api-server'
import type { Settings } from '../settings/options.ts'
import { createAssets } from './assets.ts'

/** The most addresses that a page is told: each is a line of its content security policy. */
const MAX_ADDRESSES = 8
const NO_FILES: AssetsPort = { get: () => undefined }

interface BrowserMembersInit {
  readonly settings: Pick<Settings, 'browserMembers'>
  /** The addresses of this node now, each with `/p2p/ID`. */
  readonly addresses: () => readonly string[]
}

/** Undefined unless `--browser-members` is on. */
export function createBrowserMembers({
  settings,
  addresses,
}: BrowserMembersInit): BrowserMembersPort | undefined {
  if (!settings.browserMembers) return undefined
  return { assets: createAssets('join') ?? NO_FILES, nodes: (host) => webSocketAddresses(addresses(), host) }
}

const WEBSOCKET = /^\/(ip4|ip6|dns|dns4|dns6)\/([^/]+)\/tcp\/(\d+)\/(ws|wss|tls\/ws)\/p2p\/(\w+)$/

/**
 * Gives the WebSocket addresses of a node for a page that was reached under a host name: its ports under that name, as others
 * may lead nowhere for that browser, and what has a certificate. A page over loopback gets the node's other addresses where
 * no listener is on loopback.
 */
export function webSocketAddresses(own: readonly string[], host: string): readonly WebSocketAddress[] {
  const found = own.flatMap((address) => {
    const [, kind, name, port, transport, id] = WEBSOCKET.exec(address) ?? []
    if (kind === undefined || name === undefined || port === undefined || id === undefined) return []
    return [{ kind, name, port, id, isSecure: transport !== 'ws' }]
  })
  const [secure, plain] = [
    found.filter(({ isSecure }) => isSecure),
    found.filter(({ isSecure }) => !isSecure),
  ]
  const isElsewhere = host === '' || (isLoopback(host) && !plain.some(({ name }) => isLoopback(name)))
  const reached = isElsewhere ? plain : plain.map((each) => ({ ...each, kind: kindOf(host), name: host }))
  const all = [...reached, ...secure].map(({ kind, name, port, id, isSecure }) => {
    const scheme = isSecure ? 'wss' : 'ws'
    return {
      address: `/${kind}/${name}/tcp/${port}/${scheme}/p2p/${id}`,
      origin: `${scheme}://${kind === 'ip6' ? `[${name}]` : name}:${port}`,
    }
  })
  return [...new Map(all.map((each) => [each.address, each])).values()].slice(0, MAX_ADDRESSES)
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || host.startsWith('127.')

function kindOf(host: string): string {
  const version = isIP(host)
  return version === 0 ? 'dns' : `ip${version}`
}
