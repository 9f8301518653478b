/** Options of the VPN: `mesh` without a command. */
import { tryParsePeerId } from '@mesh/core'
import { NODE } from './command-groups.ts'
import { checkGuestEndpoint } from './guest-endpoint.ts'
import { choice, inGroup, integer, list, text, toggle } from './option.ts'
import {
  DEFAULT_VPN_RANGE,
  parseOfferedRoute,
  parseStaticPeer,
  parseVpnAddress,
  parseVpnHost,
  refusalOf,
} from './vpn-values.ts'

/** `config` shows what `mesh` would run with. */
const VPN = ['', 'config']

export const vpnOptions = inGroup('VPN', VPN, {
  address: list({
    commands: NODE,
    placeholder: 'ADDRESS/LENGTH',
    defaultText: `one is leased in ${DEFAULT_VPN_RANGE}`,
    help: "This machine's address in the VPN, IPv4 or IPv6; with --dhcp, and for commands without the interface, only its range counts. libp2p never connects through these ranges.",
    check: refusalOf(parseVpnAddress),
  }),
  dhcp: toggle({
    default: false,
    defaultText: 'off, on without --address',
    help: 'Lease a free IPv4 address in the range of --address, and keep it.',
  }),
  interface: text({
    placeholder: 'NAME',
    default: 'mesh0',
    check: (name) =>
      /^[!-~]{1,15}$/.test(name) && !/[/%:]/.test(name) && name !== '.' && name !== '..'
        ? undefined
        : '1 to 15 characters without spaces, /, % and :, like mesh0',
    help: 'Name of the network interface.',
  }),
  mtu: integer({
    placeholder: 'BYTES',
    default: 1280,
    min: 576,
    max: 9000,
    help: 'The longest packet of the interface; between two machines the smaller of theirs counts. Below 1280 the interface has no IPv6.',
  }),
  wireguard: choice({
    commands: [...VPN, 'doctor'],
    choices: ['engine', 'kernel'],
    default: 'engine',
    help: "Who seals and carries packets: this program, or the kernel's own WireGuard, which is quicker and has no guests and no EdgeVPN-compatible members.",
  }),
  udp: toggle({
    default: true,
    help: 'Send packets over UDP to the machines that are reached so; streams carry them wherever and whenever they are not.',
  }),
  udpPort: integer({
    commands: [...VPN, 'doctor'],
    placeholder: 'PORT',
    default: 0,
    defaultText: 'any that is free',
    min: 0,
    max: 65_535,
    help: 'The UDP port of the VPN; a fixed one can be opened in a firewall.',
  }),
  tunQueues: integer({
    placeholder: 'NUMBER',
    default: 0,
    defaultText: '1 up to three cores, then a half of them, 4 at most',
    min: 0,
    max: 16,
    help: 'How many queues the interface has: each lets one more core send packets, and one more receive them, for other peers.',
  }),
  fwmark: integer({
    placeholder: 'NUMBER',
    default: 0,
    defaultText: 'none',
    min: 0,
    max: 0xffff_ffff,
    help: 'The routing mark (SO_MARK) of all that this node sends to peers, for policy routing and firewalls; WebRTC and QUIC, which cannot be marked, stay off.',
  }),
  guestEndpoint: text({
    commands: [...VPN, 'guest add'],
    placeholder: 'HOST[:PORT]',
    defaultText: 'the address that most probably works',
    check: checkGuestEndpoint,
    help: 'Where guests (stock WireGuard apps) find this node; of `mesh guest add`, where this one does.',
  }),
  fullTunnel: toggle({
    commands: ['guest add'],
    default: false,
    environment: false,
    help: "The guest sends all to this node, what is for the Internet too: that goes through the node's exit node, or out of it where it is one.",
  }),
  router: text({
    placeholder: 'ADDRESS',
    help: 'The machine that gets packets for addresses of the VPN that nobody has.',
    check: refusalOf(parseVpnHost),
  }),
  staticPeertable: list({
    placeholder: 'ADDRESS:PEER',
    help: 'Which peer has an address, in place of what the ledger says; [IPV6]:PEER too.',
    check: refusalOf(parseStaticPeer),
  }),
  advertiseRoute: list({
    placeholder: 'CIDR[,metric=N]',
    joins: /^metric=/,
    help: 'A network behind this machine that others may reach through it; forwarding has to be switched on. Several machines may advertise one network: the lowest metric goes first (default 0), then the nearest one that is reached.',
    check: refusalOf(parseOfferedRoute),
  }),
  acceptRoutes: toggle({
    default: false,
    help: 'Reach the networks that members advertise; never one that this machine is connected to or has a route to, and no default route.',
  }),
  exitNode: text({
    commands: [...VPN, 'doctor'],
    placeholder: 'PEER',
    help: 'The member, by its name, address or peer id, through which all that leaves this machine for the Internet goes, DNS too; while it is away, that is dropped. Several with commas between them: the first one that is reached. any: the nearest member with --advertise-exit.',
  }),
  exitNodeBlockLan: toggle({
    default: false,
    help: 'With --exit-node the local network is not reached past it either.',
  }),
  advertiseExit: toggle({
    commands: [...VPN, 'doctor'],
    default: false,
    help: 'Be an exit node for members: send on what they have for the Internet, with the address of this machine (nftables); forwarding has to be switched on.',
  }),
  acceptRoutesFrom: list({
    placeholder: 'PEER',
    help: 'Reach the networks that these members advertise, a default route too.',
    check: (id) => (tryParsePeerId(id) === undefined ? 'a peer id like 12D3KooW…' : undefined),
  }),
})
