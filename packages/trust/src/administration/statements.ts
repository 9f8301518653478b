/**
 * Reads what stands in the bucket `admission` (docs/PROTOCOLS.md, 'Administrators'): statements that an
 * administrator's key signed, and claims that who was invited signed. A statement is an entry of the ledger
 * whose owner is the administrator's key, so that form, signature and version are the ledger's; here are
 * names and values.
 */
import { type PeerId, tryParsePeerId } from '@mesh/core'
import { type Verify, verifySignature } from '@mesh/ledger'
import { MAX_CLAIM_LENGTH, MAX_LABEL_LENGTH, MAX_MEMBER_LIFE_MS } from '../limits.ts'
import { formatKept, type KeptEntries, parseKept } from './kept-entries.ts'
import { toBase64url, tryFromBase64url } from './encodings.ts'
import {
  type CheckPolicy,
  type PolicyStatement,
  readPolicyStatement,
  type UnreadPolicy,
} from './policy-statement.ts'

/** The states of a peer: it may use the network, or may not any more. */
export type MemberState = 'admitted' | 'revoked'

export interface MemberStatement {
  readonly kind: 'member'
  readonly admin: PeerId
  readonly peer: PeerId
  readonly state: MemberState
  /** The invite that let the peer in. */
  readonly use: InviteUse | undefined
  /** The entries of a peer that was shut out which stay; undefined where the statement does not name them. */
  readonly kept?: KeptEntries | undefined
  /** When the membership ends, in Unix ms; undefined: it does not. Only of statements that admit. */
  readonly until?: number | undefined
}

/** An administrator's node gave an invite to the peer that claimed it. */
export interface InviteUse {
  readonly invite: PeerId
  /** The time, in Unix ms, which later statements on the peer keep: of several uses of one invite the first one counts. */
  readonly at: number
}

export interface InviteStatement {
  readonly kind: 'invite'
  readonly admin: PeerId
  /** The public key of the invite, in the form of a peer id. */
  readonly invite: PeerId
  /** The time, in unix ms. */
  readonly expiresAt: number
  readonly state: 'open' | 'cancelled'
  readonly label: string
  /** How long the peer that uses it is a member, in ms; undefined: for good. */
  readonly memberForMs?: number | undefined
}

export interface ClaimStatement {
  readonly kind: 'claim'
  readonly invite: PeerId
  readonly peer: PeerId
}

/** Invites need an administrator's approval: a claim alone does not let a peer in. */
export interface ApprovalStatement {
  readonly kind: 'approval'
  readonly admin: PeerId
  readonly isRequired: boolean
}

export type Statement =
  | MemberStatement
  | InviteStatement
  | ClaimStatement
  | ApprovalStatement
  | PolicyStatement
  | UnreadPolicy

/** The key and the value of an entry, to be signed by whoever it belongs to. */
export interface Writing {
  readonly key: string
  readonly valueText: string
  /** The version of the entry; default: the time. */
  readonly version?: bigint
}

export function writeMember(network: string, statement: Omit<MemberStatement, 'kind'>): Writing {
  const { admin, peer, state, use, kept, until } = statement
  const value = {
    Network: network,
    Peer: peer,
    State: state,
    ...(use !== undefined && { Invite: use.invite, UsedAt: new Date(use.at).toISOString() }),
    ...(kept !== undefined && { Kept: formatKept(kept) }),
    ...(until !== undefined && { Until: new Date(until).toISOString() }),
  }
  return { key: `${admin}/member/${peer}`, valueText: JSON.stringify(value) }
}

export function writeInvite(network: string, statement: Omit<InviteStatement, 'kind'>): Writing {
  const { admin, invite, expiresAt, state, label, memberForMs } = statement
  const value = {
    Network: network,
    Invite: invite,
    ExpiresAt: new Date(expiresAt).toISOString(),
    State: state,
    Label: label,
    ...(memberForMs !== undefined && { MemberForMs: memberForMs }),
  }
  return { key: `${admin}/invite/${invite}`, valueText: JSON.stringify(value) }
}

export function writeApproval(
  network: string,
  { admin, isRequired }: Omit<ApprovalStatement, 'kind'>,
): Writing {
  const value = { Network: network, Administrator: admin, Required: isRequired }
  return { key: `${admin}/approval/${admin}`, valueText: JSON.stringify(value) }
}

/** @param sig the invite's signature over `claimBytes` */
export function writeClaim(
  network: string,
  { invite, peer, sig }: Omit<ClaimStatement, 'kind'> & { readonly sig: Uint8Array },
): Writing {
  const Sig = toBase64url(sig)
  return {
    key: `claim/${invite}/${peer}`,
    valueText: JSON.stringify({ Network: network, Invite: invite, Peer: peer, Sig }),
  }
}

