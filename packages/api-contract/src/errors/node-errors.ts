/** Lists what the node itself refuses, and whom it trusts. */
import type { ErrorDescription } from './error-description.ts'

export const nodeErrors = {
  'metrics.no_reporter': {
    status: 404,
    title: 'This node counts no traffic',
    hint: 'It was started without a bandwidth reporter.',
  },
  'events.too_many_readers': {
    status: 503,
    retryAfterSeconds: 5,
    title: 'Too many readers of events',
    hint: 'Close other pages or tools that watch this node.',
  },
  'node.local_only': {
    status: 403,
    title: 'This reaches into the machine, so only the machine itself may ask',
    hint: 'Ask over the control socket or a loopback address, on the machine that the node runs on.',
  },
  'node.owner_only': {
    status: 403,
    title: 'This does what the node may do on its machine, so only the user that it runs as may ask',
    hint: 'Ask over the control socket, as that user: the command `mesh` does.',
  },
  'trust.no_peerguard': {
    status: 404,
    title: 'This node has no peer gate',
    hint: 'Start it with --peerguard.',
  },
  'trust.no_administrators': {
    status: 404,
    title: 'This network has no administrators: anyone who has its token is in',
    hint: 'Make one with `mesh admin init`, which prints a token that names it.',
  },
  'trust.no_admin_key': {
    status: 403,
    title: "This node holds no administrator's key",
    hint: 'Ask on the machine where `mesh admin init` was run, or start this node with --admin-key FILE.',
  },
  'trust.foreign_admin_key': {
    status: 403,
    title: "The key that this node holds is no administrator's of this network",
    hint: 'Start the node with the token that `mesh admin init` printed.',
  },
  'trust.not_stated': {
    status: 409,
    title: 'The ledger did not take it',
    hint: "Check this machine's clock, and that the ledger is stored; GET /api/health says what is wrong.",
    commandHint:
      "Check this machine's clock, and that the ledger is stored; `mesh status` says what is wrong.",
  },
  'trust.own_node': {
    status: 409,
    title: "This node holds the administrator's key and cannot shut itself out",
    hint: 'Put the key on another machine that is in, and ask there.',
  },
  'trust.unknown_invite': {
    status: 404,
    title: 'There is no such invite of this administrator',
    hint: 'GET /api/admission lists the invites.',
    commandHint: '`mesh admin list` lists the invites.',
  },
  'trust.bad_policy': {
    status: 400,
    title: 'The policy has faults',
    hint: 'Issues names each of them. docs/access-rules.md has all forms.',
    commandHint: 'docs/access-rules.md has all forms.',
  },
  'trust.policy_too_large': {
    status: 413,
    title: 'The ledger cannot hold a policy of this size',
    hint: 'A peer id has 52 characters. Name each machine once, in a tag or group, and use that in rules.',
  },
  'trust.policy_changed': {
    status: 409,
    title: 'Another policy was signed meanwhile',
    hint: 'Read it with GET /api/rules, change that, and send it again.',
    commandHint: 'Begin again with `mesh rules show`.',
  },
  'trust.tests_failed': {
    status: 409,
    title: 'Tests of the policy fail',
    hint: 'POST /api/rules/check tells which. Change the rules or the tests.',
    commandHint: '`mesh rules check FILE` shows all tests. Change the rules or the tests.',
  },
  'trust.cuts_self': {
    status: 409,
    title: 'By this policy this node may begin nothing any more',
    hint: 'Add a rule with this node in from, or send Force: true.',
    commandHint: 'Add a rule with this node in from, or sign it anyway with --force.',
  },
  'debug.busy': {
    status: 503,
    title: 'Another profile is being taken',
    hint: 'Ask again when it is done; Retry-After says when to try.',
    commandHint: 'Try again when it is done.',
  },
  'node.no_log': {
    status: 404,
    title: 'The log of this node cannot be changed while it runs',
    hint: 'Start it with --log-level.',
  },
  'node.bad_log_level': {
    status: 400,
    title: 'These levels cannot be used',
    hint: 'Send debug, info, warn, error or off, or for single subsystems as in info,p2p=debug; GET /api/log-level lists them.',
    commandHint:
      'Give debug, info, warn, error or off, or for single subsystems as in info,p2p=debug; `mesh log-level` lists them.',
  },
  'node.not_kept': {
    status: 503,
    title: 'It is in force, and is forgotten when the node ends',
    hint: 'Is the state folder full or read-only? A node with --ephemeral keeps nothing.',
  },
  'node.not_ready': {
    status: 503,
    retryAfterSeconds: 2,
    title: 'The node is not ready yet',
    hint: 'Ask again in a few seconds; GET /api/health says what it waits for.',
    commandHint: 'Ask again in a few seconds; `mesh status` says what it waits for.',
  },
} as const satisfies Readonly<Record<string, ErrorDescription>>
