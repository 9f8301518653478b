/** Errors of the command line: their codes, and the exit code that each ends with. */
import { MeshError } from '@mesh/core'

/** The exit codes of a process of mesh. docs/exit-codes.md is generated from this. */
export const EXIT = {
  ok: {
    code: 0,
    meaning: 'Done; for `mesh`, `mesh api` and `mesh start`: stopped as asked (Ctrl-C, SIGTERM).',
  },
  failed: {
    code: 1,
    meaning:
      'It did not work: a port in use, a damaged or locked state, an error of the node or of the API; `mesh ping`: nobody answered; `mesh doctor`: a check failed; `mesh rules test`: it is refused; `mesh rules check`: a test of the policy fails.',
  },
  badInput: {
    code: 2,
    meaning:
      'The command line, environment or a file of settings is wrong, or names no network; an argument or a value has not the form that it needs.',
  },
  notFound: {
    code: 3,
    meaning:
      '`mesh ledger get`: there is no such entry; `mesh ping`: no such machine; `mesh service-remove`, `mesh guest remove`, `mesh admin cancel` and the like: nothing of that name; `mesh dns resolve`: nobody answers.',
  },
  refused: { code: 4, meaning: 'A write was refused: the key belongs to another live member.' },
  notRunning: {
    code: 5,
    meaning: 'No node answers at the control socket or at --api-url, or not in time.',
  },
  noInterface: {
    code: 6,
    meaning:
      '`mesh`: the network interface or its address cannot be had: no privileges, no /dev/net/tun, no addon for this platform, a name or an address in use, no address left to lease.',
  },
  incomplete: {
    code: 7,
    meaning:
      '`mesh file-receive`: the share stands, but some of its entries did not arrive, and are named; `mesh file-send --once`: the same of what was sent.',
  },
  interrupted: { code: 130, meaning: 'Ctrl-C a second time, or within a command that asks a node.' },
} as const

const EXIT_BY_CODE: Readonly<Record<string, number>> = {
  'node.bad_input': EXIT.badInput.code,
  'node.bad_log_level': EXIT.badInput.code,
  'node.bad_rules': EXIT.badInput.code,
  'node.bad_token_file': EXIT.badInput.code,
  'trust.bad_policy': EXIT.badInput.code,
  'node.network_twice': EXIT.badInput.code,
  'node.no_network': EXIT.badInput.code,
  'node.several_running': EXIT.badInput.code,
  'node.unreadable': EXIT.badInput.code,
  'network.bad_token': EXIT.badInput.code,
  'network.bad_config': EXIT.badInput.code,
  'api.bad_listen_address': EXIT.badInput.code,
  'p2p.bad_bootstrap_peer': EXIT.badInput.code,
  'p2p.bad_listen_address': EXIT.badInput.code,
  'node.not_running': EXIT.notRunning.code,
  'client.timeout': EXIT.notRunning.code,
  'client.unreachable': EXIT.notRunning.code,
  'client.bad_name': EXIT.badInput.code,
  'engine.address_in_use': EXIT.noInterface.code,
  'engine.bad_name': EXIT.badInput.code,
  'engine.name_in_use': EXIT.noInterface.code,
  'engine.no_addon': EXIT.noInterface.code,
  'engine.no_kernel_wireguard': EXIT.noInterface.code,
  'engine.no_permission': EXIT.noInterface.code,
  'engine.no_tun': EXIT.noInterface.code,
  'engine.system': EXIT.noInterface.code,
  'vpn.address_in_use': EXIT.noInterface.code,
  'vpn.address_taken': EXIT.noInterface.code,
  'vpn.ambiguous_machine': EXIT.badInput.code,
  'vpn.bad_address': EXIT.badInput.code,
  'vpn.bad_mtu': EXIT.badInput.code,
  'vpn.no_ipv6': EXIT.noInterface.code,
  'vpn.range_full': EXIT.noInterface.code,
  'vpn.too_many': EXIT.badInput.code,
  'vpn.bad_guest_name': EXIT.badInput.code,
  'vpn.unknown_guest': EXIT.notFound.code,
  'vpn.unknown_machine': EXIT.notFound.code,
  'peer.ambiguous': EXIT.badInput.code,
  'peer.bad_address': EXIT.badInput.code,
  'peer.unknown': EXIT.notFound.code,
  'services.unknown': EXIT.notFound.code,
  'services.bad_name': EXIT.badInput.code,
  'services.bad_address': EXIT.badInput.code,
  'dns.bad_question': EXIT.badInput.code,
  'dns.bad_record': EXIT.badInput.code,
  'http.bad_body': EXIT.badInput.code,
  'http.bad_path': EXIT.badInput.code,
  'http.bad_query': EXIT.badInput.code,
  'trust.bad_auth': EXIT.badInput.code,
  'trust.bad_invite': EXIT.badInput.code,
  'trust.bad_key': EXIT.badInput.code,
  'trust.needs_enforce': EXIT.badInput.code,
  'trust.unknown_invite': EXIT.notFound.code,
  'ledger.bad_value': EXIT.badInput.code,
  'ledger.too_large': EXIT.badInput.code,
  'ledger.not_found': EXIT.notFound.code,
  'ledger.not_owner': EXIT.refused.code,
  'ledger.written_by_node': EXIT.refused.code,
  'kernel.no_nftables': EXIT.noInterface.code,
}

export function exitCodeOf(error: unknown): number {
  return (error instanceof MeshError ? EXIT_BY_CODE[error.code] : undefined) ?? EXIT.failed.code
}