/** Builds what an invite's key signs: that this peer uses it, in this network. */
export function claimBytes(network: string, { invite, peer }: Omit<ClaimStatement, 'kind'>): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(['mesh invite 1', network, invite, peer]))
}

interface StatementReading {
  /** The id of the network. */
  readonly network: string
  /** Checks the signatures of invites; in plain JavaScript by default. */
  readonly verify?: Verify | undefined
  /** Undefined: policies stay unread. */
  readonly checkPolicy?: CheckPolicy | undefined
}

/**
 * Reads an entry's key and value; undefined for what is no statement of this network. Who signed the entry is the
 * ledger's to check: it must be `ownerOf` the statement.
 */
export function readStatement(
  reading: StatementReading,
  key: string,
  valueText: string,
): Statement | undefined {
  const { network } = reading
  const [first = '', second = '', third = '', ...more] = key.split('/')
  if (more.length > 0 || (first === 'claim' && valueText.length > MAX_CLAIM_LENGTH)) return undefined
  const value = readObject(valueText)
  if (value === undefined || value['Network'] !== network) return undefined
  if (first === 'claim') return readClaim(reading, { invite: second, peer: third, value })
  const admin = tryParsePeerId(first)
  if (admin !== undefined && second === 'rules' && third === '')
    return readPolicyStatement(admin, value, reading.checkPolicy)
  const subject = tryParsePeerId(third)
  if (admin === undefined || subject === undefined) return undefined
  if (second === 'member') return readMember(admin, subject, value)
  if (second === 'approval') return readApproval(admin, subject, value)
  return second === 'invite' ? readInvite(admin, subject, value) : undefined
}

/** Whose signature an entry with this statement needs. */
export function ownerOf(statement: Statement): PeerId {
  return statement.kind === 'claim' ? statement.peer : statement.admin
}

type Fields = Readonly<Record<string, unknown>>

function readMember(admin: PeerId, peer: PeerId, value: Fields): MemberStatement | undefined {
  const { Peer, State, Invite, UsedAt, Kept, Until } = value
  if (Peer !== peer || (State !== 'admitted' && State !== 'revoked')) return undefined
  const until = Until === undefined || State === 'revoked' ? undefined : readTime(Until)
  // an end that cannot be read admits nobody
  if (Number.isNaN(until)) return undefined
  const member = { kind: 'member', admin, peer, state: State, kept: parseKept(Kept), until } as const
  if (Invite === undefined) return { ...member, use: undefined }
  const invite = typeof Invite === 'string' ? tryParsePeerId(Invite) : undefined
  if (invite === undefined) return undefined
  const at = readTime(UsedAt)
  return { ...member, use: { invite, at: Number.isNaN(at) ? 0 : at } }
}

function readInvite(admin: PeerId, invite: PeerId, value: Fields): InviteStatement | undefined {
  const { Invite, ExpiresAt, State, Label, MemberForMs } = value
  const expiresAt = readTime(ExpiresAt)
  if (Invite !== invite || Number.isNaN(expiresAt) || (State !== 'open' && State !== 'cancelled'))
    return undefined
  const label = typeof Label === 'string' ? Label.slice(0, MAX_LABEL_LENGTH) : ''
  if (MemberForMs === undefined) return { kind: 'invite', admin, invite, expiresAt, state: State, label }
  if (typeof MemberForMs !== 'number' || !(MemberForMs > 0 && MemberForMs <= MAX_MEMBER_LIFE_MS))
    return undefined
  return { kind: 'invite', admin, invite, expiresAt, state: State, label, memberForMs: MemberForMs }
}

function readApproval(admin: PeerId, subject: PeerId, value: Fields): ApprovalStatement | undefined {
  const { Administrator, Required } = value
  if (subject !== admin || Administrator !== admin || typeof Required !== 'boolean') return undefined
  return { kind: 'approval', admin, isRequired: Required }
}

/** Reads RFC 3339 as Unix ms; NaN for what is no time. */
function readTime(value: unknown): number {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN
}

function readClaim(
  { network, verify = verifySignature }: StatementReading,
  read: { readonly invite: string; readonly peer: string; readonly value: Fields },
): ClaimStatement | undefined {
  const { Invite, Peer, Sig } = read.value
  const [invite, peer] = [tryParsePeerId(read.invite), tryParsePeerId(read.peer)]
  if (invite === undefined || peer === undefined) return undefined
  if (Invite !== invite || Peer !== peer || typeof Sig !== 'string' || Sig.length > 128) return undefined
  const sig = tryFromBase64url(Sig)
  if (sig === undefined || !verify(invite, claimBytes(network, { invite, peer }), sig)) return undefined
  return { kind: 'claim', invite, peer }
}

function readObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Fields) : undefined
  } catch {
    return undefined
  }
}
