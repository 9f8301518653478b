/** Where a problem of the node is solved: the one thing to do about it on this page. */

export interface ProblemAction {
  readonly to:
    | '/access'
    | '/diagnostics'
    | '/exit'
    | '/guests'
    | '/ledger'
    | '/names'
    | '/services'
    | '/files'
  readonly search?: { readonly view: 'refused' }
  readonly word: string
}

const DIAGNOSTICS: ProblemAction = { to: '/diagnostics', word: 'Look at the diagnostics' }
const EXIT: ProblemAction = { to: '/exit', word: 'Look at the exit node' }
const REFUSED: ProblemAction = { to: '/ledger', search: { view: 'refused' }, word: 'See what was refused' }

/** The places by the beginning of the code; the first that fits counts. */
const ACTIONS: readonly (readonly [prefix: string, action: ProblemAction])[] = [
  ['services.', { to: '/services', word: 'Look at the services' }],
  ['files.', { to: '/files', word: 'Look at the files' }],
  ['dns.', { to: '/names', word: 'Look at the names' }],
  ['trust.', { to: '/access', word: 'Look at the access' }],
  ['exit.', EXIT],
  ['vpn.exit_', EXIT],
  ['vpn.guest_', { to: '/guests', word: 'Look at the guests' }],
  ['ledger.conflict', { to: '/ledger', word: 'Open the ledger' }],
  ['ledger.forged', REFUSED],
  ['ledger.over_quota', REFUSED],
  ['ledger.unsigned', REFUSED],
]

/** @param code as `/api/health` has it */
export function problemAction(code: string): ProblemAction {
  return ACTIONS.find(([prefix]) => code.startsWith(prefix))?.[1] ?? DIAGNOSTICS
}
