/** Options of the commands that run a node. */
import { tryParseAddressInRange, tryParsePeerId } from '@mesh/core'
import { API_TOKEN, CLIENT, NODE } from './command-groups.ts'
import { choice, duration, inGroup, integer, list, path, size, text, toggle } from './option.ts'

const MIB = 2 ** 20
const GIB = 1024 * MIB

export const apiOptions = inGroup('API', ['', 'api', 'config'], {
  listen: text({
    commands: ['api', 'proxy', 'config', 'doctor'],
    placeholder: 'ADDRESS',
    default: '127.0.0.1:8080',
    help: 'Where the API and its web page are served, or with `mesh proxy` the proxy: HOST:PORT, :PORT, [IPV6]:PORT or unix://PATH. Port 0 takes a free one.',
  }),
  api: toggle({
    commands: ['', 'config'],
    default: false,
    help: 'Serve the API and its web page beside the VPN.',
  }),
  apiListen: text({
    commands: ['', 'config', 'doctor'],
    placeholder: 'ADDRESS',
    default: '127.0.0.1:8080',
    help: 'With --api: where, in the forms of --listen.',
  }),
  apiAllowedHost: list({
    placeholder: 'NAME',
    help: "Another name that browsers may call this node's API by (protection against DNS rebinding).",
  }),
  apiValues: choice({
    choices: ['json', 'text'],
    default: 'json',
    help: 'What ledger reads answer where a request does not say (`?values=`): decoded values, or the signed texts, which clients of EdgeVPN-compatible nodes expect.',
  }),
  apiTokenFile: path({
    commands: ['', 'api', 'config', ...CLIENT, ...API_TOKEN],
    placeholder: 'FILE',
    help: 'Ask for a token on all listeners but the control socket: a line each `LEVEL TOKEN [NAME]`, LEVEL read, write or admin; read again when it changes. Commands that ask a node send the token in it.',
  }),
  browserMembers: toggle({
    default: false,
    help: 'Serve a page at /join by which a browser tab becomes a member. It asks for a token, which stays in the tab. Tabs connect to the WebSocket listener of this node; `--listen-maddrs /ip4/0.0.0.0/tcp/PORT/ws` gives it a fixed port.',
  }),
  apiReadOnly: toggle({
    default: false,
    help: 'Refuse writes on all listeners but the control socket.',
  }),
  apiCors: list({
    placeholder: 'ORIGIN',
    help: 'Let web pages of this origin (https://example.org) use the API.',
    check: (origin) => {
      const url = URL.parse(origin)
      return url !== null && url.origin === origin ? undefined : 'an origin like https://example.org'
    },
  }),
})

export const discoveryOptions = inGroup('Finding peers', NODE, {
  private: toggle({
    default: false,
    help: 'Use no public infrastructure: no public DHT, no public bootstrap peers, no UPnP.',
  }),
  mdns: toggle({
    default: true,
    help: 'Find members on the local network.',
  }),
  dht: toggle({
    default: true,
    defaultText: 'on, off with --private',
    help: 'Find members through the public distributed hash table; with --private and --no-peer-exchange through one among the bootstrap peers.',
  }),
  discoveryInterval: duration({
    default: '720s',
    minMs: 10_000,
    maxMs: 86_400_000,
    help: 'Time between two looks into the distributed hash table; it looks oftener while nobody was found.',
  }),
  peerExchange: toggle({
    default: true,
    help: "Learn other members' addresses from members, and pass them on.",
  }),
  discoveryBootstrapPeers: list({
    placeholder: 'ADDRESS',
    help: 'Peers to dial at once and always: multiaddrs that end in /p2p/ID.',
    check: (address) =>
      /^\/.+\/p2p\/[1-9A-HJ-NP-Za-km-z]+$/.test(address)
        ? undefined
        : 'a multiaddr like /ip4/192.0.2.1/tcp/4001/p2p/12D3KooW…',
  }),
})

const isMultiaddr = (address: string) =>
  address.startsWith('/') ? undefined : 'a multiaddr like /ip4/0.0.0.0/tcp/4001'

export const transportOptions = inGroup('Transports and addresses', NODE, {
  tcp: toggle({
    default: true,
    help: 'Listen and dial on TCP.',
  }),
  listenMaddrs: list({
    commands: [...NODE, 'doctor'],
    placeholder: 'ADDRESS',
    defaultText: 'free ports on every interface',
    help: 'Addresses to listen on, as multiaddrs, in place of free ports on every interface.',
    check: isMultiaddr,
  }),
  dhtAnnounceMaddrs: list({
    placeholder: 'ADDRESS',
    defaultText: 'those listened on',
    help: 'Addresses to announce in place of those listened on.',
    check: isMultiaddr,
  }),
  quic: toggle({
    default: false,
    help: 'Listen and dial on QUIC as well.',
  }),
  websocket: toggle({
    default: true,
    help: 'Listen and dial on WebSocket as well (browsers, proxies).',
  }),
  webrtc: toggle({
    default: true,
    help: 'Connect members behind NATs directly, by WebRTC that a relay helps to begin.',
  }),
  webrtcDirect: toggle({
    default: false,
    help: 'Listen for browsers, by WebRTC. On as well when --listen-maddrs has such an address.',
  }),
  blacklist: list({
    placeholder: 'CIDR|PEER',
    help: 'Never dial, accept or announce addresses in this range, or never talk to this peer.',
    check: (text) =>
      tryParseAddressInRange(text) === undefined && tryParsePeerId(text) === undefined
        ? 'a range like 10.1.0.0/24 or a peer id'
        : undefined,
  }),
})

