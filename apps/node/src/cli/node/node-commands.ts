/** Lists the commands that ask the running node, or change for whom it carries packets. */
import type { Command } from '../command.ts'

export const nodeCommands: readonly Command[] = [
  {
    name: 'status',
    summary: 'who a running node is and what it sees: problems, machines and peers',
    examples: ['mesh status', 'mesh status --verbose', 'mesh status --json', 'mesh status --instance second'],
    load: async () => (await import('./status.ts')).runStatus,
  },
  {
    name: 'doctor',
    summary: 'check this machine and its running node, and say what to do',
    description:
      'Looks at the device, privileges, state folder, ports, clock, NAT, relays, UDP, MTU, DNS, token, peers and versions. Without a running node it looks at the machine alone, and whether the addresses that --listen, --listen-maddrs, --udp-port and --dns name are free. CleanUps with 1 when a check fails; a warning is no failure.',
    examples: [
      'mesh doctor',
      'sudo mesh doctor --token-file mesh.token --udp-port 51820',
      'mesh doctor --json',
    ],
    load: async () => (await import('./doctor.ts')).runDoctor,
  },
  {
    name: 'peers',
    summary: 'whom the running node is connected with or knows, and how they are reached',
    examples: ['mesh peers', 'mesh peers --verbose', 'mesh peers --json'],
    load: async () => (await import('./peers.ts')).runPeers,
  },
  {
    name: 'machines',
    summary: 'the machines of the network: address, name, system, version, and how packets reach them',
    examples: ['mesh machines', 'mesh machines --json'],
    load: async () => (await import('./machines.ts')).runMachines,
  },
  {
    name: 'log-level',
    arguments: ['[LEVELS]'],
    summary: 'what the running node logs; with LEVELS changes it from now on',
    description:
      'LEVELS has the form of --log-level, and replaces what was in force: a level for all, and others for single subsystems. Without it each subsystem and its level are listed. It is forgotten when the node ends, unless --persist is given; a start with --log-level beats what was kept.',
    examples: [
      'mesh log-level',
      'mesh log-level info,p2p/reach=debug',
      'mesh log-level info',
      'mesh log-level warn,vpn=debug --persist',
    ],
    load: async () => (await import('./log-level.ts')).runLogLevel,
  },
  {
    name: 'ping',
    arguments: ['MACHINE'],
    summary: 'how another machine is reached, by its address, name or peer id',
    description:
      'Asks the running node to measure: through the VPN, or over libp2p where it runs none or the other has none. CleanUps with 1 when nobody answered.',
    examples: ['mesh ping 10.1.0.12', 'mesh ping laptop --count 1', 'mesh ping 10.1.0.12 --count 0 --json'],
    load: async () => (await import('./ping.ts')).runPing,
  },
  {
    name: 'exit-node',
    arguments: ['[PEER]'],
    summary:
      'through which member the running node leads what leaves for the Internet; with PEER, or off, changes it',
    description:
      'PEER is a name, an address of the VPN or a peer id. Several with commas between them: the first one that is reached. any: the nearest member that offers an exit. A member that is called off or any is named by its address or id. Holds over restarts, until the node is started with another --exit-node. Nothing passes outside of an exit node while one is exchanged for another.',
    examples: ['mesh exit-node', 'mesh exit-node gate,spare', 'mesh exit-node off'],
    load: async () => (await import('./exit-node.ts')).runExitNode,
  },
  {
    name: 'guest add',
    arguments: ['NAME'],
    summary: 'give a stock WireGuard app (a phone, a router) an address of the VPN',
    description:
      'Prints the configuration for the app, and on a terminal its QR code. It holds the private key, which is kept nowhere: it is not printed a second time. The running node carries for the guest from now on, also after a restart.',
    examples: [
      'mesh guest add phone',
      'mesh guest add tablet --full-tunnel',
      'mesh guest add router --guest-endpoint vpn.example.org:51820 > router.conf',
    ],
    load: async () => (await import('./guest.ts')).runGuestAdd,
  },
  {
    name: 'guest list',
    summary:
      'guests of the running node: last handshake and traffic of each, and where their apps look for the node',
    examples: ['mesh guest list', 'mesh guest list --json'],
    load: async () => (await import('./guest.ts')).runGuestList,
  },
  {
    name: 'guest remove',
    arguments: ['NAME'],
    summary: 'cut a guest of the running node off, at once',
    examples: ['mesh guest remove phone'],
    load: async () => (await import('./guest.ts')).runGuestRemove,
  },
]
