const PLACE = 'mesh identity'
const SEED_BYTES = 32

/** Gives the key of this tab, which outlives a reload and ends with the tab. Asked for only where a person wants that. */
export function keptIdentity(): Uint8Array {
  const kept = sessionStorage.getItem(PLACE)?.split(',').map(Number) ?? []
  if (kept.length === SEED_BYTES) return Uint8Array.from(kept)
  const made = crypto.getRandomValues(new Uint8Array(SEED_BYTES))
  sessionStorage.setItem(PLACE, made.join())
  return made
}
