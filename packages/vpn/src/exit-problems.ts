/** Tells people what is wrong with the way out over an exit node. */
import { shortPeerId } from '@mesh/core'
import type { ExitFault, IpFamily, VpnExitStatus, VpnProblem } from './vpn.ts'
import type { ExitChoice } from './table/choose-exit.ts'

const FAMILIES: readonly (readonly [IpFamily, string])[] = [
  ['ipv4', 'IPv4'],
  ['ipv6', 'IPv6'],
]

/** The problems with the exit: whenever it does not carry, packets to the Internet are dropped. */
export function exitProblems(
  status: VpnExitStatus | undefined,
  choice: ExitChoice | undefined,
): readonly VpnProblem[] {
  if (status === undefined) return []
  if (status.state === 'up') {
    return [...missingFamilies(status), ...status.faults.map((fault) => faultOf(status, fault))]
  }
  const { why, hint } = reasonOf(status, choice)
  if (status.state === 'searching') {
    return [
      {
        code: 'vpn.exit_searching',
        severity: 'warning',
        title: `Looking for the exit node ${nameOf(status)}: until it is reached packets to the Internet are dropped`,
        hint: `${why} so far. ${hint}`,
      },
    ]
  }
  return [
    {
      code: 'vpn.exit_gone',
      severity: 'error',
      title: `${why}: packets to the Internet are dropped, none goes past the exit`,
      hint,
    },
  ]
}

function missingFamilies(status: VpnExitStatus): VpnProblem[] {
  return FAMILIES.filter(([family]) => !status.families.includes(family)).map(([, name]) => ({
    code: 'vpn.exit_one_family',
    severity: 'warning',
    title: `The exit node ${nameOf(status)} forwards no ${name}: such packets to the Internet are dropped`,
    hint: 'It has no such addresses itself, or forwarding is off there: `mesh status` on that machine names the setting.',
  }))
}

/** The words, for people who use an exit, for what it says of itself. */
const FAULTS: Readonly<Record<ExitFault, string>> = {
  'exit.firewall': 'a firewall there drops what it does not know of forwarded packets',
  'exit.no_route': 'it has no default route of a family that it forwards',
  'exit.no_resolver': 'it has no DNS server for those whose own is in their local network',
}

function faultOf(status: VpnExitStatus, fault: ExitFault): VpnProblem {
  return {
    code: 'vpn.exit_faulty',
    severity: 'warning',
    title: `The exit node ${nameOf(status)} says that ${FAULTS[fault]}: packets to the Internet may be lost there`,
    hint: `\`mesh status\` on that machine says what to do (${fault}). Another exit: \`mesh exit-node PEER\`.`,
  }
}

function reasonOf(status: VpnExitStatus, choice: ExitChoice | undefined) {
  const { wanted } = status
  switch (choice?.state) {
    case 'ambiguous':
      return {
        why: `${choice.peers.length} exit nodes are called ${quote(wanted)}`,
        hint: `Name one by its peer id: ${choice.peers.slice(0, 3).join(', ')}.`,
      }
    case 'notOffered':
      return {
        why: `${quote(wanted)} (${shortPeerId(choice.peer)}) is no exit node`,
        hint: 'Start it with --advertise-exit (with it, `mesh status` there says why it forwards nothing), or name another with --exit-node.',
      }
    case 'chosen':
      return {
        why: `The exit node ${nameOf(status)} is not reached`,
        hint: 'It is tried again all the time. Without --exit-node this machine uses its own way.',
      }
    case 'unknown':
    case undefined:
      return {
        why: `No exit node ${quote(wanted)} is there`,
        hint: 'Check that it runs with --advertise-exit and a connection. Without --exit-node this machine uses its own way.',
      }
  }
}

function nameOf({ hostname, peer, wanted }: VpnExitStatus): string {
  const id = peer === undefined ? wanted : shortPeerId(peer)
  return hostname === '' ? id : `${hostname} (${id})`
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 80))
}
