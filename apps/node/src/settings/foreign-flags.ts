/** Flags of older nodes that would do nothing here, and what holds instead: an answer beats 'unknown option'. */
const LATER = 'comes with the VPN interface, which this version does not have yet'
const NO_LIMITS = 'not needed: streams, connections and memory are always bounded here'
const INTERFACE_FLAGS = [
  'mtu',
  'packet-mtu',
  'bootstrap-iface',
  'channel-buffer-size',
  'concurrency',
  'dhcp',
  'lease-dir',
  'dns',
  'dns-forwarder',
  'dns-cache-size',
  'dns-forward-server',
  'egress',
  'egress-announce-time',
  'router',
  'interface',
  'transient-conn',
  'static-peertable',
]
const LIMIT_FLAGS = [
  'limit-enable',
  'limit-file',
  'limit-scope',
  'limit-config-streams',
  'limit-config-streams-inbound',
  'limit-config-streams-outbound',
  'limit-config-conn',
  'limit-config-conn-inbound',
  'limit-config-conn-outbound',
  'limit-config-fd',
]

const explanations: ReadonlyMap<string, string> = new Map([
  ...INTERFACE_FLAGS.map((flag) => [flag, LATER] as const),
  ...LIMIT_FLAGS.map((flag) => [flag, NO_LIMITS] as const),
  ['api', 'use the command `mesh api`'],
  ['api-listen', 'use --listen'],
  ['enable-healthchecks', 'not needed: every node sends heartbeats'],
  ['privkey-cache', 'not needed: the identity is kept unless --ephemeral is given'],
  ['privkey-cache-dir', 'use --state-dir'],
  ['ledger-announce-interval', 'not needed: writes are announced at once'],
  ['ledger-synchronization-interval', 'not needed: what differs is exchanged at once'],
  ['libp2p-log-level', 'use --log-level, as in info,p2p=debug'],
  ['autorelay-static-peer', 'use --discovery-bootstrap-peers: members that relay are found by themselves'],
  ['autorelay-static-only', 'not needed: only members relay here'],
  ['relay-service-network-only', 'not needed: relays serve members only'],
  ['low-profile', 'not needed: the search table is small anyway'],
  ['g', 'use -g'],
  ['b', 'use -b'],
])

export function explainForeignFlag(flag: string): string | undefined {
  return explanations.get(flag)
}