export const relayOptions = inGroup('Relays and NAT', NODE, {
  autorelay: toggle({
    default: true,
    help: 'Be reachable through members that relay, where nothing better works.',
  }),
  relayService: toggle({
    default: true,
    help: 'Relay for other members.',
  }),
  relayServiceMaxData: size({
    isLimit: true,
    default: GIB,
    min: 1024,
    max: 1024 * GIB,
    help: 'Bytes that one relayed connection may carry here, both directions together.',
  }),
  relayServiceMaxDuration: duration({
    isLimit: true,
    default: '30m',
    minMs: 1_000,
    maxMs: 86_400_000,
    help: 'How long one connection may be relayed here.',
  }),
  relayServiceMaxCircuits: integer({
    isLimit: true,
    placeholder: 'COUNT',
    default: 64,
    min: 1,
    max: 256,
    help: 'Connections of one member that are relayed here at a time.',
  }),
  relayServiceReservationTtl: duration({
    isLimit: true,
    default: '1h',
    minMs: 60_000,
    maxMs: 86_400_000,
    help: 'How long a member that this node relays for keeps its place without asking again.',
  }),
  natservice: toggle({
    default: true,
    defaultText: 'on, off with --private',
    help: 'Find out whether this node can be reached from outside, and tell others (AutoNAT).',
  }),
  natmap: toggle({
    default: true,
    defaultText: 'on, off with --private',
    help: 'Ask the router for a port mapping (UPnP).',
  }),
  holepunch: toggle({
    default: true,
    help: 'Replace relayed connections by direct ones where the NATs allow it.',
  }),
})

export const ledgerOptions = inGroup('Ledger', NODE, {
  ownership: choice({
    choices: ['enforce', 'observe', 'off'],
    default: 'enforce',
    help: "How others' entries are judged: refuse what breaks ownership, only count it, or follow the rule of networks without signatures (the ledger is then kept in memory only).",
  }),
  ownershipTtl: duration({
    default: '480s',
    minMs: 4_000,
    maxMs: 86_400_000,
    help: 'How long after its last heartbeat an owner keeps its keys; at least four heartbeats.',
  }),
  alivenessHealthcheckInterval: duration({
    default: '120s',
    defaultText: '120s, 40s while an EdgeVPN-compatible member is about',
    minMs: 1_000,
    maxMs: 3_600_000,
    help: 'Time between heartbeats.',
  }),
  alivenessHealthcheckScrubInterval: duration({
    default: '10m',
    minMs: 10_000,
    maxMs: 86_400_000,
    help: 'Time between two looks for tombstones that nobody needs any more and for entries whose owner is gone; best the same on all nodes.',
  }),
})

/** Their defaults are the ledger's own (a test compares): importing it here would slow down every command. */
export const limitOptions = inGroup('Limits', NODE, {
  maxConnections: integer({
    isLimit: true,
    placeholder: 'COUNT',
    default: 300,
    min: 8,
    max: 65_536,
    help: 'Connections to peers at a time; the least useful are closed first.',
  }),
  gossipMaxMemory: size({
    isLimit: true,
    default: 64 * MIB,
    min: 8 * MIB,
    max: 65_536 * MIB,
    help: "Memory that others' gossip messages may take which wait or are unpacked; more are refused, and not passed on.",
  }),
  ledgerMaxEntries: integer({
    isLimit: true,
    placeholder: 'COUNT',
    default: 200_000,
    min: 100,
    max: 10_000_000,
    help: 'Entries in the ledger, tombstones included; more are refused.',
  }),
  ledgerMaxBytes: size({
    isLimit: true,
    default: 256 * MIB,
    min: MIB,
    max: 65_536 * MIB,
    help: 'Memory that entries may take together; more are refused.',
  }),
  ledgerMaxSignerEntries: integer({
    isLimit: true,
    placeholder: 'COUNT',
    default: 120_000,
    min: 100,
    max: 10_000_000,
    help: "One member's entries, so that none can fill the ledger.",
  }),
  ledgerMaxSignerBytes: size({
    isLimit: true,
    default: 160 * MIB,
    min: MIB,
    max: 65_536 * MIB,
    help: "Memory that one member's entries may take.",
  }),
  ledgerMaxUnsignedEntries: integer({
    isLimit: true,
    placeholder: 'COUNT',
    default: 10_000,
    min: 0,
    max: 10_000_000,
    help: 'Entries that nobody signed, all of them together.',
  }),
  ledgerMaxUnsignedBytes: size({
    isLimit: true,
    default: 16 * MIB,
    min: 0,
    max: 65_536 * MIB,
    help: 'Memory that entries without a signature may take together.',
  }),
})
