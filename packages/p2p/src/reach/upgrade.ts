/** Making a relayed connection direct, and what follows when that fails. */
import { backoffMs } from '@mesh/core/limits'
import { SPECULATIVE_REST, UPGRADE_GREATER_ID_WAITS_MS, UPGRADE_RETRY_MS } from './limits.ts'
import { change, type Draft, setDial, joinDirectDial } from './draft.ts'
import { isDirect, openOf, type PeerAddress, type Progress, type Route, type Upgrade } from './peer-state.ts'

const NO_WAY = 'no direct way through the networks between us: relayed'

export function planUpgrade(draft: Draft, tries: number): Upgrade {
  const wait = UPGRADE_RETRY_MS[Math.min(tries, UPGRADE_RETRY_MS.length - 1)] ?? 0
  const due = draft.now + wait + (draft.state.dialsFirst ? 0 : UPGRADE_GREATER_ID_WAITS_MS)
  return { tries, due, running: undefined }
}

export function onUpgradeGranted(draft: Draft, usable: readonly PeerAddress[]): void {
  const { upgrade } = draft.state
  if (upgrade === undefined || isDirect(draft.state)) return
  const relayAt = openOf(draft.state).find((connection) => !connection.direct)?.relayAt
  const running = (started: boolean): Progress => (started ? 'running' : 'failed')
  const direct = running(joinDirectDial(draft, 'upgrade', usable))
  if (relayAt !== undefined) {
    const attempt = draft.state.attempts + 1
    change(draft, { attempts: attempt })
    setDial(draft, 'webrtc', { attempt, since: draft.now, purposes: ['upgrade'], addresses: [relayAt] })
    draft.effects.push({ type: 'dialWebRtc', attempt, relayAt })
  }
  const webrtc = running(relayAt !== undefined)
  change(draft, { upgrade: { ...upgrade, running: { direct, webrtc } } })
  if (direct === 'failed' && webrtc === 'failed') fail(draft)
}

/** A dial of the upgrade ended, and the peer is still connected over relays alone. */
export function onUpgradeDialFailed(draft: Draft, route: Route): void {
  const { upgrade } = draft.state
  if (upgrade?.running === undefined || isDirect(draft.state)) return
  const running = { ...upgrade.running, [route]: 'failed' as const }
  change(draft, { upgrade: { ...upgrade, running } })
  if (running.direct === 'failed' && running.webrtc === 'failed') fail(draft)
}

function fail(draft: Draft): void {
  const tries = (draft.state.upgrade?.tries ?? 0) + 1
  change(draft, { upgrade: planUpgrade(draft, tries), lastError: NO_WAY })
  draft.effects.push({ type: 'upgradeFailed', error: NO_WAY })
  failRelayed(draft)
}

/** The relayed connection did not become direct in its time: its peer rests, the next speculative one waits. */
export function failRelayed(draft: Draft): void {
  const { relayed, rest } = draft.state
  if (relayed === undefined || relayed.failed) return
  const ms = backoffMs(SPECULATIVE_REST, rest.times)
  change(draft, {
    relayed: { ...relayed, failed: true },
    rest: { until: draft.now + ms, times: rest.times + 1 },
  })
  draft.effects.push({ type: 'relayedOutcome', direct: false })
}
