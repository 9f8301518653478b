/**
 * Says what is wrong with this node, in words with what to do: `/api/health`, `mesh status` and the page show
 * it.
 */
import type { HealthProblem } from '@mesh/api-server'
import { shortPeerId } from '@mesh/core'
import type { Ledger, RejectionCode } from '@mesh/ledger'
import type { P2pNode } from '@mesh/p2p'
import type { ReplicationStatus } from '@mesh/replication'
import type { FileSharing, Services } from '@mesh/services'
import type { Vpn } from '@mesh/vpn'
import { shellWord } from '../words/shell-word.ts'
import type { OpenFiles } from '../machine/open-files.ts'

/** The state that problems are found in. */
export interface HealthView {
  readonly now: number
  /** The time that the node has run, in ms of monotonic time. */
  readonly upMs: number
  readonly ledger: Pick<Ledger, 'conflicts' | 'rejections' | 'storeFailure' | 'clockOffset'>
  /** The part that keeps the ledger's file safe. */
  readonly keeper?: { problems(): readonly HealthProblem[] }
  /** Undefined until the host listens. */
  readonly p2p: P2pNode | undefined
  /** The node's VPN; undefined without one. */
  readonly vpn: Pick<Vpn, 'problems'> | undefined
  /** Undefined until the host listens. */
  readonly services?: Pick<Services, 'problems'> | undefined
  readonly files?: Pick<FileSharing, 'problems'> | undefined
  readonly dns?: { problems(): readonly HealthProblem[] }
  /** Undefined where the system does not say. */
  readonly openFiles?: OpenFiles | undefined
  /** Undefined until replication runs. */
  readonly replication?: Pick<ReplicationStatus, 'identitySharedSince' | 'sharedIdentities'> | undefined
  /** The file of this node's identity; undefined where it keeps none. */
  readonly identityFile?: string | undefined
  /** False when files that this node keeps were removed, moved, replaced or cut short underneath. */
  readonly isStateInPlace?: boolean
  /** Who this node would wait for: without them it is alone by intention for a while. */
  readonly bootstrapPeers: number
}

/** A node alone this long is told why. */
const ALONE_AFTER_MS = 60_000
/** More are counted in `/metrics` only. */
const MAX_LISTED_CONFLICTS = 20

/** The problems, the worst first. */
export function findProblems(view: HealthView): readonly HealthProblem[] {
  const problems = [
    ...(view.vpn?.problems() ?? []),
    ...(view.services?.problems() ?? []),
    ...(view.files?.problems() ?? []),
    ...(view.dns?.problems() ?? []),
    ...storeProblems(view),
    ...stateProblems(view),
    ...identityProblems(view),
    ...openFileProblems(view),
    ...(view.keeper?.problems() ?? []),
    ...clockProblems(view),
    ...conflictProblems(view),
    ...rejectionProblems(view),
    ...unsignedProblems(view),
    ...networkProblems(view),
  ]
  return problems.sort((a, b) => Number(b.severity === 'error') - Number(a.severity === 'error'))
}

function storeProblems({ ledger }: HealthView): HealthProblem[] {
  const failure = ledger.storeFailure()
  if (failure === undefined) return []
  return [
    {
      code: 'ledger.not_stored',
      severity: 'error',
      title: `The ledger is not stored: ${failure.message}`,
      hint: failure.isDamaged
        ? 'Its file is damaged, and writes are refused. Check the disk and start the node again: it takes a sound copy. The file is looked at again every two minutes.'
        : 'Writes are refused until it is. Is the disk of the state folder full or read-only? It is tried again every two seconds.',
      since: failure.since,
    },
  ]
}

function stateProblems({ isStateInPlace = true }: HealthView): HealthProblem[] {
  if (isStateInPlace) return []
  return [
    {
      code: 'node.state_gone',
      severity: 'error',
      title:
        'The files of this node in its state folder were removed, moved, replaced or cut short while it runs',
      hint: 'It goes on with what it has in memory; what it is told from now on is lost when it ends, and without the file `identity` it comes back under another id. If the folder was moved, move it back; else stop the node, put what is missing back from a copy, and start it.',
    },
  ]
}

/** More members are counted only. */
const MAX_LISTED_IDENTITIES = 5

