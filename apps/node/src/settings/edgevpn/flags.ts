/**
 * Every flag and variable of EdgeVPN 0.35, and what it is here. The translator, the hints for people who use such a flag
 * without `--edgevpn`, and docs/edgevpn.md come from this table.
 */
import { type Convert, toOwnership, within } from './go-values.ts'

/** Where EdgeVPN takes a flag: with each command but `peergater`, or with these. */
export type EdgevpnPlace = 'main' | 'api' | 'dns' | 'proxy' | 'service' | 'file' | 'peergater'

export interface EdgevpnFlag {
  /** The name without dashes. */
  readonly flag: string
  readonly variable?: string
  readonly places: 'common' | readonly EdgevpnPlace[]
  readonly takes: 'switch' | 'value' | 'list'
  /** The meaning of the flag in this program. */
  readonly here: Here
}

export type Here =
  /** The option of this program with the same name. */
  | { readonly is: 'same'; readonly convert?: Convert; readonly note?: string }
  /** Carried over into something else; the translator has the rule. */
  | { readonly is: 'carried'; readonly note: string }
  /** Accepted, and without effect. */
  | { readonly is: 'nothing'; readonly why: string }

const SAME: Here = { is: 'same' }
const same = (convert: Convert, note?: string): Here => ({
  is: 'same',
  convert,
  ...(note !== undefined && { note }),
})
const carried = (note: string): Here => ({ is: 'carried', note })
const nothing = (why: string): Here => ({ is: 'nothing', why })

const BOUNDED = nothing('the node always bounds streams, connections and memory')
const AUTONAT = nothing('the node always bounds what AutoNAT may cost')
const QUEUES = nothing('the engine has its own threads and bounded queues for each peer')
const RELAYS = nothing('the node finds members that relay by itself')

const WITH_PEERGUARD = { is: 'same', note: 'without effect unless `--peerguard` is given' } as const
const WITH_API: Here = { is: 'same', note: 'without effect unless `--api` is given' }

type Row = readonly [flag: string, variable: string, takes: EdgevpnFlag['takes'], here: Here]

