/** It did not come about in time. */
class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/** Asks until the answer is neither false, undefined nor an error, and gives it; throws when `withinMs` are over. */
export async function untilTrue<T>(withinMs: number, ask: () => Promise<T | undefined | false>): Promise<T> {
  const end = performance.now() + withinMs
  let last: unknown
  while (performance.now() < end) {
    try {
      const answer = await ask()
      if (answer !== undefined && answer !== false) return answer
    } catch (error) {
      last = error
    }
    await pause(50)
  }
  throw new TimeoutError(`not within ${withinMs} ms`, { cause: last })
}

/** Resolves after so many milliseconds, or when the signal aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
    if (signal?.aborted === true) done()
  })
}
