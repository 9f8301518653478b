/** The VPN of this node: its interface, and how each machine is reached through it. */
import * as z from 'zod'
import { lookupName } from '../names.ts'
import { defineRoute } from '../route.ts'
import { vpnPingView, vpnView } from '../views/vpn.ts'
import { json } from './answers.ts'

export const vpnRoutes = {
  getVpn: defineRoute({
    method: 'GET',
    path: '/api/vpn',
    tag: 'vpn',
    summary: 'The network interface, its addresses and routes, and how each machine is reached',
    answer: json(vpnView, 'The VPN of this node.'),
    errors: ['vpn.not_running'],
  }),
  pingMachine: defineRoute({
    method: 'GET',
    path: '/api/vpn/ping/:machine',
    tag: 'vpn',
    summary: 'Reach a machine now and measure: by VPN address, host name or peer id',
    params: z.object({ machine: lookupName.meta({ example: '10.1.0.12' }) }),
    answer: json(vpnPingView, 'How it was reached.'),
    errors: ['vpn.not_running', 'vpn.unknown_machine', 'vpn.ambiguous_machine', 'vpn.unreachable'],
  }),
} as const
