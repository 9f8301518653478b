/** All attacks of the suite. */
import type { Scenario } from './scenario.ts'
import { ADMINISTRATOR_ATTACKS } from './scenarios/administrators.ts'
import { BULK_ATTACKS } from './scenarios/bulk.ts'
import { CLAIM_ATTACKS } from './scenarios/claims.ts'
import { CLIENT_ATTACKS } from './scenarios/clients.ts'
import { CLOSING_ATTACKS } from './scenarios/closing.ts'
import { CONNECTION_ATTACKS } from './scenarios/connections.ts'
import { DISCOVERY_ATTACKS } from './scenarios/discovery.ts'
import { DNS_ATTACKS } from './scenarios/dns.ts'
import { FILE_ATTACKS } from './scenarios/files.ts'
import { FLOOD_ATTACKS } from './scenarios/floods.ts'
import { FRAME_ATTACKS } from './scenarios/frames.ts'
import { GOSSIP_ATTACKS } from './scenarios/gossip.ts'
import { IDLE_LEADER_ATTACKS } from './scenarios/idle-leader.ts'
import { INTERRUPTION_ATTACKS } from './scenarios/interruptions.ts'
import { LEDGER_ATTACKS } from './scenarios/ledger.ts'
import { LIBP2P_ATTACKS } from './scenarios/libp2p.ts'
import { MACHINE_ATTACKS } from './scenarios/machines.ts'
import { MESSAGE_ATTACKS } from './scenarios/long-messages.ts'
import { CHANNEL_MESSAGE_ATTACKS } from './scenarios/messages.ts'
import { MUXER_ATTACKS } from './scenarios/muxer.ts'
import { NAT_ATTACKS } from './scenarios/nat.ts'
import { NETWORK_ATTACKS } from './scenarios/networks.ts'
import { ONE_HOST_ATTACKS } from './scenarios/one-host.ts'
import { PROVIDER_ATTACKS } from './scenarios/providers.ts'
import { PROXY_ATTACKS } from './scenarios/proxies.ts'
import { READER_ATTACKS } from './scenarios/readers.ts'
import { REPLAY_ATTACKS } from './scenarios/replays.ts'
import { REQUEST_ATTACKS } from './scenarios/requests.ts'
import { ROUTER_ATTACKS } from './scenarios/routers.ts'
import { RULE_ATTACKS } from './scenarios/rules.ts'
import { SERVICE_ATTACKS } from './scenarios/services.ts'
import { SESSION_ATTACKS } from './scenarios/sessions.ts'
import { SHARE_ATTACKS } from './scenarios/shares.ts'
import { SLOW_SESSION_ATTACKS } from './scenarios/slow-sessions.ts'
import { TEXT_ATTACKS } from './scenarios/texts.ts'
import { TRUST_ATTACKS } from './scenarios/trust.ts'
import { VPN_ATTACKS } from './scenarios/vpn.ts'
import { WEBRTC_ATTACKS } from './scenarios/webrtc.ts'

/** No attack at all: what the machine itself does to the figures. */
const CALM: Scenario = {
  name: 'calm',
  who: 'stranger',
  does: 'nothing, to compare with',
  boundedBy: '',
  legacy: {},
  aim: undefined,
  run: async () => {},
}

export const SCENARIOS: readonly Scenario[] = [
  CALM,
  ...CONNECTION_ATTACKS,
  ...GOSSIP_ATTACKS,
  ...FRAME_ATTACKS,
  ...INTERRUPTION_ATTACKS,
  ...SESSION_ATTACKS,
  ...SLOW_SESSION_ATTACKS,
  ...LEDGER_ATTACKS,
  ...REPLAY_ATTACKS,
  ...IDLE_LEADER_ATTACKS,
  ...CLAIM_ATTACKS,
  ...READER_ATTACKS,
  ...LIBP2P_ATTACKS,
  ...FLOOD_ATTACKS,
  ...MESSAGE_ATTACKS,
  ...MUXER_ATTACKS,
  ...REQUEST_ATTACKS,
  ...TEXT_ATTACKS,
  ...DNS_ATTACKS,
  ...SERVICE_ATTACKS,
  ...RULE_ATTACKS,
  ...BULK_ATTACKS,
  ...FILE_ATTACKS,
  ...CHANNEL_MESSAGE_ATTACKS,
  ...PROVIDER_ATTACKS,
  ...CLIENT_ATTACKS,
  ...PROXY_ATTACKS,
  ...WEBRTC_ATTACKS,
  ...NAT_ATTACKS,
  ...ROUTER_ATTACKS,
  ...DISCOVERY_ATTACKS,
  ...ONE_HOST_ATTACKS,
  ...CLOSING_ATTACKS,
  ...TRUST_ATTACKS,
  ...ADMINISTRATOR_ATTACKS,
  ...SHARE_ATTACKS,
  ...VPN_ATTACKS,
  ...NETWORK_ATTACKS,
  ...MACHINE_ATTACKS,
]

/** Those that a siege makes all at once, each against the node with its number. */
export const SIEGE_SCENARIOS: readonly Scenario[] = SCENARIOS.filter(({ isApart }) => isApart !== true)
