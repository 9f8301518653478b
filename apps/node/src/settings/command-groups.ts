/** Which commands an option belongs to, by the names that follow `mesh`. */

/** Ask the running node that holds an administrator's key. */
const ADMIN = [
  'admin invite',
  'admin cancel',
  'admin admit',
  'admin approve',
  'admin approval',
  'admin revoke',
  'admin list',
]
/** Ask a running node about access rules. */
const RULES = ['rules show', 'rules check', 'rules set', 'rules edit', 'rules test', 'rules who']
/** Ask a running node. */
export const CLIENT = [
  'status',
  'doctor',
  'peers',
  'machines',
  'log-level',
  'ping',
  'dns resolve',
  'ledger get',
  'ledger put',
  'ledger delete',
  'ledger list',
  'ledger watch',
  'lease',
  'services',
  'service-remove',
  'service-disconnect',
  'file-remove',
  'guest add',
  'guest list',
  'guest remove',
  'exit-node',
  ...ADMIN,
  ...RULES,
]
/** Run a node for one purpose. */
export const SERVICE = ['service-add', 'service-connect', 'file-send', 'file-receive', 'proxy']
/** Run a node, `mesh` alone first; `config` shows what they would run with. */
export const NODE = ['', 'api', 'start', 'dns', 'config', ...SERVICE]
export const ALL = [...NODE, ...CLIENT]
/** Read which network is named, and run or ask no node. */
export const TOKEN = ['token show', 'admin init']
/** Change the file of the API's tokens, and run or ask no node. */
export const API_TOKEN = ['api-token create', 'api-token list', 'api-token revoke']
