/** Lists what fails with names, peers and the VPN. */
import type { ErrorDescription } from './error-description.ts'

export const networkErrors = {
  'dns.bad_record': {
    status: 400,
    title: 'The name record cannot be used',
    hint: 'Issues names the pattern or value that is wrong.',
    commandHint: 'The message names the pattern or value that is wrong.',
  },
  'dns.not_running': {
    status: 404,
    title: 'This node runs no DNS server',
    hint: 'Start it with --dns ADDRESS, as in --dns 127.0.0.1:5353.',
  },
  'dns.busy': {
    status: 503,
    retryAfterSeconds: 1,
    title: 'The patterns of the ledger take too long to try',
    hint: 'Ask again; delete patterns that are not needed.',
  },
  'vpn.not_running': {
    status: 404,
    title: 'This node runs no VPN',
    hint: 'A node has one when it was started as `mesh` alone; `mesh api` and `mesh start` make no interface.',
  },
  'vpn.unknown_machine': {
    status: 404,
    title: 'The VPN has no such machine',
    hint: 'GET /api/vpn lists the machines; name one by its address, its host name or its peer id.',
    commandHint: '`mesh status` lists the machines; name one by its address, its host name or its peer id.',
  },
  'vpn.ambiguous_machine': {
    status: 409,
    title: 'Several machines have this name',
    hint: 'Name the machine by its address or its peer id.',
  },
  'vpn.unreachable': {
    status: 503,
    title: 'The machine does not answer',
    hint: 'Check that it runs and has a connection; GET /api/peers has the last error.',
    commandHint: 'Check that it runs and has a connection; `mesh status` has the last error.',
  },
  'vpn.guest_exists': {
    status: 409,
    title: 'A guest has this name already',
    hint: 'Choose another name, or DELETE the guest first: its configuration is not told a second time.',
    commandHint:
      'Choose another name, or `mesh guest remove` it first: its configuration is not told a second time.',
  },
  'vpn.unknown_guest': {
    status: 404,
    title: 'This node has no such guest',
    hint: 'GET /api/vpn/guests lists them.',
    commandHint: '`mesh guest list` lists them.',
  },
  'vpn.bad_guest_name': {
    status: 400,
    title: 'This cannot be the name of a guest',
    hint: 'A name has 1 to 63 letters, digits and hyphens, and begins and ends with a letter or digit.',
  },
  'vpn.too_many_guests': {
    status: 409,
    title: 'This node has as many guests as it takes',
    hint: 'A node takes 32: remove some, or add the guest on another node.',
  },
  'vpn.no_guest_address': {
    status: 409,
    title: 'There is no free address for a guest',
    hint: 'Guests have IPv4 addresses of the range of the VPN: use a larger one on all nodes (--address).',
  },
  'vpn.guest_not_kept': {
    status: 503,
    title: 'The guests of this node cannot be written down',
    hint: 'Free space on the disk of the state directory, or see the log of the node.',
  },
  'exit.no_mark': {
    status: 409,
    title: 'The packets of this node itself cannot be told from others, and would be led in a circle',
    hint: 'Start the node with --exit-node PEER, or with --fwmark NUMBER to choose an exit node later.',
  },
  'exit.is_exit': {
    status: 409,
    title: 'This node is an exit node itself, or has a router',
    hint: 'Start it without --advertise-exit and --router.',
  },
  'exit.in_use': {
    status: 409,
    title: 'Another node of the machine uses an exit node',
    hint: 'A machine has one exit node: stop the other one.',
  },
  'exit.rp_filter': {
    status: 409,
    title: 'A strict rp_filter would drop the answers to this node',
    hint: 'Make it loose: sysctl -w net.ipv4.conf.all.rp_filter=2, and of the interface.',
  },
  'exit.no_policy_routing': {
    status: 409,
    title: 'The kernel takes no routing rules',
    hint: 'An exit node needs root, and policy routing in the kernel.',
  },
  'exit.no_ip_command': {
    status: 409,
    title: 'The command `ip` is not installed',
    hint: 'Install iproute2.',
  },
  'vpn.guests_need_engine': {
    status: 409,
    title: "A node with the kernel's WireGuard carries for no guests",
    hint: 'Start it with --wireguard engine, or add the guest on another node.',
  },
  'vpn.rules_need_engine': {
    status: 409,
    title: "A node with the kernel's WireGuard cannot keep the network's rules",
    hint: 'Start it without --wireguard kernel.',
  },
  'vpn.no_udp': {
    status: 409,
    title: 'This node sends nothing over UDP, by which alone guests come',
    hint: 'Start it without --no-udp.',
  },
  'vpn.no_endpoint': {
    status: 409,
    title: 'It is not known where a guest finds this node',
    hint: 'Name the address or host name that others reach this machine by: Endpoint, or --guest-endpoint.',
    commandHint: 'Name the address or host name that others reach this machine by: --guest-endpoint.',
  },
  'vpn.no_exit': {
    status: 409,
    title: 'This node has no exit node and is none, so what a guest has for the Internet would be dropped',
    hint: 'Choose an exit node (PUT /api/vpn/exit-node, or start with --exit-node), or offer one (--advertise-exit).',
    commandHint:
      'Choose an exit node (`mesh exit-node PEER`, or start with --exit-node), or offer one (--advertise-exit).',
  },
  'peer.unknown': {
    status: 404,
    title: 'This node knows no such peer',
    hint: 'GET /api/peers lists the peers; name one by its peer id, its name or its address in the VPN.',
    commandHint:
      '`mesh status` lists the peers; name one by its peer id, its name or its address in the VPN.',
  },
  'peer.bad_address': {
    status: 400,
    title: 'This is no address of a peer',
    hint: 'Give a peer id, or an address that ends with one: /ip4/192.0.2.7/tcp/4001/p2p/12D3KooW...',
  },
  'peer.ambiguous': {
    status: 409,
    title: 'Several peers have this name',
    hint: 'Name the peer by its peer id.',
  },
  'peer.unreachable': {
    status: 503,
    title: 'The peer does not answer',
    hint: 'Check that it runs and has a connection; GET /api/peers has the last error.',
    commandHint: 'Check that it runs and has a connection; `mesh status` has the last error.',
  },
} as const satisfies Readonly<Record<string, ErrorDescription>>
