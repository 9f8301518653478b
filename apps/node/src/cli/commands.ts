/** Every command of `mesh`. Help, completion and docs/flags.md come from this table. */
import { accessCommands } from './access/access-commands.ts'
import { rulesCommands } from './access/rules-commands.ts'
import type { Command } from './command.ts'
import { nodeCommands } from './node/node-commands.ts'
import { offerCommands } from './offers/offer-commands.ts'

export const rootCommand: Command = {
  name: '',
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
  load: async () => (await import('./run/root.ts')).runRoot,
}

export const commands: readonly Command[] = [
  {
    name: 'api',
    summary: 'join the network and serve its HTTP API and web page',
    description:
      'No network interface is made. Runs until Ctrl-C or SIGTERM. The page opens in a browser at the address that it prints.',
    examples: [
      'mesh api --token-file mesh.token',
      'mesh api --config network.yaml --listen unix:///run/mesh.sock',
      'mesh api --token-file mesh.token --listen :9000 --private',
    ],
    load: async () => (await import('./run/run-node.ts')).runApi,
  },
  {
    name: 'start',
    summary: 'join the network without an interface and without serving the API on a port',
    description: 'The control socket still answers `mesh status` and `mesh ledger` on this machine.',
    examples: ['mesh start --token-file mesh.token'],
    load: async () => (await import('./run/run-node.ts')).runStart,
  },
  ...offerCommands,
  ...nodeCommands,
  {
    name: 'lease',
    arguments: ['[NAME]'],
    summary: 'who holds which lease; with NAME, take it and keep it until Ctrl-C',
    description:
      'Among members that reach each other a lease has one holder at a time. In a partition each side may have one until the sides meet again: only the fencing number that is printed tells them apart.',
    examples: ['mesh lease', 'mesh lease backup', 'mesh lease backup --ttl 1m --lease-wait 0s'],
    load: async () => (await import('./ledger/lease.ts')).runLease,
  },
  {
    name: 'ledger get',
    arguments: ['[BUCKET]', '[KEY]'],
    summary: 'read the ledger, a bucket or one key',
    examples: ['mesh ledger get notes greeting', 'mesh ledger get machines --json'],
    load: async () => (await import('./ledger/ledger.ts')).runGet,
  },
  {
    name: 'ledger put',
    arguments: ['BUCKET', 'KEY', 'VALUE'],
    summary: 'write a key: VALUE is a text, or JSON with --json; - reads it from standard input',
    examples: [
      'mesh ledger put notes greeting hello',
      'echo \'{"a":1}\' | mesh ledger put notes object - --json',
      'mesh ledger put worker w1 \'{"Name":"w1","ID":"w1"}\' --keep 20s --field LastSeen=now',
    ],
    load: async () => (await import('./ledger/ledger.ts')).runPut,
  },
  {
    name: 'ledger delete',
    arguments: ['BUCKET', '[KEY]'],
    summary: 'delete a key, or all of a bucket that this node may delete',
    examples: ['mesh ledger delete notes greeting'],
    load: async () => (await import('./ledger/ledger.ts')).runDelete,
  },
  {
    name: 'ledger list',
    arguments: ['[BUCKET]'],
    summary: 'list the buckets, or the keys of one',
    examples: ['mesh ledger list', 'mesh ledger list notes'],
    load: async () => (await import('./ledger/ledger.ts')).runList,
  },
  {
    name: 'ledger watch',
    arguments: ['[BUCKET]'],
    summary: 'print changes as they happen, until Ctrl-C',
    examples: ['mesh ledger watch', 'mesh ledger watch notes --json'],
    load: async () => (await import('./ledger/ledger-watch.ts')).runWatch,
  },
  ...accessCommands,
  ...rulesCommands,
  {
    name: 'config',
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
    load: async () => (await import('./completion.ts')).completionOf(allCommands),
  },
  {
    name: 'version',
    summary: 'print the version of this program',
    load: async () => (await import('./version.ts')).runVersion,
  },
  {
    name: 'help',
    arguments: ['[COMMAND...]'],
    summary: 'print how to begin, the help of a command, or with --all everything',
    examples: ['mesh help', 'mesh help ledger put', 'mesh help --all'],
    load: async () => (await import('./help.ts')).helpOf(allCommands),
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
