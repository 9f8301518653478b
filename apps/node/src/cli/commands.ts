/** Every command of `mesh`. Help, completion and docs/flags.md come from this table. */
import type { Command } from './command.ts'

export const rootCommand: Command = {
  name: '',
  arguments: [],
  summary: 'a decentralised mesh VPN: machines that find each other and share a signed ledger',
  description:
    'Every machine that has the token of a network can join it; there is no server. Without a command `mesh` joins, makes the network interface, and carries packets until Ctrl-C.',
  examples: [
    'mesh -g -b > mesh.token                make a network (its token is the key: keep it secret)',
    'sudo mesh --token-file mesh.token      join it: this machine gets an address in 10.1.0.0/24',
    'sudo mesh --token-file mesh.token --address 10.1.0.11/24 --api',
    'mesh status                            see how it goes',
    'mesh ping 10.1.0.12                    see how another machine is reached',
  ],
  load: async () => (await import('./root.ts')).runRoot,
}

export const commands: readonly Command[] = [
  {
    name: 'api',
    arguments: [],
    summary: 'join the network and serve its HTTP API and web page',
    description:
      'No network interface is made. Runs until Ctrl-C or SIGTERM. The page opens in a browser at the address that it prints.',
    examples: [
      'mesh api --token-file mesh.token',
      'mesh api --config network.yaml --listen unix:///run/mesh.sock',
      'mesh api --token-file mesh.token --listen :9000 --private',
    ],
    load: async () => (await import('./run-node.ts')).runApi,
  },
  {
    name: 'start',
    arguments: [],
    summary: 'join the network without an interface and without serving the API on a port',
    description: 'The control socket still answers `mesh status` and `mesh ledger` on this machine.',
    examples: ['mesh start --token-file mesh.token'],
    load: async () => (await import('./run-node.ts')).runStart,
  },
  {
    name: 'service-add',
    arguments: ['[NAME]', '[TARGET]'],
    summary: 'offer members what listens on TARGET, under a name',
    description:
      'TARGET is HOST:PORT, :PORT for this machine, udp:HOST:PORT or unix:PATH. Asks the node that runs here, which goes on with it; where none runs, or with --own-node, runs one without a network interface until Ctrl-C. The service is withdrawn while its target does not answer.',
    examples: [
      'mesh service-add ssh 127.0.0.1:22 --token-file mesh.token',
      'mesh service-add dns udp:127.0.0.1:53 --token-file mesh.token',
      'mesh service-add web :8080 --service-add db=unix:/run/postgresql/.s.PGSQL.5432 --token-file mesh.token',
    ],
    load: async () => (await import('./run-service.ts')).runServiceAdd,
  },
  {
    name: 'service-connect',
    arguments: ['[NAME]', '[LISTEN]'],
    summary: "make a member's service reachable on this machine",
    description:
      'LISTEN is HOST:PORT, :PORT, udp:HOST:PORT or unix:PATH. Asks the node that runs here, which goes on with it; where none runs, or with --own-node, runs one without a network interface until Ctrl-C.',
    examples: [
      'mesh service-connect ssh 127.0.0.1:2222 --token-file mesh.token',
      'mesh service-connect dns udp:127.0.0.1:5353 --token-file mesh.token',
    ],
    load: async () => (await import('./run-service.ts')).runServiceConnect,
  },
  {
    name: 'file-send',
    arguments: ['[NAME]', '[PATH]'],
    summary: 'offer members a file or folder, under a name',
    description:
      'Asks the node that runs here, which goes on with it; where none runs, or with --own-node, runs one until Ctrl-C. Links inside a folder are left out.',
    examples: [
      'mesh file-send photos ~/photos',
      'mesh file-send report report.pdf --once --token-file mesh.token',
      'mesh file-send a ./a --file-send b=./b --token-file mesh.token',
    ],
    load: async () => (await import('./run-file.ts')).runFileSend,
  },
  {
    name: 'file-receive',
    arguments: ['NAME', '[PATH]'],
    summary: "fetch a member's file or folder, and go on where it broke off",
    description:
      'PATH is where it shall stand, or a folder to put it into (default: here). Waits for a member that offers NAME; nothing has its name before all of it has come and its hashes are right. Ctrl-C keeps what has come.',
    examples: [
      'mesh file-receive photos --token-file mesh.token',
      'mesh file-receive report ~/inbox/ --token-file mesh.token --json',
    ],
    load: async () => (await import('./run-file.ts')).runFileReceive,
  },
  {
    name: 'services',
    arguments: [],
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
    arguments: [],
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
    arguments: [],
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
  {
    name: 'status',
    arguments: [],
    summary: 'who a running node is and what it sees: problems, machines and peers',
    examples: ['mesh status', 'mesh status --verbose', 'mesh status --json', 'mesh status --instance second'],
    load: async () => (await import('./status.ts')).runStatus,
  },
  {
    name: 'doctor',
    arguments: [],
    summary: 'check this machine and its running node, and say what to do',
    description:
      'Looks at the device, privileges, state folder, ports, clock, NAT, relays, UDP, MTU, DNS, token, peers and versions. Works without a running node too, of what can be seen then. Ends with 1 when a check fails; a warning is no failure.',
    examples: ['mesh doctor', 'sudo mesh doctor --token-file mesh.token', 'mesh doctor --json'],
    load: async () => (await import('./doctor.ts')).runDoctor,
  },
  {
    name: 'peers',
    arguments: [],
    summary: 'whom the running node is connected with or knows, and how they are reached',
    examples: ['mesh peers', 'mesh peers --verbose', 'mesh peers --json'],
    load: async () => (await import('./peers.ts')).runPeers,
  },
  {
    name: 'machines',
    arguments: [],
    summary: 'the machines of the network: address, name, system, version, and how packets reach them',
    examples: ['mesh machines', 'mesh machines --json'],
    load: async () => (await import('./peers.ts')).runMachines,
  },
  {
    name: 'log-level',
    arguments: ['[LEVELS]'],
    summary: 'what the running node logs; with LEVELS changes it from now on',
    description:
      'LEVELS has the form of --log-level, and replaces what was in force: a level for all, and others for single subsystems. Without it each subsystem and its level are listed. It is forgotten when the node ends, unless --keep is given; a start with --log-level beats what was kept.',
    examples: [
      'mesh log-level',
      'mesh log-level info,p2p/reach=debug',
      'mesh log-level info',
      'mesh log-level warn,vpn=debug --keep',
    ],
    load: async () => (await import('./log-level.ts')).runLogLevel,
  },
  {
    name: 'ping',
    arguments: ['MACHINE'],
    summary: 'how another machine is reached, by its address, name or peer id',
    description:
      'Asks the running node to measure: through the VPN, or over libp2p where it runs none or the other has none. Ends with 1 when nobody answered.',
    examples: ['mesh ping 10.1.0.12', 'mesh ping laptop --count 1', 'mesh ping 10.1.0.12 --count 0 --json'],
    load: async () => (await import('./ping.ts')).runPing,
  },
  {
    name: 'guest add',
    arguments: ['NAME'],
    summary: 'give a stock WireGuard app (a phone, a router) an address of the VPN',
    description:
      'Prints the configuration for the app, and on a terminal its QR code. It holds the private key, which is kept nowhere: it is not printed a second time. The running node carries for the guest from now on, also after a restart.',
    examples: [
      'mesh guest add phone',
      'mesh guest add router --guest-endpoint vpn.example.org:51820 > router.conf',
    ],
    load: async () => (await import('./guest.ts')).runGuestAdd,
  },
  {
    name: 'guest list',
    arguments: [],
    summary: 'guests of the running node: last handshake and traffic of each',
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
  {
    name: 'ledger get',
    arguments: ['[BUCKET]', '[KEY]'],
    summary: 'read the ledger, a bucket or one key',
    examples: ['mesh ledger get notes greeting', 'mesh ledger get machines --json'],
    load: async () => (await import('./ledger.ts')).runGet,
  },
  {
    name: 'ledger put',
    arguments: ['BUCKET', 'KEY', 'VALUE'],
    summary: 'write a key: VALUE is a text, or JSON with --json; - reads it from standard input',
    examples: [
      'mesh ledger put notes greeting hello',
      'echo \'{"a":1}\' | mesh ledger put notes object - --json',
    ],
    load: async () => (await import('./ledger.ts')).runPut,
  },
  {
    name: 'ledger delete',
    arguments: ['BUCKET', '[KEY]'],
    summary: 'delete a key, or all of a bucket that this node may delete',
    examples: ['mesh ledger delete notes greeting'],
    load: async () => (await import('./ledger.ts')).runDelete,
  },
  {
    name: 'ledger list',
    arguments: ['[BUCKET]'],
    summary: 'list the buckets, or the keys of one',
    examples: ['mesh ledger list', 'mesh ledger list notes'],
    load: async () => (await import('./ledger.ts')).runList,
  },
  {
    name: 'ledger watch',
    arguments: ['[BUCKET]'],
    summary: 'print changes as they happen, until Ctrl-C',
    examples: ['mesh ledger watch', 'mesh ledger watch notes --json'],
    load: async () => (await import('./ledger-watch.ts')).runWatch,
  },
  {
    name: 'token show',
    arguments: [],
    summary: "print the network's token, for another machine that is to join",
    description:
      "Whoever has the token can join: send it over ssh, into a file that only you can read. Prints the token of the network that the options, the environment or the file of defaults name; in a checkout, where nothing names one, that of `npm start`'s own network.",
    examples: [
      'mesh token show --token-file mesh.token',
      "(umask 077; ssh first 'mesh token show --token-file mesh.token' > mesh.token)",
      "mesh token show --config network.yaml | ssh second '(umask 077; cat > mesh.token)'",
    ],
    load: async () => (await import('./token-show.ts')).runTokenShow,
  },
  {
    name: 'admin init',
    arguments: [],
    summary: "make an administrator's key for a network, and print the token that names it",
    description:
      'Only peers that an administrator let in may use a network whose token names one. The key is kept in a file on this machine; give every machine the printed token in place of the old one, and restart its node. The node of this machine lets itself in.',
    examples: [
      'mesh admin init --token-file mesh.token > admin.token && chmod 600 admin.token',
      'mesh api --token-file admin.token',
    ],
    load: async () => (await import('./admin.ts')).runAdminInit,
  },
  {
    name: 'admin invite',
    arguments: [],
    summary: 'make an invite, with which one machine lets itself in',
    description:
      'Prints its code once. The machine joins with the token and --invite CODE. Until it ends, whoever has the code first is in.',
    examples: ['mesh admin invite --expires 1h --label laptop'],
    load: async () => (await import('./admin.ts')).runAdminInvite,
  },
  {
    name: 'admin cancel',
    arguments: ['INVITE'],
    summary: 'cancel an invite that is open, by its id',
    load: async () => (await import('./admin.ts')).runAdminCancel,
  },
  {
    name: 'admin admit',
    arguments: ['PEER'],
    summary: 'let a peer in, by its id or name; also one that was shut out',
    examples: ['mesh admin admit 12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'],
    load: async () => (await import('./admin.ts')).runAdminAdmit,
  },
  {
    name: 'admin revoke',
    arguments: ['PEER'],
    summary: 'shut a peer out, by its id or name: all members close what is open with it',
    examples: ['mesh admin revoke laptop'],
    load: async () => (await import('./admin.ts')).runAdminRevoke,
  },
  {
    name: 'admin list',
    arguments: [],
    summary: 'list who is in, who waits to be let in, and invites',
    examples: ['mesh admin list', 'mesh admin list --json'],
    load: async () => (await import('./admin.ts')).runAdminList,
  },
  {
    name: 'api-token create',
    arguments: ['NAME'],
    summary: 'make a token for the API of a node, and print it once',
    description:
      'Puts the hash of it into the file of --api-token-file, which is made where it is missing; nodes that run with that file take the token at once.',
    examples: [
      'mesh api-token create grafana --api-token-file api.tokens',
      'mesh api-token create me --level admin --api-token-file api.tokens',
      'mesh api --token-file mesh.token --api-token-file api.tokens',
    ],
    load: async () => (await import('./api-token.ts')).runApiTokenCreate,
  },
  {
    name: 'api-token list',
    arguments: [],
    summary: 'list the tokens of a file by name and level',
    examples: ['mesh api-token list --api-token-file api.tokens'],
    load: async () => (await import('./api-token.ts')).runApiTokenList,
  },
  {
    name: 'api-token revoke',
    arguments: ['NAME'],
    summary: 'take a token out of a file: nodes that run with it refuse the token within a second',
    examples: ['mesh api-token revoke grafana --api-token-file api.tokens'],
    load: async () => (await import('./api-token.ts')).runApiTokenRevoke,
  },
  {
    name: 'peergater ecdsa-genkey',
    arguments: [],
    summary: 'make a key pair for --peergate-auth and the bucket trustzoneAuth',
    examples: ['mesh peergater ecdsa-genkey'],
    load: async () => (await import('./peergater.ts')).runGenerateKey,
  },
  {
    name: 'config',
    arguments: [],
    summary: 'print the settings in force and where each came from',
    description:
      'Shows what `mesh`, `mesh api` and `mesh start` would run with, given the same options and environment; secrets are masked.',
    examples: ['mesh config', 'MESHLISTEN=:9000 mesh config --json'],
    load: async () => (await import('./config.ts')).runConfig,
  },
  {
    name: 'completion',
    arguments: ['bash|zsh|fish'],
    summary: 'print the completion script of a shell',
    examples: [
      'source <(mesh completion bash)',
      'mesh completion zsh > "${fpath[1]}/_mesh"',
      'mesh completion fish > ~/.config/fish/completions/mesh.fish',
    ],
    load: async () => (await import('./completion.ts')).runCompletion,
  },
  {
    name: 'version',
    arguments: [],
    summary: 'print the version of this program',
    load: async () => (await import('./version.ts')).runVersion,
  },
  {
    name: 'help',
    arguments: ['[COMMAND...]'],
    summary: 'print how to begin, the help of a command, or with --all everything',
    examples: ['mesh help', 'mesh help ledger put', 'mesh help --all'],
    load: async () => (await import('./help.ts')).runHelp,
  },
]

/** Every command, `mesh` alone first. */
export const allCommands: readonly Command[] = [rootCommand, ...commands]

/** The command that the words begin with, and how many of them are its name. */
export function findCommand(
  words: readonly string[],
): { readonly command: Command; readonly length: number } | undefined {
  for (const length of [2, 1]) {
    const command = commands.find(({ name }) => name === words.slice(0, length).join(' '))
    if (command !== undefined && words.length >= length) return { command, length }
  }
  return undefined
}
