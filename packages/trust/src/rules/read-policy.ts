/** Reads the text of a policy. YAML is a superset of JSON, so one parser reads both. */
import { MeshError, printable } from '@mesh/core'
import { type Document, isScalar, LineCounter, parseDocument, visit } from 'yaml'
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
    const lineCounter = new LineCounter()
    // its own words for each of many errors, and its search for names given twice, take seconds
    const given = { prettyErrors: false, uniqueKeys: false, lineCounter }
    const options = { stringKeys: true, logLevel: 'silent', ...given } as const
    const document = parseDocument(text, options)
    const [error] = document.errors
    if (error === undefined) {
      refuseTwice(document)
      return document.toJS({ maxAliasCount: 0 })
    }
    const at = lineCounter.linePos(error.pos[0])
    const line = at.line === 0 ? '' : ` in line ${at.line}, column ${at.col}`
    throw notYaml(`${error.code.toLowerCase().replaceAll('_', ' ')}${line}`, error)
  } catch (error) {
    if (error instanceof MeshError) throw error
    throw notYaml('it nests too deep, or uses aliases', error)
  }
}

/** @throws MeshError `trust.bad_policy` for a name that stands twice in one map */
function refuseTwice(document: Document.Parsed): void {
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<string>()
      for (const { key } of items) {
        const name = isScalar(key) ? String(key.value) : ''
        if (seen.has(name)) throw notYaml(`${printable(name).slice(0, 64)} stands twice in one place`)
        seen.add(name)
      }
    },
  })
}

function notYaml(reason: string, cause?: unknown) {
  return trustError('trust.bad_policy', `the policy is neither YAML nor JSON: ${reason}`, {
    hint: 'Lists stand in [ ], and a word with * or : at its beginning in quotes: from: ["*"].',
    cause,
  })
}
