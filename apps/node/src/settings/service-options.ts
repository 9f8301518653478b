/** Options of services and egress. */
import { NODE } from './command-groups.ts'
import { inGroup, list, text, toggle } from './option.ts'
import {
  parseEgressPeer,
  parseFile,
  parseListen,
  parseOffer,
  parseProxyAddress,
  parseRange,
} from './service-values.ts'
import { refusalOf } from './vpn-values.ts'

export const serviceOptions = inGroup('Services', NODE, {
  serviceAdd: list({
    placeholder: 'NAME=TARGET',
    help: 'Offer members what listens on TARGET (HOST:PORT, :PORT, udp:HOST:PORT or unix:PATH) under a name.',
    check: refusalOf(parseOffer),
  }),
  serviceConnect: list({
    placeholder: 'NAME=LISTEN',
    help: "Make a member's service reachable on this machine, at HOST:PORT, :PORT, udp:HOST:PORT or unix:PATH.",
    check: refusalOf(parseListen),
  }),
  sticky: toggle({
    default: true,
    help: 'Where several members offer one service: stay with one as long as it works, as databases need it. --no-sticky sends each new connection to the member with the fewest connections, of those that are equally near.',
  }),
  bucket: text({
    commands: ['service-connect'],
    placeholder: 'BUCKET',
    environment: false,
    help: 'Connect LISTEN to any live one of the services whose names are keys of this bucket, as of the pools of LocalAI: worker, federated. The same as the name BUCKET/*.',
  }),
  fileSend: list({
    commands: NODE.filter((command) => command !== 'file-receive'),
    placeholder: 'NAME=PATH',
    help: 'Offer members a file or folder under a name.',
    check: refusalOf(parseFile),
  }),
  once: toggle({
    commands: ['file-send'],
    default: false,
    help: 'End when somebody has received all of it.',
  }),
  ownNode: toggle({
    commands: ['service-add', 'service-connect', 'file-send', 'file-receive', 'dns'],
    default: false,
    help: 'Run a node of its own, also where one runs that could do it.',
  }),
  egress: toggle({
    default: false,
    help: 'Let members reach the Internet through this node; not its own addresses, nor private ones.',
  }),
  egressAllow: list({
    placeholder: 'CIDR',
    help: 'With --egress: members may reach these addresses, too, although they are private or loopback.',
    check: refusalOf(parseRange),
  }),
  proxy: text({
    commands: NODE.filter((command) => command !== 'proxy'),
    placeholder: 'ADDRESS',
    help: 'Serve an HTTP and SOCKS5 proxy here, whose requests leave through members with --egress.',
    check: refusalOf(parseProxyAddress),
  }),
  egressPeer: text({
    placeholder: 'PEER',
    help: 'With the proxy: leave through this member alone, by peer id, machine name or VPN address.',
    check: refusalOf(parseEgressPeer),
  }),
})
