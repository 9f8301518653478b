/** `mesh guest`: stock WireGuard apps that the running node carries for. */
import { printable } from '@mesh/core'
import type { GuestView } from '@mesh/api-contract'
import { printableJson } from '../../words/printable.ts'
import { asking } from '../asking.ts'
import type { Run } from '../command.ts'
import { findNode } from '../find-node.ts'
import { formatBytes } from '../../words/format-quantity.ts'
import { formatTable } from '../format-table.ts'

export const runGuestAdd: Run = async (call) => {
  const { positionals, settings, out, note, draw, isErrorTerminal } = call
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
  if (isErrorTerminal) draw(`\n${await drawQrCode(guest.Configuration)}\n\n`)
  note(
    `${guest.Name} has ${guest.Address}. Scan the code with a WireGuard app, or import the text as a file.`,
  )
  if (fullTunnel && !/^DNS = /m.test(guest.Configuration)) note(NO_DNS)
  note('It holds the private key and is not shown again: `mesh guest remove` and `add` make another.')
  return 0
}

/** Black on white, whatever the terminal's colours are: many apps read no inverted code. */
const [DARK_ON_LIGHT, OWN_COLOURS] = ['\u001b[30;107m', '\u001b[0m']

/** The text as a code for the eye of a phone, small enough for 80 columns with most configurations. */
async function drawQrCode(text: string): Promise<string> {
  // the build has this CommonJS package as a default export alone
  const { default: qrCode } = await import('qrcode')
  const code = await qrCode.toString(text, { type: 'utf8', errorCorrectionLevel: 'L', margin: 2 })
  return code.replaceAll(/^.+$/gm, `${DARK_ON_LIGHT}$&${OWN_COLOURS}`)
}

export const runGuestList = asking(
  (client) => client.listGuests(),
  (guests) =>
    guests.length === 0
      ? 'This node has no guests. `mesh guest add NAME` makes one.\n'
      : formatTable(COLUMNS, guests.map(guestRow)),
)

export const runGuestRemove = asking(
  (client, { positionals: [name = ''] }) => client.deleteGuest({ name }),
  (_view, { positionals: [name = ''] }) => `${name} is cut off\n`,
  {},
)

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
