/** `mesh guest`: stock WireGuard apps that the running node carries for. */
import { printable } from '@mesh/core'
import type { GuestView } from '@mesh/api-contract'
import { printableJson } from '../log/printable.ts'
import type { Run } from './command.ts'
import { findNode } from './find-node.ts'
import { formatBytes } from './format-quantity.ts'
import { formatTable } from './format-table.ts'

export const runGuestAdd: Run = async (call) => {
  const { positionals, settings, out, note, isTerminal } = call
  const [name = ''] = positionals
  const { guestEndpoint: endpoint, fullTunnel } = settings
  const client = await findNode(call)
  const guest = await client.createGuest({
    body: {
      Name: name,
      ...(endpoint !== undefined && { Endpoint: endpoint }),
      ...(fullTunnel && { FullTunnel: true }),
    },
  })
  if (settings.json) {
    out(printableJson(guest, 2))
    return 0
  }
  out(guest.Configuration)
  if (isTerminal) {
    // the build has this CommonJS package as a default export alone
    const { default: qrCode } = await import('qrcode')
    out(`\n${await qrCode.toString(guest.Configuration, { type: 'utf8' })}\n`)
  }
  note(
    `${guest.Name} has ${guest.Address}. Scan the code with a WireGuard app, or import the text as a file.`,
  )
  if (fullTunnel && !/^DNS = /m.test(guest.Configuration)) note(NO_DNS)
  note('It holds the private key and is not shown again: `mesh guest remove` and `add` make another.')
  return 0
}

export const runGuestList: Run = async (call) => {
  const guests = await (await findNode(call)).listGuests()
  if (call.settings.json) call.out(printableJson(guests, 2))
  else if (guests.length === 0) call.out('This node has no guests. `mesh guest add NAME` makes one.\n')
  else call.out(formatTable(COLUMNS, guests.map(guestRow)))
  return 0
}

export const runGuestRemove: Run = async (call) => {
  const [name = ''] = call.positionals
  const view = await (await findNode(call)).deleteGuest({ name })
  call.out(call.settings.json ? printableJson(view) : `${name} is cut off\n`)
  return 0
}

const NO_DNS =
  'This node answers no DNS that the guest could ask: it asks its own servers, and those of its local network past the tunnel. With --dns :53 the node answers.'

const COLUMNS = ['NAME', 'ADDRESS', 'LAST HANDSHAKE', 'FROM', 'IN', 'OUT', 'TUNNEL', 'FINDS NODE AT']

function guestRow(guest: GuestView): readonly string[] {
  const { Name, Address, Handshake, Endpoint, BytesIn, BytesOut, FullTunnel, NodeEndpoint, NodeMoved } = guest
  return [
    printable(Name),
    Address,
    Handshake ?? 'none',
    Endpoint ?? '-',
    formatBytes(BytesIn),
    formatBytes(BytesOut),
    FullTunnel ? 'full' : 'VPN only',
    `${printable(NodeEndpoint ?? '-')}${NodeMoved ? ', where it is not any more' : ''}`,
  ]
}