const COMMON: readonly Row[] = [
  ['config', 'EDGEVPNCONFIG', 'value', SAME],
  ['listen-maddrs', 'EDGEVPNLISTENMADDRS', 'list', SAME],
  ['dht-announce-maddrs', 'EDGEVPNDHTANNOUNCEMADDRS', 'list', SAME],
  ['timeout', 'EDGEVPNTIMEOUT', 'value', nothing('the node gives up streams that do not open by itself')],
  ['mtu', 'EDGEVPNMTU', 'value', same(within(576, 9000), 'below 1280 the interface has no IPv6')],
  [
    'bootstrap-iface',
    'EDGEVPNBOOTSTRAPIFACE',
    'switch',
    nothing('the node always sets up the interface, and removes it at its end'),
  ],
  ['packet-mtu', 'EDGEVPNPACKETMTU', 'value', nothing('`--mtu` decides')],
  ['channel-buffer-size', 'EDGEVPNCHANNELBUFFERSIZE', 'value', QUEUES],
  ['discovery-interval', 'EDGEVPNDHTINTERVAL', 'value', same(within(10, 86_400))],
  [
    'ledger-announce-interval',
    'EDGEVPNLEDGERINTERVAL',
    'value',
    nothing('the node announces writes at once'),
  ],
  ['autorelay-discovery-interval', 'EDGEVPNAUTORELAYDISCOVERYINTERVAL', 'value', RELAYS],
  ['autorelay-static-only', 'EDGEVPNAUTORELAYSTATICONLY', 'switch', nothing('only members relay')],
  [
    'ledger-synchronization-interval',
    'EDGEVPNLEDGERSYNCINTERVAL',
    'value',
    nothing('the node exchanges what differs at once'),
  ],
  ['nat-ratelimit-global', 'EDGEVPNNATRATELIMITGLOBAL', 'value', AUTONAT],
  ['nat-ratelimit-peer', 'EDGEVPNNATRATELIMITPEER', 'value', AUTONAT],
  ['nat-ratelimit-interval', 'EDGEVPNNATRATELIMITINTERVAL', 'value', AUTONAT],
  ['nat-ratelimit', 'EDGEVPNNATRATELIMIT', 'switch', AUTONAT],
  ['max-connections', 'EDGEVPNMAXCONNS', 'value', carried('`--max-connections`; 0 means the default')],
  ['ledger-state', 'EDGEVPNLEDGERSTATE', 'value', { is: 'same', note: 'the file has a format of its own' }],
  ['mdns', 'EDGEVPNMDNS', 'switch', SAME],
  ['autorelay', 'EDGEVPNAUTORELAY', 'switch', SAME],
  ['concurrency', '', 'value', QUEUES],
  ['holepunch', 'EDGEVPNHOLEPUNCH', 'switch', SAME],
  ['natservice', 'EDGEVPNNATSERVICE', 'switch', SAME],
  ['natmap', 'EDGEVPNNATMAP', 'switch', SAME],
  ['dht', 'EDGEVPNDHT', 'switch', SAME],
  ['low-profile', 'EDGEVPNLOWPROFILE', 'switch', nothing('the node always keeps few connections')],
  [
    'aliveness-healthcheck-interval',
    'HEALTHCHECKINTERVAL',
    'value',
    carried('the same; without `--ownership-ttl` an owner keeps its keys for four intervals'),
  ],
  ['aliveness-healthcheck-scrub-interval', 'HEALTHCHECKSCRUBINTERVAL', 'value', same(within(10, 86_400))],
  [
    'aliveness-healthcheck-max-interval',
    'HEALTHCHECKMAXINTERVAL',
    'value',
    carried('`--ownership-ttl`, where that is not given'),
  ],
  [
    'log-level',
    'EDGEVPNLOGLEVEL',
    'value',
    carried('`--log-level`; `dpanic`, `panic` and `fatal` mean `error`'),
  ],
  ['libp2p-log-level', 'EDGEVPNLIBP2PLOGLEVEL', 'value', carried('`--log-level p2p=LEVEL`')],
  ['discovery-bootstrap-peers', 'EDGEVPNBOOTSTRAPPEERS', 'list', SAME],
  [
    'connection-high-water',
    'EDGEVPN_CONNECTION_HIGH_WATER',
    'value',
    carried('`--max-connections`, where that is not given'),
  ],
  [
    'connection-low-water',
    'EDGEVPN_CONNECTION_LOW_WATER',
    'value',
    carried('`--max-connections`, where neither that nor the high water mark is given'),
  ],
  [
    'autorelay-static-peer',
    'EDGEVPNAUTORELAYPEERS',
    'list',
    carried('`--discovery-bootstrap-peers`: members relay'),
  ],
  ['relay-service', 'EDGEVPN_RELAY_SERVICE', 'switch', SAME],
  [
    'relay-service-network-only',
    'EDGEVPN_RELAY_SERVICE_NETWORK_ONLY',
    'switch',
    nothing('the node relays for members only'),
  ],
  [
    'relay-service-acl-refresh',
    'EDGEVPN_RELAY_SERVICE_ACL_REFRESH',
    'value',
    nothing('the node knows at once who is a member'),
  ],
  ['relay-service-max-data', 'EDGEVPN_RELAY_MAX_DATA', 'value', same(within(1024, 2 ** 40))],
  ['relay-service-max-duration', 'EDGEVPN_RELAY_MAX_DURATION', 'value', SAME],
  ['relay-service-max-circuits', 'EDGEVPN_RELAY_MAX_CIRCUITS', 'value', same(within(1, 256))],
  ['relay-service-reservation-ttl', 'EDGEVPN_RELAY_RESERVATION_TTL', 'value', SAME],
  ['relay-service-buffer-size', 'EDGEVPN_RELAY_BUFFER_SIZE', 'value', BOUNDED],
  ['blacklist', 'EDGEVPNBLACKLIST', 'list', SAME],
  ['token', 'EDGEVPNTOKEN', 'value', SAME],
  ['limit-enable', 'LIMITENABLE', 'switch', BOUNDED],
  ['limit-file', 'LIMITFILE', 'value', BOUNDED],
  ['limit-scope', 'LIMITSCOPE', 'value', BOUNDED],
  ['limit-config-streams', 'LIMITCONFIGSTREAMS', 'value', BOUNDED],
  ['limit-config-streams-inbound', 'LIMITCONFIGSTREAMSINBOUND', 'value', BOUNDED],
  ['limit-config-streams-outbound', 'LIMITCONFIGSTREAMSOUTBOUND', 'value', BOUNDED],
  ['limit-config-conn', 'LIMITCONFIGCONNS', 'value', BOUNDED],
  ['limit-config-conn-inbound', 'LIMITCONFIGCONNSINBOUND', 'value', BOUNDED],
  ['limit-config-conn-outbound', 'LIMITCONFIGCONNSOUTBOUND', 'value', BOUNDED],
  ['limit-config-fd', 'LIMITCONFIGFD', 'value', BOUNDED],
  ['peerguard', 'PEERGUARD', 'switch', SAME],
  ['ownership', 'EDGEVPNOWNERSHIP', 'value', same(toOwnership)],
  [
    'ownership-ttl',
    'EDGEVPNOWNERSHIPTTL',
    'value',
    carried('the same; 0 means four heartbeats, and fewer become four'),
  ],
  [
    'privkey-cache',
    'EDGEVPNPRIVKEYCACHE',
    'switch',
    carried('the node keeps its identity anyway; with it `--privkey-cache-dir` counts'),
  ],
  [
    'privkey-cache-dir',
    'EDGEVPNPRIVKEYCACHEDIR',
    'value',
    carried('`--state-dir`, together with `--privkey-cache`'),
  ],
  ['static-peertable', 'EDGEVPNSTATICPEERTABLE', 'list', SAME],
  ['whitelist', 'EDGEVPNWHITELIST', 'list', BOUNDED],
  ['peergate', 'PEERGATE', 'switch', WITH_PEERGUARD],
  ['peergate-autoclean', 'PEERGATE_AUTOCLEAN', 'switch', WITH_PEERGUARD],
  ['peergate-relaxed', 'PEERGATE_RELAXED', 'switch', WITH_PEERGUARD],
  ['peergate-auth', 'PEERGATE_AUTH', 'value', WITH_PEERGUARD],
  ['peergate-interval', 'EDGEVPNPEERGATEINTERVAL', 'value', same(within(1, 3_600), WITH_PEERGUARD.note)],
]