function identityProblems({ replication, identityFile = 'identity' }: HealthView): HealthProblem[] {
  const { identitySharedSince: since, sharedIdentities = [] } = replication ?? {}
  const command = `rm ${shellWord(identityFile)}`
  const own: HealthProblem[] = [
    {
      code: 'node.identity_shared',
      severity: 'error',
      title: 'Another process uses the identity of this node, as after a machine was cloned',
      hint: `Both lose packets and connections. On the machine that is the copy, stop its node, run \`${command}\` and start it again: it makes an identity of its own.`,
      ...(since !== undefined && { since }),
    },
  ]
  const listed = sharedIdentities.slice(0, MAX_LISTED_IDENTITIES).map(shortPeerId).join(', ')
  const others: HealthProblem[] = [
    {
      code: 'node.identity_shared_elsewhere',
      severity: 'warning',
      title: `Two machines use one identity, as after one was cloned: ${listed}`,
      hint: 'Both lose packets and connections. `mesh doctor` on one of the two prints the command that gives it an identity of its own.',
    },
  ]
  return [...(since === undefined ? [] : own), ...(sharedIdentities.length === 0 ? [] : others)]
}

/** The share of the files allowed beyond which the node says that few are left. */
const FEW_FILES_SHARE = 0.9

function openFileProblems({ openFiles }: HealthView): HealthProblem[] {
  if (openFiles === undefined || openFiles.open < openFiles.allowed * FEW_FILES_SHARE) return []
  const { open, allowed } = openFiles
  return [
    {
      code: 'node.few_files',
      severity: open >= allowed ? 'error' : 'warning',
      title: `This process has ${open} of ${allowed} files open, connections included`,
      hint: 'Without free ones nobody can connect: raise LimitNOFILE= in the unit of systemd, or ulimit -n, and restart the node; or `prlimit --pid PID --nofile=65536` while it runs. It goes on by itself when connections end.',
    },
  ]
}

/**
 * The difference of clocks beyond which members refuse what this node writes, or it refuses what they write.
 */
const CLOCK_DIFFERENCE_MS = 120_000
/** The age of a heartbeat from which on members take its owner for gone, as `livenessMs` of the ledger is. */
const TAKEN_FOR_GONE_MS = 480_000

function clockProblems({ ledger }: HealthView): HealthProblem[] {
  const offset = ledger.clockOffset()
  if (offset === undefined) return refusedFutures(ledger)
  const { aheadMs, members } = offset
  if (Math.abs(aheadMs) <= CLOCK_DIFFERENCE_MS) return differingClocks(offset)
  const isAhead = aheadMs > 0
  const others = members === 1 ? "the other member's" : `the median of ${members} members'`
  const refuses = isAhead
    ? 'Others refuse what this node writes as coming from the future, take it for gone and end what it announces.'
    : `This node refuses what others write as coming from the future${-aheadMs > TAKEN_FOR_GONE_MS ? ', and they take it for gone and end what it announces' : ''}.`
  return [
    {
      code: 'ledger.clock_wrong',
      severity: 'error',
      title: `This machine's clock is ${roundDuration(Math.abs(aheadMs))} ${isAhead ? 'ahead of' : 'behind'} ${others}`,
      hint: `${refuses} Set the clock, or let NTP set it; the node goes on by itself.`,
    },
  ]
}

type ClockOffset = NonNullable<ReturnType<Ledger['clockOffset']>>

/** More clocks are counted only. */
const MAX_LISTED_CLOCKS = 5

