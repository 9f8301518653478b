/** The VPN of this node: its interface, and how each machine is reached through it. */
import * as z from 'zod'
import { boundedAddress, lookupName } from '../names.ts'
import { routesOf } from '../route.ts'
import { removedView } from '../views/offers.ts'
import { guestConfigurationView, guestView } from '../views/guests.ts'
import { vpnPingView, vpnView } from '../views/vpn.ts'
import { json, list } from './answers.ts'

const route = routesOf('vpn')

export const vpnRoutes = {
  getVpn: route('GET /api/vpn', {
    summary: 'The network interface, its addresses and routes, and how each machine is reached',
    answer: json(vpnView, 'The VPN of this node.'),
    errors: ['vpn.not_running'],
  }),
  pingMachine: route('GET /api/vpn/ping/:machine', {
    summary: 'Reach a machine now and measure: by VPN address, host name or peer id',
    params: z.object({ machine: lookupName.meta({ example: '10.1.0.12' }) }),
    answer: json(
      vpnPingView,
      'How it was reached. Its other addresses are tried as well: a request a second later tells which answered.',
    ),
    errors: ['vpn.not_running', 'vpn.unknown_machine', 'vpn.ambiguous_machine', 'vpn.unreachable'],
  }),
  listGuests: route('GET /api/vpn/guests', {
    summary: 'Stock WireGuard devices that this node carries for, and how each is',
    answer: list(guestView, 'In the order in which they were added.'),
    errors: ['vpn.not_running'],
  }),
  createGuest: route('POST /api/vpn/guests', {
    level: 'admin',
    isLocal: true,
    summary: 'Add a guest; its private key is in the answer, and nowhere else',
    body: z
      .object({
        Name: lookupName.meta({ description: 'A DNS label.', example: 'phone' }),
        Endpoint: boundedAddress.optional().meta({
          description:
            'Where it finds this node, HOST or HOST:PORT; else the address that most probably works.',
        }),
        FullTunnel: z.boolean().optional().meta({
          description:
            "It sends all to this node, what is for the Internet too: that goes through the node's exit.",
        }),
      })
      .meta({ id: 'GuestRequest' }),
    answer: json(guestConfigurationView, 'What the guest is given.'),
    errors: [
      'node.local_only',
      'vpn.not_running',
      'vpn.guest_exists',
      'vpn.bad_guest_name',
      'vpn.too_many_guests',
      'vpn.no_guest_address',
      'vpn.guest_not_kept',
      'vpn.guests_need_engine',
      'vpn.no_udp',
      'vpn.no_endpoint',
      'vpn.no_exit',
    ],
  }),
  deleteGuest: route('DELETE /api/vpn/guests/:name', {
    level: 'admin',
    isLocal: true,
    summary: 'Cut a guest off, at once',
    params: z.object({ name: lookupName.meta({ example: 'phone' }) }),
    answer: json(removedView, 'It is removed.'),
    errors: ['node.local_only', 'vpn.not_running', 'vpn.unknown_guest', 'vpn.guest_not_kept'],
  }),
  putExitNode: route('PUT /api/vpn/exit-node', {
    level: 'admin',
    isLocal: true,
    summary: 'Lead all that leaves this machine for the Internet through a member, kept over restarts',
    body: z
      .object({
        Exit: lookupName.meta({
          description:
            'A peer id, an address of the VPN, or a name; several with commas between them, or `any`.',
          example: 'gate',
        }),
      })
      .meta({ id: 'ExitNodeRequest' }),
    answer: json(vpnView, 'The VPN of this node; ExitNode says whether the member is there.'),
    errors: [
      'node.local_only',
      'vpn.not_running',
      'exit.no_mark',
      'exit.is_exit',
      'exit.in_use',
      'exit.rp_filter',
      'exit.no_policy_routing',
      'exit.no_ip_command',
    ],
  }),
  deleteExitNode: route('DELETE /api/vpn/exit-node', {
    level: 'admin',
    isLocal: true,
    summary: "Use this machine's own way to the Internet again, kept over restarts",
    answer: json(removedView, 'No exit node is used.'),
    errors: ['node.local_only', 'vpn.not_running'],
  }),
} as const
