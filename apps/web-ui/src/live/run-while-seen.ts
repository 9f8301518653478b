import type { Clock } from '@mesh/core'
import type { Live } from './live.ts'

/**
 * A hidden page gives its event stream back after this time. A browser opens six connections to a node over HTTP/1.1, and a
 * seventh page should still work.
 */
const UNSEEN_MS = 30_000

/** Listens while the page is seen. The returned function ends it. */
export function runWhileSeen(live: Live, clock: Clock): () => void {
  let cancelStop = () => {}
  const onVisibility = () => {
    cancelStop()
    if (document.visibilityState === 'visible') live.start()
    else cancelStop = clock.after(UNSEEN_MS, () => live.stop())
  }
  document.addEventListener('visibilitychange', onVisibility)
  live.start()
  return () => {
    document.removeEventListener('visibilitychange', onVisibility)
    cancelStop()
    live.stop()
  }
}
