/** Defaults that depend on what else was given: worked out once, so that the node and `mesh config` agree. */
import type { Settings } from './options.ts'
import type { ResolvedSettings, Source } from './resolved-settings.ts'

/** The mark of this node's own sockets, `mesh` in ASCII, where --fwmark gives no other. */
export const DEFAULT_MARK = 0x6d65_7368

type Derived = 'natmap' | 'natservice' | 'dht' | 'dhcp' | 'fwmark'

/** Puts in force what follows from other options; what was given stays. The place of such a value says why. */
export function deriveDefaults({ settings, sources }: ResolvedSettings): ResolvedSettings {
  const changed: { -readonly [Name in Derived]?: Settings[Name] } = {}
  const because: { -readonly [Name in Derived]?: Source } = {}
  const derive = <Name extends Derived>(name: Name, value: Settings[Name], reason: string) => {
    if (sources[name].level !== 'default') return
    changed[name] = value
    because[name] = { level: 'default', place: reason }
  }
  if (settings.private) {
    const privacy = `off with ${sources.private.place}`
    for (const name of ['natmap', 'natservice'] as const) derive(name, false, privacy)
    if (settings.peerExchange) derive('dht', false, `${privacy}: members tell of each other`)
  }
  if (settings.address.length === 0) derive('dhcp', true, 'on without --address')
  if (settings.exitNode !== undefined) {
    derive('fwmark', DEFAULT_MARK, `set with ${sources.exitNode.place}`)
  }
  return {
    settings: { ...settings, ...changed },
    sources: { ...sources, ...because },
  }
}