/** Flags of single commands. */
const OWN: readonly (readonly [places: readonly EdgevpnPlace[], ...Row])[] = [
  [['main'], 'key-otp-interval', '', 'value', SAME],
  [['main'], 'g', '', 'switch', SAME],
  [['main'], 'b', '', 'switch', SAME],
  [['main', 'api', 'proxy'], 'debug', '', 'switch', SAME],
  [['main'], 'api', 'API', 'switch', SAME],
  [['main'], 'api-listen', 'APILISTEN', 'value', WITH_API],
  [['main'], 'dhcp', 'DHCP', 'switch', SAME],
  [
    ['main'],
    'transient-conn',
    'TRANSIENTCONN',
    'switch',
    nothing('packets go over relays where there is no direct path'),
  ],
  [
    ['main'],
    'lease-dir',
    'DHCPLEASEDIR',
    'value',
    carried('`--state-dir`: the lease is kept beside the identity'),
  ],
  [['main'], 'address', 'ADDRESS', 'value', SAME],
  [['main'], 'dns', 'DNSADDRESS', 'value', SAME],
  [['main', 'dns'], 'dns-forwarder', 'DNSFORWARD', 'switch', SAME],
  [['main'], 'egress', 'EGRESS', 'switch', SAME],
  [
    ['main'],
    'egress-announce-time',
    'EGRESSANNOUNCE',
    'value',
    nothing('the node keeps the announcement while it runs'),
  ],
  [['main', 'dns'], 'dns-cache-size', 'DNSCACHESIZE', 'value', SAME],
  [['main', 'dns'], 'dns-forward-server', 'DNSFORWARDSERVER', 'list', SAME],
  [['main'], 'router', 'ROUTER', 'value', SAME],
  [['main'], 'interface', 'IFACE', 'value', SAME],
  [['api'], 'enable-healthchecks', 'ENABLE_HEALTHCHECKS', 'switch', nothing('every node sends heartbeats')],
  [['api'], 'listen', 'APILISTEN', 'value', SAME],
  [['dns'], 'listen', 'DNSADDRESS', 'value', carried('`--dns`; without it the node answers no DNS')],
  [['service', 'file'], 'name', '', 'value', carried('the argument NAME')],
  [['service'], 'address', '', 'value', carried('the argument TARGET or LISTEN')],
  [['file'], 'path', '', 'value', carried('the argument PATH')],
  [['proxy'], 'listen', 'PROXYLISTEN', 'value', SAME],
  [['proxy'], 'api', 'API', 'switch', carried('`mesh api --proxy ADDRESS`')],
  [['proxy'], 'api-listen', 'APILISTEN', 'value', carried('`--listen` of `mesh api`, together with `--api`')],
  [
    ['proxy'],
    'interval',
    'PROXYINTERVAL',
    'value',
    nothing('the node knows egress nodes as they come and go'),
  ],
  [
    ['proxy'],
    'dead-interval',
    'PROXYDEADINTERVAL',
    'value',
    carried('`--ownership-ttl`, where that is not given'),
  ],
  [['peergater'], 'privkey', '', 'switch', SAME],
  [['peergater'], 'pubkey', '', 'switch', SAME],
]

const toFlag = (places: EdgevpnFlag['places'], [flag, variable, takes, here]: Row): EdgevpnFlag => ({
  flag,
  places,
  takes,
  here,
  ...(variable !== '' && { variable }),
})

export const edgevpnFlags: readonly EdgevpnFlag[] = [
  ...COMMON.map((row) => toFlag('common', row)),
  ...OWN.map(([places, ...row]) => toFlag(places, row)),
]

/** The flags that a command of EdgeVPN takes. */
export function flagsAt(place: EdgevpnPlace): readonly EdgevpnFlag[] {
  return edgevpnFlags.filter(({ places }) =>
    places === 'common' ? place !== 'peergater' : places.includes(place),
  )
}

/** Says what a flag of EdgeVPN would be here; undefined: it is none, or one of ours has its name. */
export function explainEdgevpnFlag(flag: string): string | undefined {
  const row = edgevpnFlags.find((each) => each.flag === flag && each.here.is !== 'same')
  if (row === undefined) return undefined
  const { here } = row
  const what =
    here.is === 'carried' ? `here it is ${here.note}` : `not needed: ${here.is === 'nothing' ? here.why : ''}`
  return `a flag of EdgeVPN (${what}); with --edgevpn it is taken as it is`
}
