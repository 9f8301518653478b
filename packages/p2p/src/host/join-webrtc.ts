/**
 * Joins WebRTC, which connects members behind NATs directly, and browsers. Its native library costs memory and is reachable by
 * strangers. So it loads only for a relayed connection that it may make direct, or for an address for browsers.
 */
import type { Connection } from '@libp2p/interface'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { ipOf, isRelayed } from '../addresses/address-rules.ts'
import { joinTransport } from '../libp2p/base-host.ts'
import { connectionsTo } from '../libp2p/connections.ts'
import { withUdpPort } from '../nat/free-udp-port.ts'
import { MAX_STUN_SERVERS } from './limits.ts'
import { loadOptional } from './optional-package.ts'
import type { PlatformContext } from './platform.ts'
import type { Switches } from './switches.ts'

interface WebRtcInit extends Pick<Switches, 'webrtc' | 'webrtcDirect'> {
  /** Where to listen for browsers. */
  readonly listen: readonly Multiaddr[]
  /** Called when the library cannot be loaded later. */
  readonly onFailed: (error: unknown) => void
}

/** Resolves when the transports that are needed now have joined; gives what ends the wait for others. */
export async function joinWebRtc(context: PlatformContext, init: WebRtcInit): Promise<() => Promise<void>> {
  let joining: Promise<void> | undefined
  if (!init.webrtcDirect) {
    const stop = onceRelayed(context, () => {
      joining = joinSignalled(context).catch(init.onFailed)
    })
    return async () => {
      stop()
      await joining
    }
  }
  if (init.webrtc) await joinSignalled(context)
  // last: where its port is taken the node has the other one
  await joinDirect(context, init.listen)
  return async () => {}
}

/** Calls `run` when the first connection over a relay opens. The returned function ends the wait. */
function onceRelayed({ host }: PlatformContext, run: () => void): () => void {
  const stop = () => host.removeEventListener('connection:open', onOpen)
  const onOpen = ({ detail }: { readonly detail: Connection }) => {
    if (!isRelayed(detail.remoteAddr)) return
    stop()
    run()
  }
  host.addEventListener('connection:open', onOpen)
  for (const detail of host.getConnections()) onOpen({ detail })
  return stop
}

/** Adds the transport by which members connect that a relay joins. */
async function joinSignalled(context: PlatformContext): Promise<void> {
  const { webRTC, order, pending, rtcConfiguration } = await loadWebRtc(context)
  const { host, reach, membership } = context
  // relays serve members alone, whose proof may come later than what they signal
  const maySignal = ({ remoteAddr, remotePeer }: Connection) =>
    isRelayed(remoteAddr) || membership.isMember(remotePeer.toString())
  const signalled = webRTC({ rtcConfiguration: () => order.withNativeConnection(rtcConfiguration()) })
  const bounds = { pending: new pending.PendingWebRtc(), maySignal }
  const build = (parts: Parameters<typeof signalled>[0]) => pending.boundSignalling(signalled(parts), bounds)
  await joinTransport(host, build, [multiaddr('/webrtc')])
  reach.startUpgrades()
}

/** Adds the transport that browsers dial. */
async function joinDirect(context: PlatformContext, listen: readonly Multiaddr[]): Promise<void> {
  const { webRTCDirect, pending, rtcConfiguration } = await loadWebRtc(context)
  const direct = webRTCDirect({ rtcConfiguration })
  // apart from what members signal: a packet may come from anywhere, or say so
  const bounds = new pending.PendingWebRtc()
  const build = (parts: Parameters<typeof direct>[0]) =>
    pending.boundDirectConnections(direct(parts), bounds, context.clock)
  await joinTransport(context.host, build, await Promise.all(listen.map(withUdpPort)))
}

/** Loads the library and its bounds. @throws MeshError `p2p.missing_package`, `p2p.incompatible_library` */
async function loadWebRtc(context: PlatformContext) {
  const [{ webRTC, webRTCDirect }, library, { blockCandidates }, { boundDataChannels }, order, pending] =
    await loadOptional({ feature: 'WebRTC', packages: ['@libp2p/webrtc', 'node-datachannel'] }, () =>
      Promise.all([
        import('@libp2p/webrtc'),
        import('../upstream/webrtc/library.ts'),
        import('../upstream/webrtc/candidates.ts'),
        import('../upstream/webrtc/data-channels.ts'),
        import('../upstream/webrtc/close-order.ts'),
        import('../upstream/webrtc/pending-connections.ts'),
      ]),
    )
  const { host, rules, reach, clock } = context
  boundDataChannels(clock)
  order.readBeforeEnds()
  // after the host has closed its connections
  host.addEventListener('stop', library.holdWebRtcLibrary(), { once: true })
  host.addEventListener('stop', blockCandidates(rules.isBlockedIp), { once: true })
  const rtcConfiguration = () => ({ iceServers: stunServers(context, reach.relays()) })
  return { webRTC, webRTCDirect, order, pending, rtcConfiguration }
}

/** Gives members that answer STUN where this node reaches them, the ones that relay for it first. */
function stunServers({ host, stunPorts }: PlatformContext, relays: readonly string[]): RTCIceServer[] {
  const servers = [...stunPorts].flatMap(([peer, port]) => {
    const connection = connectionsTo(host, peer).find(({ direct }) => direct)
    const ip = connection === undefined ? undefined : ipOf(connection.remoteAddr)
    if (connection === undefined || ip === undefined) return []
    const rank = relays.includes(peer) ? 0 : connection.direction === 'outbound' ? 1 : 2
    return [{ rank, url: `stun:${ip.includes(':') ? `[${ip}]` : ip}:${port}` }]
  })
  return servers
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, MAX_STUN_SERVERS)
    .map(({ url }) => ({ urls: [url] }))
}
