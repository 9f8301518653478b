/**
 * The statement with the network's policy of access rules (docs/PROTOCOLS.md, 'Administrators'). Its serial number is also the
 * version of its entry, so that the ledger refuses an administrator's older policies. Of several administrators' policies
 * the one with the greatest serial number counts, then the one of the greatest peer id.
 */
import type { PeerId } from '@mesh/core'
import { trustError } from '../errors.ts'
import { MAX_ENCODED_POLICY_BYTES, MAX_POLICY_BYTES } from '../limits.ts'
import type { Policy } from '../rules/policy-schema.ts'
import type { SignedPolicy } from '../rules/signed-policy.ts'

export interface PolicyStatement extends SignedPolicy {
  readonly kind: 'rules'
}

/** @throws MeshError `trust.policy_too_large` */
export function writePolicy(
  network: string,
  signed: SignedPolicy,
): { readonly key: string; readonly valueText: string; readonly version: bigint } {
  const { admin, serial, signedAt, policy, names } = signed
  const SignedAt = new Date(signedAt).toISOString()
  const valueText = JSON.stringify({
    Network: network,
    Serial: serial,
    SignedAt,
    Policy: policy,
    Names: names,
  })
  const bytes = byteLength(valueText)
  const encoded = byteLength(JSON.stringify(valueText))
  if (bytes > MAX_POLICY_BYTES || encoded > MAX_ENCODED_POLICY_BYTES) {
    throw trustError(
      'trust.policy_too_large',
      `the signed policy has ${bytes} bytes, and at most ${MAX_POLICY_BYTES} fit`,
      {
        hint: 'A peer id has 52 characters. Name each machine once, in a tag or group, and use that in rules.',
      },
    )
  }
  return { key: `${admin}/rules`, valueText, version: BigInt(serial) }
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).byteLength
}

/** Checks the form of a policy: `checkPolicy` of `@mesh/trust/rules`. @throws MeshError `trust.bad_policy` */
export type CheckPolicy = (value: unknown) => Policy

/** A policy that a program keeps and passes on, which has no use for it. */
export interface UnreadPolicy {
  readonly kind: 'unread'
  readonly admin: PeerId
}

/**
 * Undefined for what is no policy.
 *
 * @param checkPolicy undefined: the policy stays unread
 */
export function readPolicyStatement(
  admin: PeerId,
  value: Readonly<Record<string, unknown>>,
  checkPolicy: CheckPolicy | undefined,
): PolicyStatement | UnreadPolicy | undefined {
  const { Serial, SignedAt, Policy, Names } = value
  if (typeof Serial !== 'number' || !Number.isSafeInteger(Serial) || Serial < 1) return undefined
  if (checkPolicy === undefined) return { kind: 'unread', admin }
  const at = typeof SignedAt === 'string' ? Date.parse(SignedAt) : Number.NaN
  try {
    const policy = checkPolicy(Policy)
    const signedAt = Number.isNaN(at) ? 0 : at
    return { kind: 'rules', admin, serial: Serial, signedAt, policy, names: readNames(Names) }
  } catch {
    return undefined
  }
}

/** The policy that counts: `known` unless a newer one is among the statements. */
export function newestPolicy(
  known: PolicyStatement | undefined,
  statements: Iterable<{ readonly kind: string } | PolicyStatement>,
): PolicyStatement | undefined {
  let newest = known
  for (const statement of statements) {
    if (isPolicy(statement) && (newest === undefined || isNewer(statement, newest))) newest = statement
  }
  return newest
}

function isPolicy(statement: { readonly kind: string } | PolicyStatement): statement is PolicyStatement {
  return statement.kind === 'rules'
}

/** The same administrator's other policy with this serial number is the one that the ledger chose. */
function isNewer(policy: PolicyStatement, than: PolicyStatement): boolean {
  return policy.serial > than.serial || (policy.serial === than.serial && policy.admin >= than.admin)
}

function readNames(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([peer, name]) => (typeof name === 'string' ? [[peer, name]] : [])),
  )
}
