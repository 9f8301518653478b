/** Options of every command: which network, which instance, how to print. */
import { isNodeName, tryParseDuration } from '@mesh/core'
import { LOG_LEVELS, refuseLogLevels } from '../log/log-level.ts'
import { SUBSYSTEMS } from '../log/subsystems.ts'
import { ALL, API_TOKEN, CLIENT, NODE, SERVICE, TOKEN } from './command-groups.ts'
import { bigInteger, choice, duration, inGroup, integer, path, text, toggle } from './option.ts'

export const generateOptions = inGroup('Network', [''], {
  generate: toggle({
    default: false,
    short: 'g',
    environment: false,
    help: 'Make a new network and print its configuration file.',
  }),
  base64: toggle({
    default: false,
    short: 'b',
    environment: false,
    help: 'With -g: print it as a token.',
  }),
  keyOtpInterval: bigInteger({
    placeholder: 'SECONDS',
    default: 360n,
    min: 5n,
    max: 2n ** 63n - 1n,
    help: 'With -g: how often the keys of the new network rotate.',
  }),
})

export const networkOptions = inGroup('Network', [...ALL, ...TOKEN], {
  config: path({
    placeholder: 'FILE',
    help: 'The network to join, as a YAML file (made by `mesh -g`).',
  }),
  token: text({
    placeholder: 'TOKEN',
    secret: true,
    help: 'The network to join, as a token (made by `mesh -g -b`). Other users can see the command line: prefer MESHTOKEN or --token-file.',
  }),
  tokenFile: path({
    placeholder: 'FILE',
    help: 'The network to join, as a file that holds a token.',
  }),
})

export const nameOptions = inGroup('Network', NODE, {
  name: text({
    placeholder: 'NAME',
    defaultText: "the host's name",
    check: (name) =>
      isNodeName(name) ? undefined : '1 to 63 letters, digits and hyphens, with no hyphen at either end',
    help: "This machine's name as other members are shown it; two may have the same, and are told apart by their ids.",
  }),
})

export const stateOptions = {
  ...inGroup('State', NODE, {
    stateDir: path({
      commands: [...ALL, 'admin init'],
      placeholder: 'DIR',
      defaultText: '$XDG_STATE_HOME/mesh or ~/.local/state/mesh',
      help: 'Where identity, ledger and control socket are kept, in a folder for each network and instance.',
    }),
    instance: text({
      commands: ALL,
      placeholder: 'NAME',
      default: 'node',
      check: (name) =>
        /^[a-z0-9][a-z0-9._-]{0,39}$/i.test(name)
          ? undefined
          : 'letters, digits, dots, dashes and underscores, at most 40, beginning with a letter or digit',
      help: 'Tells apart several nodes of one network on this machine; each has its own identity.',
    }),
    ephemeral: toggle({
      default: false,
      help: 'Keep nothing: a new identity and an empty ledger at every start.',
    }),
    ledgerState: path({
      placeholder: 'DIR',
      defaultText: "the instance's folder",
      help: 'Keep the ledger in this folder instead.',
    }),
  }),
  ...inGroup('Network', ALL, {
    edgevpn: toggle({
      default: false,
      environment: false,
      help: 'Take the command line and the environment of EdgeVPN, as when this program is called `edgevpn` (docs/edgevpn.md).',
    }),
  }),
  ...inGroup('State', [...ALL, ...TOKEN], {
    defaults: path({
      placeholder: 'FILE',
      defaultText: '$XDG_CONFIG_HOME/mesh/defaults or ~/.config/mesh/defaults, where it exists',
      help: 'A file of defaults: lines `flag = value` or `flag`, # begins a comment.',
    }),
  }),
}

function isKeepDuration(text: string): boolean {
  const ms = tryParseDuration(text)
  return ms !== undefined && ms >= 1_000 && ms <= 86_400_000
}

