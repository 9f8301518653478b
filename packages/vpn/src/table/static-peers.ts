/** `--static-peertable`: `ip:peerid`, IPv6 as `[ip]:peerid`. */
import { tryParseIp, tryParsePeerId } from '@mesh/core'
import { vpnError } from '../errors.ts'
import type { StaticPeer } from '../vpn.ts'

const FORM = /^(?:\[([^\]]+)\]|([^[\]:]+)):([^:]+)$/

/** @throws MeshError `vpn.bad_static_peer` */
export function parseStaticPeer(text: string): StaticPeer {
  const [, six, four, id = ''] = FORM.exec(text) ?? []
  const address = tryParseIp(six ?? four ?? '')
  const peer = tryParsePeerId(id)
  const isRightForm = address?.includes(':') === (six !== undefined)
  if (address !== undefined && peer !== undefined && isRightForm) return { address, peer }
  const expected = '10.1.0.2:12D3KooW... or [fd00::2]:12D3KooW...'
  throw vpnError(
    'vpn.bad_static_peer',
    `not an address with its peer: ${JSON.stringify(text.slice(0, 120))}`,
    {
      hint: `An entry looks like ${expected}.`,
      issues: [{ field: '--static-peertable', value: text.slice(0, 120), expected }],
    },
  )
}
