/** Which commands an option belongs to, by the names that follow `mesh`. */

/** Ask a running node. */
export const CLIENT = [
  'status',
  'ping',
  'ledger get',
  'ledger put',
  'ledger delete',
  'ledger list',
  'ledger watch',
]
/** Run a node for one purpose. */
export const SERVICE = ['service-add', 'service-connect', 'proxy']
/** Run a node, `mesh` alone first; `config` shows what they would run with. */
export const NODE = ['', 'api', 'start', 'config', ...SERVICE]
export const ALL = [...NODE, ...CLIENT]