export const clientOptions = {
  ...inGroup('Asking a node', CLIENT, {
    apiUrl: text({
      placeholder: 'URL',
      defaultText: "the instance's control socket",
      help: 'The node to ask: http://HOST:PORT or unix://PATH.',
      check: (url) =>
        /^(https?:\/\/.|unix:\/\/.)/.test(url) ? undefined : 'http://HOST:PORT or unix://PATH',
    }),
    apiToken: text({
      placeholder: 'TOKEN',
      secret: true,
      check: (token) =>
        /^[A-Za-z0-9._~+/-]{1,1024}=*$/.test(token)
          ? undefined
          : 'a token as `mesh api-token create` prints it',
      help: 'With --api-url: the token that the node asks for. Other users can see the command line: prefer MESHAPITOKEN or --api-token-file.',
    }),
    level: choice({
      commands: ['api-token create'],
      choices: ['read', 'write', 'admin'],
      default: 'read',
      environment: false,
      help: 'What the token is good for: to see everything, to change the ledger too, or to change who is in and what the machine offers too.',
    }),
    count: integer({
      commands: ['ping'],
      placeholder: 'N',
      default: 4,
      min: 0,
      max: 1_000_000,
      environment: false,
      help: 'How often to measure, once a second; 0 goes on until Ctrl-C.',
    }),
    path: toggle({
      commands: ['ping'],
      default: false,
      environment: false,
      help: 'Show each address of the machine that was tried over UDP, and why packets do not go so where they do not.',
    }),
    persist: toggle({
      commands: ['log-level'],
      default: false,
      environment: false,
      help: 'Keep the levels over restarts of the node, until other ones are given without it.',
    }),
    keep: text({
      commands: ['ledger put'],
      placeholder: 'DURATION',
      environment: false,
      check: (every) => (isKeepDuration(every) ? undefined : 'a duration from 1s to 24h, like 20s'),
      help: 'The node renews the entry as often as this while it runs, and deletes it at its end; `mesh ledger delete` ends that.',
    }),
    field: text({
      commands: ['ledger put'],
      placeholder: 'NAME=now',
      environment: false,
      check: (field) => (/^[^=]+=now$/.test(field) ? undefined : 'NAME=now, as in LastSeen=now'),
      help: 'Set this field of VALUE, a JSON object, to the time of the write.',
    }),
    expires: duration({
      commands: ['admin invite'],
      default: '24h',
      minMs: 60_000,
      maxMs: 2_592_000_000,
      environment: false,
      help: 'How long the invite may be used.',
    }),
    for: duration({
      commands: ['admin admit', 'admin approve'],
      default: '0s',
      defaultText: '',
      minMs: 0,
      maxMs: 315_360_000_000,
      environment: false,
      help: 'How long the machine is a member, like 30d or 8h. Left out: as long as its invite says, else for good.',
    }),
    memberFor: duration({
      commands: ['admin invite'],
      default: '0s',
      defaultText: '',
      minMs: 0,
      maxMs: 315_360_000_000,
      environment: false,
      help: 'How long the machine that uses the invite is a member, like 8h. Left out: for good.',
    }),
    label: text({
      commands: ['admin invite'],
      placeholder: 'TEXT',
      environment: false,
      check: (label) => (label.length <= 64 ? undefined : 'at most 64 characters'),
      help: 'What the invite is for; members can read it.',
    }),
  }),
  ...inGroup('Output', ['peergater ecdsa-genkey'], {
    privkey: toggle({
      default: false,
      environment: false,
      help: 'Print the private key alone.',
    }),
    pubkey: toggle({
      default: false,
      environment: false,
      help: 'Print the public key alone.',
    }),
  }),
  ...inGroup('Asking a node', ['lease'], {
    ttl: duration({
      default: '15s',
      minMs: 5_000,
      maxMs: 3_600_000,
      environment: false,
      help: 'How long the lease lasts after each renewal: another member has it so long after this one is gone.',
    }),
    leaseWait: duration({
      default: '30s',
      minMs: 0,
      maxMs: 60_000,
      environment: false,
      help: 'How long to wait for a lease that another member holds.',
    }),
  }),
  ...inGroup('Asking a node', ['ledger put', 'ledger delete'], {
    wait: duration({
      default: '5s',
      minMs: 0,
      maxMs: 60_000,
      environment: false,
      help: 'How long to wait until the write is in a block; 0s does not wait.',
    }),
  }),
}

export const outputOptions = inGroup('Output', NODE, {
  logLevel: text({
    placeholder: 'LEVEL',
    default: 'info',
    check: refuseLogLevels,
    parts: [...LOG_LEVELS, ...SUBSYSTEMS.flatMap((name) => LOG_LEVELS.map((level) => `${name}=${level}`))],
    help: 'What is logged: debug, info, warn, error or off; for single subsystems as in `info,p2p=debug`.',
  }),
  logFormat: choice({
    commands: ALL,
    choices: ['auto', 'human', 'json'],
    default: 'auto',
    help: 'Lines for people, or JSON lines; auto is human on a terminal and json elsewhere.',
  }),
  debug: toggle({
    commands: [...ALL, ...TOKEN],
    default: false,
    help: 'Print stack traces with errors, and serve profiles of the node at /debug/pprof/.',
  }),
  verbose: toggle({
    commands: ['status', 'peers'],
    default: false,
    environment: false,
    help: 'Show for each peer how it is reached, what was tried and what comes next.',
  }),
  all: toggle({
    commands: ['help'],
    default: false,
    environment: false,
    help: 'Show every command, and every option of `mesh`.',
  }),
  json: toggle({
    commands: [
      ...CLIENT,
      ...TOKEN,
      ...API_TOKEN,
      'peergater ecdsa-genkey',
      'version',
      'config',
      'dns',
      ...SERVICE.filter((command) => command !== 'proxy'),
    ],
    default: false,
    environment: false,
    help: 'Print JSON for programs (for `ledger put`: take VALUE as JSON too).',
  }),
})
