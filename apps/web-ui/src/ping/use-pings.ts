import { type ApiClient, ApiError } from '@mesh/api-client'
import type { VpnPingView } from '@mesh/api-contract'
import { useEffect, useState } from 'react'
import { useClient } from '../data/client-context.tsx'
import { useClock } from '../parts/time.tsx'

const EVERY_MS = 1_000
/** How many of the last pings are shown. */
export const MAX_PINGS = 60

/** The outcome of one ping. */
export interface Ping {
  /** The number of the ping, counted from 0. */
  readonly number: number
  /** The round trip in ms; undefined when no answer came. */
  readonly roundTripMs: number | undefined
}

export interface Pings {
  readonly isOn: boolean
  readonly toggle: () => void
  /** The last of them, the oldest first. */
  readonly pings: readonly Ping[]
  readonly sent: number
  readonly lost: number
  readonly path: 'direct' | 'relayed' | undefined
  /** Holds what the last ping through the VPN told of the ways over UDP. */
  readonly vpn: VpnPingView | undefined
  /** Why the last ping had no answer. */
  readonly error: Error | undefined
}

interface PingState extends Omit<Pings, 'isOn' | 'toggle'> {
  readonly id: string
}

const none = (id: string): PingState => ({
  id,
  pings: [],
  sent: 0,
  lost: 0,
  path: undefined,
  vpn: undefined,
  error: undefined,
})

/** Pings a peer each second while it is on and the page is seen. @param throughVpn false: over libp2p alone */
export function usePings(id: string, throughVpn: boolean): Pings {
  const client = useClient()
  const clock = useClock()
  const [isOn, setOn] = useState(false)
  const [state, setState] = useState(none(id))
  // another peer has pings of its own
  if (state.id !== id) {
    setState(none(id))
    setOn(false)
  }
  useEffect(() => {
    if (!isOn) return undefined
    const stopping = new AbortController()
    const { signal } = stopping
    let cancel = () => {}
    const ping = async () => {
      const startedAt = clock.now()
      if (document.visibilityState === 'visible') {
        const outcome = await measure(client, { id, throughVpn, signal })
        if (signal.aborted) return
        setState((known) => added(known, outcome))
      }
      cancel = clock.after(Math.max(0, EVERY_MS - (clock.now() - startedAt)), () => void ping())
    }
    void ping()
    return () => {
      stopping.abort()
      cancel()
    }
  }, [client, clock, id, isOn, throughVpn])
  return { ...state, isOn, toggle: () => setOn(!isOn) }
}

type Outcome =
  | {
      readonly roundTripMs: number
      readonly path: 'direct' | 'relayed'
      readonly vpn: VpnPingView | undefined
    }
  | { readonly error: Error }

function added(known: PingState, outcome: Outcome): PingState {
  const roundTripMs = 'error' in outcome ? undefined : outcome.roundTripMs
  const counted = {
    ...known,
    pings: [...known.pings, { number: known.sent, roundTripMs }].slice(-MAX_PINGS),
    sent: known.sent + 1,
  }
  if ('error' in outcome) return { ...counted, lost: known.lost + 1, error: outcome.error }
  return { ...counted, path: outcome.path, vpn: outcome.vpn, error: undefined }
}

interface Target {
  readonly id: string
  readonly throughVpn: boolean
  readonly signal: AbortSignal
}

async function measure(client: ApiClient, target: Target): Promise<Outcome> {
  try {
    return (await measureVpn(client, target)) ?? (await measurePeer(client, target))
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }
}

/** Resolves with undefined where this node or the machine has no VPN. */
async function measureVpn(
  client: ApiClient,
  { id, throughVpn, signal }: Target,
): Promise<Outcome | undefined> {
  if (!throughVpn) return undefined
  try {
    const vpn = await client.pingMachine({ machine: id }, { signal })
    return { roundTripMs: vpn.RoundTripMs, path: vpn.Path, vpn }
  } catch (error) {
    if (error instanceof ApiError && WITHOUT_VPN.has(error.code)) return undefined
    throw error
  }
}

const WITHOUT_VPN: ReadonlySet<string> = new Set(['vpn.not_running', 'vpn.unknown_machine'])

async function measurePeer(client: ApiClient, { id, signal }: Target): Promise<Outcome> {
  const { RoundTripMs, Path } = await client.pingPeer({ peer: id }, { signal })
  return { roundTripMs: RoundTripMs, path: Path, vpn: undefined }
}
