/** Reads the text of a policy. YAML is a superset of JSON, so one parser reads both. */
import { MeshError } from '@mesh/core'
import { parseDocument } from 'yaml'
import { trustError } from '../errors.ts'
import { MAX_POLICY_BYTES } from '../limits.ts'
import { checkPolicy } from './check-policy.ts'
import type { Policy } from './policy-schema.ts'

/** @throws MeshError `trust.bad_policy`, whose issues name each field, its value and the expected form */
export function readPolicy(text: string): Policy {
  if (new TextEncoder().encode(text).byteLength > MAX_POLICY_BYTES) {
    throw trustError('trust.bad_policy', `the policy is longer than ${MAX_POLICY_BYTES} bytes`, {
      hint: 'Put machines into tags and groups, so that fewer rules name them.',
    })
  }
  return checkPolicy(parseText(text))
}

function parseText(text: string): unknown {
  try {
    const document = parseDocument(text, { stringKeys: true, logLevel: 'silent' })
    const [error] = document.errors
    if (error === undefined) return document.toJS({ maxAliasCount: 0 })
    const [at] = error.linePos ?? []
    const line = at === undefined ? '' : ` in line ${at.line}, column ${at.col}`
    throw notYaml(`${error.code.toLowerCase().replaceAll('_', ' ')}${line}`, error)
  } catch (error) {
    if (error instanceof MeshError) throw error
    throw notYaml('it nests too deep, or uses aliases', error)
  }
}

function notYaml(reason: string, cause: unknown) {
  return trustError('trust.bad_policy', `the policy is neither YAML nor JSON: ${reason}`, {
    hint: 'Lists stand in [ ], and a word with * or : at its beginning in quotes: from: ["*"].',
    cause,
  })
}
