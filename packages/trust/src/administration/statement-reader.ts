/** Reads the statements of the bucket `admission`, each entry once, and says whose signature each one needs. */
import type { BucketPolicy, Entry, EntryGroup, KeyedEntry, Verify } from '@mesh/ledger'
import { MAX_CLAIMS_PER_INVITE } from '../limits.ts'
import type { CheckPolicy } from './policy-statement.ts'
import { ownerOf, readStatement, type Statement } from './statements.ts'

interface StatementReaderInit {
  /** The network's id, 20 hexadecimal digits. */
  readonly network: string
  /** The public keys of the administrators, in the form of peer ids. */
  readonly administrators: readonly string[]
  /** Checks the signatures of invites; in plain JavaScript by default. */
  readonly verify?: Verify | undefined
  /** Undefined: policies stay unread. */
  readonly checkPolicy: CheckPolicy | undefined
}

/** A statement, and the entry that holds it. */
export interface ReadStatement {
  readonly statement: Statement
  readonly entry: Entry
}

export class StatementReader {
  readonly #init: StatementReaderInit
  readonly #administrators: ReadonlySet<string>
  readonly #read = new WeakMap<Entry, Statement | null>()

  /** The rule of the bucket `admission`: each statement belongs to whose signature it needs, for good. */
  readonly policy: BucketPolicy = {
    expiry: 'never',
    ownerOf: (key, valueText) => this.#requiredOwner(this.#statementIn(key, valueText)),
    isValid: ({ key, entry }) => entry.owner === ownerByKey(key),
    groupOf: (key) => this.#claimsOf(key),
  }

  constructor(init: StatementReaderInit) {
    this.#init = init
    this.#administrators = new Set(init.administrators)
  }

  /** Yields the statements that these entries hold; others are left out. */
  *readAll(entries: Iterable<KeyedEntry>): Iterable<ReadStatement> {
    for (const keyed of entries) {
      const { entry } = keyed
      if (entry.deleted) continue
      let statement = this.#read.get(entry)
      if (statement === undefined) {
        statement = this.#readEntry(keyed) ?? null
        this.#read.set(entry, statement)
      }
      if (statement !== null) yield { statement, entry }
    }
  }

  /** Checks again what the ledger has checked: it may hold entries from before this network had administrators. */
  #readEntry({ key, entry }: KeyedEntry): Statement | undefined {
    const statement = this.#statementIn(key, entry.value)
    if (statement === undefined || entry.owner !== ownerOf(statement)) return undefined
    if (statement.kind === 'rules' && BigInt(statement.serial) !== entry.version) return undefined
    return statement.kind === 'claim' || this.#administrators.has(statement.admin) ? statement : undefined
  }

  #statementIn(key: string, valueText: string): Statement | undefined {
    const { network, verify, checkPolicy } = this.#init
    return readStatement({ network, verify, checkPolicy }, key, valueText)
  }

  /** Whom an entry must belong to that says this; '' for one that is not taken. */
  #requiredOwner(statement: Statement | undefined): string {
    if (statement === undefined) return ''
    if (statement.kind !== 'claim') return this.#administrators.has(statement.admin) ? statement.admin : ''
    return statement.peer
  }

  /** The claims of one invite, which are held whatever has become of it, so that all nodes hold the same. */
  #claimsOf(key: string): EntryGroup | undefined {
    const [first, invite = ''] = key.split('/')
    if (first !== 'claim') return undefined
    const needs = this.#init.administrators.map((admin) => `${admin}/invite/${invite}`)
    return { prefix: `claim/${invite}/`, most: MAX_CLAIMS_PER_INVITE, needs }
  }
}

/** Whose an entry of the bucket can only be: the administrator or the claimant that its key names. */
function ownerByKey(key: string): string {
  const [first = '', , third = ''] = key.split('/')
  return first === 'claim' ? third : first
}
