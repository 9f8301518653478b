import { type Clock, systemClock } from '@mesh/core'
import { createContext, use, useMemo, useSyncExternalStore } from 'react'
import { ageInWords, exactTime } from '../model/time-words.ts'

const TICK_MS = 1_000

interface Ticker {
  subscribe(listener: () => void): () => void
  /** Unix time in milliseconds, the same until the next tick, so that a page shows one time. */
  now(): number
}

const TimeContext = createContext<{ readonly clock: Clock; readonly ticker: Ticker } | undefined>(undefined)

/** Gives the page its clock; tests give a manual one. */
export function TimeProvider({
  clock = systemClock,
  children,
}: {
  clock?: Clock
  children: React.ReactNode
}) {
  const value = useMemo(() => ({ clock, ticker: createTicker(clock) }), [clock])
  return <TimeContext value={value}>{children}</TimeContext>
}

export function useClock(): Clock {
  return useTime().clock
}

/** The time, again every second. */
export function useNow(): number {
  const { ticker } = useTime()
  return useSyncExternalStore(ticker.subscribe, ticker.now)
}

interface AgeProps {
  /** The time in Unix ms. */
  readonly at: number
  readonly className?: string | undefined
  /** Shows `4 s ago` instead of `4 s`: for a place without a heading that says what the time is. */
  readonly isSentence?: boolean
}

/** How long ago in words; the exact time on hover and for screen readers. */
export function Age({ at, className, isSentence = false }: AgeProps) {
  const words = ageInWords(useNow() - at)
  const spoken = words === 'now' ? 'just now' : `${words} ago`
  return (
    <time
      className={className}
      dateTime={new Date(at).toISOString()}
      title={exactTime(at)}
      aria-label={spoken}
    >
      {isSentence ? spoken : words}
    </time>
  )
}

function useTime() {
  const time = use(TimeContext)
  if (time === undefined) throw new Error('outside of TimeProvider')
  return time
}

/** Ticks only while somebody looks. */
function createTicker(clock: Clock): Ticker {
  const listeners = new Set<() => void>()
  let now = clock.now()
  let cancel = () => {}
  const tick = () => {
    now = clock.now()
    cancel = clock.after(TICK_MS, tick)
    for (const listener of listeners) listener()
  }
  return {
    subscribe(listener) {
      listeners.add(listener)
      if (listeners.size === 1) {
        now = clock.now()
        cancel = clock.after(TICK_MS, tick)
      }
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) cancel()
      }
    },
    now: () => now,
  }
}
