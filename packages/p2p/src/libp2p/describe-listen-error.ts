/** Says why the host cannot listen, with what to do: libp2p tells it in a text of many lines alone. */
import { multiaddr } from '@multiformats/multiaddr'

/** A reason for people, and the next step. */
export interface ListenFault {
  readonly message: string
  readonly hint: string
}

/** A line of libp2p's text: the multiaddr, and the system's code. */
const REFUSED = /^\s*(\/\S+): .*\b(EADDRINUSE|EACCES|EADDRNOTAVAIL)\b/gm

/** Gives the first address that the system refused, and why; undefined: the text names none. */
export function describeListenError(error: unknown): ListenFault | undefined {
  const [refused] = String(error instanceof Error ? error.message : error).matchAll(REFUSED)
  const [, address = '', code = ''] = refused ?? []
  if (address === '') return undefined
  const { host, port } = placeOf(address)
  const message = (why: string) => `cannot listen on ${address}: ${why}`
  switch (code) {
    case 'EADDRINUSE':
      return {
        message: message(`another program has TCP port ${port}`),
        hint: `Stop that program, which \`ss -lntp 'sport = :${port}'\` names, or give another port by --listen-maddrs.`,
      }
    case 'EACCES':
      return {
        message: message(`this user may not listen on port ${port}`),
        hint: 'Ports below 1024 need root, or CAP_NET_BIND_SERVICE. Or give a higher port by --listen-maddrs.',
      }
    default:
      return {
        message: message(`this machine has no address ${host}`),
        hint: `Give one that \`ip address\` lists, or all of them: --listen-maddrs ${host.includes(':') ? '/ip6/::' : '/ip4/0.0.0.0'}/tcp/${port}.`,
      }
  }
}

function placeOf(address: string): { readonly host: string; readonly port: string } {
  const [host, port] = multiaddr(address).getComponents()
  return { host: host?.value ?? '', port: port?.value ?? '' }
}
