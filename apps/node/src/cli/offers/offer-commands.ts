/** Lists the commands that offer services, files, names and the way out, and use those of members. */
import type { Command } from '../command.ts'

export const offerCommands: readonly Command[] = [
  {
    name: 'service-add',
    arguments: ['[NAME TARGET]...'],
    summary: 'offer members what listens on TARGET, under a name',
    description:
      'TARGET is HOST:PORT, :PORT for this machine, udp:HOST:PORT or unix:PATH. Asks the node that runs here, which goes on with it; where none runs, or with --own-node, runs one without a network interface until Ctrl-C. The service is withdrawn while its target does not answer.',
    examples: [
      'mesh service-add ssh 127.0.0.1:22 --token-file mesh.token',
      'mesh service-add dns udp:127.0.0.1:53 --token-file mesh.token',
      'mesh service-add web :8080 db unix:/run/postgresql/.s.PGSQL.5432 --token-file mesh.token',
      'mesh service-add --service-add web=:8080 --service-add db=:5432 --token-file mesh.token',
    ],
    load: async () => (await import('./run-service.ts')).runServiceAdd,
  },
  {
    name: 'service-connect',
    arguments: ['[NAME LISTEN]...'],
    summary: "make a member's service reachable on this machine",
    description:
      'LISTEN is HOST:PORT, :PORT, udp:HOST:PORT or unix:PATH. Asks the node that runs here, which goes on with it; where none runs, or with --own-node, runs one without a network interface until Ctrl-C.',
    examples: [
      'mesh service-connect ssh 127.0.0.1:2222 --token-file mesh.token',
      'mesh service-connect web :8080 dns udp:127.0.0.1:5353 --token-file mesh.token',
      'mesh service-connect --bucket worker 127.0.0.1:50051',
    ],
    load: async () => (await import('./run-service.ts')).runServiceConnect,
  },
  {
    name: 'file-send',
    arguments: ['[NAME PATH]...'],
    summary: 'offer members a file or folder, under a name',
    description:
      'Asks the node that runs here, which goes on with it; where none runs, or with --own-node, runs one until Ctrl-C. Links inside a folder are left out.',
    examples: [
      'mesh file-send photos ~/photos',
      'mesh file-send report report.pdf --once --token-file mesh.token',
      'mesh file-send a ./a b ./b --token-file mesh.token',
    ],
    load: async () => (await import('./file-send.ts')).runFileSend,
  },
  {
    name: 'file-receive',
    arguments: ['NAME', '[PATH]'],
    summary: "fetch a member's file or folder, and go on where it broke off",
    description:
      'PATH is where it shall stand, or a folder to put it into (default: here). Waits for a member that offers NAME; nothing has its name before all of it has come and its hashes are right. Ctrl-C keeps what has come. Asks the node that runs here, which receives it as the user that it runs as; where none runs, or with --own-node, runs one for it.',
    examples: [
      'mesh file-receive photos ~/inbox/',
      'mesh file-receive photos --token-file mesh.token',
      'mesh file-receive report ~/inbox/ --token-file mesh.token --json',
    ],
    load: async () => (await import('./file-receive.ts')).runFileReceive,
  },
  {
    name: 'services',
    summary: 'services, connections and files of the running node, and what members offer',
    examples: ['mesh services', 'mesh services --json'],
    load: async () => (await import('./services.ts')).runServices,
  },
  {
    name: 'service-remove',
    arguments: ['NAME'],
    summary: 'the running node no longer offers a service',
    examples: ['mesh service-remove web'],
    load: async () => (await import('./services.ts')).runServiceRemove,
  },
  {
    name: 'service-disconnect',
    arguments: ['NAME'],
    summary: 'the running node no longer makes a service reachable here',
    examples: ['mesh service-disconnect web'],
    load: async () => (await import('./services.ts')).runServiceDisconnect,
  },
  {
    name: 'file-remove',
    arguments: ['NAME'],
    summary: 'the running node no longer offers a file or folder',
    examples: ['mesh file-remove photos'],
    load: async () => (await import('./services.ts')).runFileRemove,
  },
  {
    name: 'proxy',
    summary: 'an HTTP and SOCKS5 proxy whose requests leave through a member with --egress',
    description: 'Runs a node of its own, without a network interface, until Ctrl-C.',
    examples: [
      'mesh proxy --token-file mesh.token --listen 127.0.0.1:1080',
      'curl --proxy socks5h://127.0.0.1:1080 https://example.org',
      'mesh proxy --token-file mesh.token --egress-peer laptop',
    ],
    load: async () => (await import('./run-service.ts')).runProxy,
  },
  {
    name: 'dns',
    summary: 'join the network and answer DNS for it, or register records',
    description:
      'Without --regex it runs a node that answers at 127.0.0.1:53, or where --dns says. With --regex it registers the records given: asks the node that runs here, which goes on with it; where none runs, or with --own-node or --dns, runs one that takes them back at the end. No network interface is made.',
    examples: [
      'sudo mesh dns --token-file mesh.token',
      'mesh dns --token-file mesh.token --dns 127.0.0.1:5353 --no-dns-forwarder',
      "mesh dns --token-file mesh.token --regex '^git\\.mesh\\.$' --a 10.1.0.5 --txt '\"our code\"'",
      "mesh dns --token-file mesh.token --regex '^a\\.mesh\\.$' --a 10.1.0.5 --regex '^b\\.mesh\\.$' --a 10.1.0.6",
    ],
    load: async () => (await import('./dns.ts')).runDns,
  },
  {
    name: 'dns resolve',
    arguments: ['NAME'],
    summary: 'who answers for a name in the running node, from which pattern, and why not another',
    examples: ['mesh dns resolve laptop.mesh', 'mesh dns resolve git.mesh --type TXT --json'],
    load: async () => (await import('./dns-resolve.ts')).runDnsResolve,
  },
]
