/** Lists the commands about access rules. */
import type { Command } from '../command.ts'

export const rulesCommands: readonly Command[] = [
  {
    name: 'rules show',
    summary: 'print the access rules in force, as a policy that `mesh rules set` takes',
    description:
      "Prints the network's policy as YAML, and then the node's own rules, if it has any. Comments of the file that was signed are not kept: keep the file.",
    examples: ['mesh rules show > rules.yaml', 'mesh rules show --json'],
    load: async () => (await import('./rules-reads.ts')).runRulesShow,
  },
  {
    name: 'rules check',
    arguments: ['FILE'],
    summary: 'check a policy: its form, its names, its tests, and what it would change',
    description:
      'Nothing changes. FILE is YAML or JSON; - reads standard input. docs/access-rules.md has its form.',
    examples: ['mesh rules check rules.yaml', 'mesh rules check rules.yaml --ids > own-rules.yaml'],
    load: async () => (await import('./rules-changes.ts')).runRulesCheck,
  },
  {
    name: 'rules set',
    arguments: ['FILE'],
    summary: "sign a policy with the administrator's key; every member applies it",
    description:
      'Prints what changes, and refuses a policy whose tests fail. Ask on the node that holds the key of an administrator.',
    examples: ['mesh rules set rules.yaml'],
    load: async () => (await import('./rules-changes.ts')).runRulesSet,
  },
  {
    name: 'rules edit',
    summary: 'change the policy in force in an editor ($VISUAL or $EDITOR), and sign it',
    examples: ['EDITOR=nano mesh rules edit'],
    load: async () => (await import('./rules-edit.ts')).runRulesEdit,
  },
  {
    name: 'rules test',
    arguments: ['FROM', 'TO', 'ON'],
    summary: 'say whether one end may reach another one, and which rule says so',
    description:
      'FROM and TO are members, addresses, guest:NAME@MEMBER or route:RANGE; TO may be exit. ON is tcp:PORT, udp:PORT, icmp, service:NAME, files or egress. Ends with 1 where it is refused.',
    examples: ['mesh rules test laptop-1 db-1 tcp:5432', 'mesh rules test guest:phone@laptop-1 exit tcp:443'],
    load: async () => (await import('./rules-reads.ts')).runRulesTest,
  },
  {
    name: 'rules who',
    arguments: ['TO'],
    summary: 'list who reaches a member, guest, network or the Internet (exit), and on what',
    examples: ['mesh rules who db-1', 'mesh rules who exit'],
    load: async () => (await import('./rules-reads.ts')).runRulesWho,
  },
]
