/** Lists the commands about who may use the network, and the API. */
import type { Command } from '../command.ts'

export const accessCommands: readonly Command[] = [
  {
    name: 'token show',
    summary: "print the network's token, for another machine that is to join",
    description:
      "Anyone who has the token can join: send it over ssh, into a file that only you can read. Prints the token of the network that the options, the environment or the file of defaults name; in a checkout, where nothing names one, that of `npm start`'s own network.",
    examples: [
      'mesh token show --token-file mesh.token',
      "(umask 077; ssh first 'mesh token show --token-file mesh.token' > mesh.token)",
      "mesh token show --config network.yaml | ssh second '(umask 077; cat > mesh.token)'",
    ],
    load: async () => (await import('./token-show.ts')).runTokenShow,
  },
  {
    name: 'admin init',
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
    summary: 'make an invite, with which one machine lets itself in',
    description:
      'Prints its code once. The machine joins with the token and --invite CODE. Until it ends, the one who has the code first is in.',
    examples: [
      'mesh admin invite --expires 1h --label laptop',
      'mesh admin invite --member-for 8h --label contractor',
    ],
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
    summary: 'let a peer in, by its id or name; also one that was shut out, or whose membership ends',
    description:
      'With --for the membership ends by itself: from then on every node refuses the peer, by its own clock. Say it again before the end to renew the membership without a break.',
    examples: [
      'mesh admin admit 12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB',
      'mesh admin admit laptop --for 30d',
    ],
    load: async () => (await import('./admin-member.ts')).runAdminAdmit,
  },
  {
    name: 'admin approve',
    arguments: ['PEER'],
    summary: 'let in a peer that waits, by its id or name',
    examples: ['mesh admin approve laptop', 'mesh admin approve laptop --for 30d'],
    load: async () => (await import('./admin-member.ts')).runAdminApprove,
  },
  {
    name: 'admin approval',
    arguments: ['on|off'],
    summary: 'ask for approval of each machine that uses an invite, or let invites be enough again',
    description:
      'With approval an invite brings a machine to waiting only, on all nodes, until an administrator says `mesh admin approve`. Without administrators of the network nothing waits.',
    examples: ['mesh admin approval on'],
    load: async () => (await import('./admin.ts')).runAdminApproval,
  },
  {
    name: 'admin revoke',
    arguments: ['PEER'],
    summary: 'shut a peer out, by its id or name: all members close what is open with it',
    examples: ['mesh admin revoke laptop'],
    load: async () => (await import('./admin-member.ts')).runAdminRevoke,
  },
  {
    name: 'admin list',
    summary: 'list who is in, who waits to be let in, and invites',
    examples: ['mesh admin list', 'mesh admin list --json'],
    load: async () => (await import('./admin-list.ts')).runAdminList,
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
    summary: 'make a key pair for --peergate-auth and the bucket trustzoneAuth',
    examples: ['mesh peergater ecdsa-genkey'],
    load: async () => (await import('./peergater.ts')).runGenerateKey,
  },
]
