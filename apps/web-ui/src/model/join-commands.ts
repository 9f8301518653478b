/** The commands that bring another machine into the network. The token itself is in none of them. */
import { shellQuote } from './commands.ts'

export interface JoinInit {
  /** The token file that this node was started with; undefined where it is not known. */
  readonly tokenFile: string | undefined
  /** The addresses that others can dial, as multiaddrs. */
  readonly addresses: readonly string[]
  readonly isPrivate: boolean
  /** The code of an invite, for a network with administrators. */
  readonly invite?: string | undefined
}

export interface JoinCommands {
  /** Fetches the token file, typed on the new machine. */
  readonly copyToken: string
  readonly linux: string
  readonly container: string
  /** Starts a node without the VPN, on every system. */
  readonly other: string
}

/** How the token file is called on the new machine. */
export const TOKEN_FILE = 'mesh.token'
/** Stands for what the node does not know: how ssh reaches this machine. */
const UNKNOWN_HOST = 'THIS-MACHINE'

export function joinCommands({
  tokenFile = TOKEN_FILE,
  addresses,
  isPrivate,
  invite,
}: JoinInit): JoinCommands {
  const address = addresses.find(isDialable)
  const host = address?.split('/')[2] ?? UNKNOWN_HOST
  const more = [
    ...(isPrivate ? ['--private'] : []),
    ...(address === undefined ? [] : ['--discovery-bootstrap-peers', shellQuote(address)]),
    ...(invite === undefined ? [] : ['--invite', shellQuote(invite)]),
  ]
  const run = (...words: readonly string[]) => [...words, '--token-file', TOKEN_FILE, ...more].join(' ')
  return {
    copyToken: `scp ${shellQuote(`${host}:${tokenFile}`)} ${TOKEN_FILE}`,
    linux: run('sudo', 'mesh', '--api'),
    container: [...CONTAINER, ...more].join(' '),
    other: run('mesh', 'api'),
  }
}

/** The VPN needs the capability and the device; the identity of the machine stands in the volume. */
const CONTAINER = [
  'docker run --rm -it --network host --cap-add NET_ADMIN --device /dev/net/tun --volume mesh:/var/lib/mesh',
  `--env MESHTOKEN="$(cat ${TOKEN_FILE})" localhost/mesh --api`,
]

/** An IPv4 address that other machines can dial without a relay. */
function isDialable(address: string): boolean {
  return /^\/ip4\/(?!127\.|0\.|169\.254\.)[\d.]+\//.test(address) && !address.includes('/p2p-circuit')
}
