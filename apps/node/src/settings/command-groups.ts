/** Which commands an option belongs to, by the names that follow `mesh`. */

/** Ask a running node. */
export const CLIENT = [
  'status',
  'ping',
  'dns resolve',
  'ledger get',
  'ledger put',
  'ledger delete',
  'ledger list',
  'ledger watch',
]
/** Run a node, `mesh` alone first; `config` shows what they would run with. */
export const NODE = ['', 'api', 'start', 'dns', 'config']
export const ALL = [...NODE, ...CLIENT]