/** This clock is right: whose is not? */
function differingClocks({ differing, members }: ClockOffset): HealthProblem[] {
  if (differing.length === 0) return []
  const listed = differing.slice(0, MAX_LISTED_CLOCKS).map(({ member, aheadMs }) => {
    const way = aheadMs > 0 ? 'ahead' : 'behind'
    return `${shortPeerId(member)} is ${roundDuration(Math.abs(aheadMs))} ${way}`
  })
  const more = differing.length - listed.length
  return [
    {
      code: 'ledger.clocks_differ',
      severity: 'warning',
      title: `The clocks of ${differing.length} of ${members} members differ from this machine's: ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
      hint: 'What is dated ahead is refused, and who is behind refuses what others write: set their clocks, or let NTP set them.',
    },
  ]
}

/** Says what was refused: nothing else is known of a member that is not heard at all. */
function refusedFutures(ledger: HealthView['ledger']): HealthProblem[] {
  const count = ledger.rejections().FUTURE ?? 0
  if (count === 0) return []
  return [
    {
      code: 'ledger.clocks_differ',
      severity: 'warning',
      title: `Entries from the future were refused (${count} times)`,
      hint: "A member's clock, or this machine's, is more than two minutes off; let NTP set it.",
    },
  ]
}

function roundDuration(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 120) return `${minutes} minutes`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`
}

function conflictProblems({ ledger }: HealthView): HealthProblem[] {
  return ledger
    .conflicts()
    .slice(0, MAX_LISTED_CONFLICTS)
    .map(({ bucket, key, owners, since }) => ({
      code: 'ledger.conflict',
      severity: 'warning',
      title: `${bucket}/${key} has two live owners: ${owners.map(shortPeerId).join(' and ')}`,
      hint: 'Delete the key on one of the two; until then each side of the network keeps its own.',
      since,
    }))
}

const REJECTION_PROBLEMS: Partial<Record<RejectionCode, Omit<HealthProblem, 'severity'>>> = {
  QUOTA: {
    code: 'ledger.over_quota',
    title: 'The ledger is full, or one member wrote more than its share',
    hint: 'Delete what is not needed, or raise --ledger-max-entries and --ledger-max-bytes on every node.',
  },
  BAD_SIG: {
    code: 'ledger.forged',
    title: 'Entries with a wrong signature were refused',
    hint: 'A member forges entries or is broken; the refusals among the changes of this node name who sends them.',
  },
}

function rejectionProblems({ ledger }: HealthView): HealthProblem[] {
  const counts = ledger.rejections()
  return Object.entries(REJECTION_PROBLEMS).flatMap(([code, problem]) => {
    const count = counts[code as RejectionCode] ?? 0
    return count === 0
      ? []
      : [{ ...problem, severity: 'warning' as const, title: `${problem.title} (${count} times)` }]
  })
}

/** Members that run with ownership off: what they write is no attack, and what this node writes does not reach them. */
function unsignedProblems({ ledger, p2p }: HealthView): HealthProblem[] {
  if (!hasUnsigned(ledger)) return []
  const isMixed = p2p?.peers().some(isConnectedMember) === true
  return [
    {
      code: 'ledger.unsigned',
      severity: 'warning',
      title: `${isMixed ? 'Some' : 'The'} members of this network do not sign entries`,
      hint: isMixed
        ? 'This node refuses their entries. Start these members without `--ownership off`, or move them to EdgeVPN 0.35 with enforcement.'
        : 'Start this node with `--ownership off` to take part, or move them to EdgeVPN 0.35 with enforcement. Until then they do not see what this node writes.',
    },
  ]
}

function hasUnsigned(ledger: HealthView['ledger']): boolean {
  return (ledger.rejections().UNSIGNED ?? 0) > 0
}

function isConnectedMember({ connected, member }: ReturnType<P2pNode['peers']>[number]): boolean {
  return connected && member
}

function networkProblems({ p2p, now, upMs, bootstrapPeers, ledger }: HealthView): HealthProblem[] {
  if (p2p === undefined) return []
  const problems: HealthProblem[] = []
  if (p2p.addresses().length === 0) {
    problems.push({
      code: 'p2p.no_address',
      severity: 'warning',
      title: 'This node has no address that others could dial',
      hint: 'Check --listen-maddrs and that an interface is up; it can still dial others.',
    })
  }
  const isAlone = !p2p.peers().some(isConnectedMember) && !hasUnsigned(ledger)
  if (!isAlone || upMs < ALONE_AFTER_MS) return problems
  const tried = p2p.discovery().filter(({ enabled }) => enabled)
  const looking = tried.flatMap(({ method, found }) => (found === undefined ? [] : [method]))
  const errors = tried.flatMap(({ method, lastError }) =>
    lastError === undefined ? [] : [`${method}: ${lastError}`],
  )
  const dialled = p2p
    .peers()
    .flatMap(({ id, lastError }) => (lastError === undefined ? [] : [`${shortPeerId(id)}: ${lastError}`]))
  const reasons = [...errors, ...dialled].slice(0, 5).join('; ')
  problems.push({
    code: 'p2p.alone',
    severity: 'warning',
    title: 'No other member was found yet',
    hint: [
      `Looking by ${looking.join(', ') || 'nothing'}.`,
      ...(reasons === '' ? [] : [`${reasons}.`]),
      bootstrapPeers === 0
        ? 'Start another node with the same token; across networks give it --discovery-bootstrap-peers.'
        : 'Check that the bootstrap peers run, with the same token.',
    ].join(' '),
    since: now - upMs,
  })
  return problems
}
