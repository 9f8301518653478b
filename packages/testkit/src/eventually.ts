/** Runs `check` until it neither throws nor rejects; after `withinMs` the last failure is thrown. */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: { withinMs?: number; everyMs?: number } = {},
): Promise<T> {
  const { withinMs = 5000, everyMs = 20 } = options
  const end = performance.now() + withinMs
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() >= end) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
