import type { MapLink } from '../../model/network-map.ts'
import { roundTripInWords } from '../../model/time-words.ts'
import { StateMark } from '../../parts/state-mark.tsx'

/** How two machines reach each other: `relayed 61 ms via atlas`. */
export function LinkMark({ link, name }: { link: MapLink; name: (id: string) => string }) {
  const { path, relay, roundTripMs } = link
  const details = [
    roundTripMs === undefined ? '' : roundTripInWords(roundTripMs),
    relay === undefined ? '' : `via ${name(relay)}`,
  ].filter(Boolean)
  return (
    <StateMark tone={path} word={path}>
      {details.length === 0 ? undefined : details.join(' ')}
    </StateMark>
  )
}
