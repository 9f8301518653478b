/** Flags of EdgeVPN that would do nothing here, and what holds instead: an answer beats 'unknown option'. */
const NO_LIMITS = 'not needed: streams, connections and memory are always bounded here'
const QUEUES = 'not needed: the engine has its own threads, and queues of 256 KiB for each peer'
const AUTONAT = 'not needed: what AutoNAT may cost is always bounded here'

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
  'whitelist',
]

const explanations: ReadonlyMap<string, string> = new Map([
  ...LIMIT_FLAGS.map((flag) => [flag, NO_LIMITS] as const),
  ...['nat-ratelimit', 'nat-ratelimit-global', 'nat-ratelimit-peer', 'nat-ratelimit-interval'].map(
    (flag) => [flag, AUTONAT] as const,
  ),
  ...['channel-buffer-size', 'concurrency'].map((flag) => [flag, QUEUES] as const),
  ['egress-announce-time', 'not needed: the announcement is kept while the node runs'],
  ['interval', 'not needed: egress nodes are known as they come and go'],
  ['dead-interval', 'use --ownership-ttl'],
  ['name', 'give it as an argument: `mesh service-add NAME TARGET`'],
  ['packet-mtu', 'use --mtu'],
  ['timeout', 'not needed: streams that do not open are given up after a while'],
  ['bootstrap-iface', 'not needed: the interface is always set up, and taken away at the end'],
  ['lease-dir', 'use --state-dir: leases are kept beside the identity'],
  ['transient-conn', 'not needed: packets go over relays where there is no direct way'],
  ['connection-high-water', 'use --max-connections'],
  ['connection-low-water', 'use --max-connections'],
  ['enable-healthchecks', 'not needed: every node sends heartbeats'],
  ['aliveness-healthcheck-max-interval', 'use --ownership-ttl'],
  ['privkey-cache', 'not needed: the identity is kept unless --ephemeral is given'],
  ['privkey-cache-dir', 'use --state-dir'],
  ['ledger-announce-interval', 'not needed: writes are announced at once'],
  ['ledger-synchronization-interval', 'not needed: what differs is exchanged at once'],
  ['libp2p-log-level', 'use --log-level, as in info,p2p=debug'],
  ['autorelay-discovery-interval', 'not needed: members that relay are found by themselves'],
  ['autorelay-static-peer', 'use --discovery-bootstrap-peers: members that relay are found by themselves'],
  ['autorelay-static-only', 'not needed: only members relay here'],
  ['relay-service-network-only', 'not needed: relays serve members only'],
  ['relay-service-acl-refresh', 'not needed: relays know at once who is a member'],
  ['relay-service-buffer-size', NO_LIMITS],
  ['low-profile', 'not needed: the search table is small anyway'],
  ['g', 'use -g'],
  ['b', 'use -b'],
])

export function explainForeignFlag(flag: string): string | undefined {
  return explanations.get(flag)
}
