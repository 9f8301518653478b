/**
 * The node's own access rules (`--rules FILE`). The file is looked at every second, so that a change counts without a restart.
 * A file that cannot be read, or has faults, changes nothing: the rules that were read before stay in force.
 */
import { statSync } from 'node:fs'
import type { HealthProblem } from '@mesh/api-server'
import { type Clock, type Logger, MeshError, shortPeerId, toError } from '@mesh/core'
import { readPolicy } from '@mesh/trust/policy-text'
import { type Policy, resolvePolicy, runPolicyTests } from '@mesh/trust/rules'
import { readNamedFile } from '../files/read-named-file.ts'

/** How often the file is looked at, in ms. */
const LOOK_MS = 1_000
/** Bytes of the longest file. */
const MAX_FILE_BYTES = 65_536

interface OwnRulesComponents {
  readonly clock: Clock
  readonly log: Logger
}

/** Reads the file once. @throws MeshError `node.bad_rules` where it cannot be read or has faults */
export function openOwnRules(file: string, components: OwnRulesComponents): OwnRules {
  return new OwnRules(file, components)
}

export class OwnRules {
  readonly file: string
  readonly #components: OwnRulesComponents
  #policy: Policy
  #seen: string
  #fault: { readonly error: Error; readonly since: number } | undefined
  #onChange: (policy: Policy) => void = () => {}
  #cancel = () => {}

  constructor(file: string, components: OwnRulesComponents) {
    this.file = file
    this.#components = components
    this.#seen = stampOf(file)
    this.#policy = readRules(file)
  }

  get policy(): Policy {
    return this.#policy
  }

  /** Calls the listener with each policy that comes in the place of the one before. */
  watch(onChange: (policy: Policy) => void): void {
    this.#onChange = onChange
    this.#lookLater()
  }

  problems(): readonly HealthProblem[] {
    if (this.#fault === undefined) return []
    const { error, since } = this.#fault
    return [
      {
        code: 'rules.not_read',
        severity: 'error',
        title: `The file of --rules cannot be used: ${error.message}`,
        hint: `The rules that were read before stay in force. See what is wrong: mesh rules check ${this.file}`,
        since,
      },
    ]
  }

  stop(): void {
    this.#cancel()
  }

  #lookLater(): void {
    this.#cancel = this.#components.clock.after(LOOK_MS, () => {
      this.#look()
      this.#lookLater()
    })
  }

  #look(): void {
    const stamp = stampOf(this.file)
    if (stamp === this.#seen) return
    this.#seen = stamp
    const { clock, log } = this.#components
    try {
      this.#policy = readRules(this.file)
      this.#fault = undefined
      log.info('own rules read', { file: this.file, rules: this.#policy.allow.length })
      this.#onChange(this.#policy)
    } catch (error) {
      this.#fault = { error: toError(error), since: clock.now() }
      log.warn('own rules not read', { file: this.file, reason: toError(error).message })
    }
  }
}

/** Changes when the file does; '' for one that is not there. */
function stampOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true })
  return stat === undefined ? '' : `${stat.mtimeNs} ${stat.size} ${stat.ino}`
}

/** @throws MeshError `node.bad_rules` */
function readRules(file: string): Policy {
  try {
    const { text } = readNamedFile(file, MAX_FILE_BYTES)
    // names prove nothing: anyone could take one later
    const { policy } = resolvePolicy(readPolicy(text), [])
    const failed = runPolicyTests(policy, shortPeerId).find(({ passed }) => !passed)
    if (failed !== undefined) throw new Error(`a test fails: ${failed.sentence}`)
    return policy
  } catch (error) {
    const issues = error instanceof MeshError ? error.issues : []
    const [first] = issues
    const what =
      first === undefined
        ? toError(error).message
        : `${first.field}: ${first.value ?? ''} (expected: ${first.expected})`
    throw new MeshError('node.bad_rules', `--rules ${file}: ${what}`, {
      issues,
      cause: error,
      hint: 'Members stand by their peer ids here: `mesh rules check FILE --ids` prints a file with ids in the place of names.',
    })
  }
}
