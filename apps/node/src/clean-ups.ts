/** Undoes what must be undone when a node stops, in the reverse order of its making. */
export interface CleanUps {
  add(end: () => unknown): void
  /** Runs every end, also when one fails; then throws the first failure. Idempotent. */
  run(): Promise<void>
}

export function createCleanUps(): CleanUps {
  const cleanUps: (() => unknown)[] = []
  let running: Promise<void> | undefined
  const runAll = async () => {
    const failures: unknown[] = []
    for (let end = cleanUps.pop(); end !== undefined; end = cleanUps.pop()) {
      try {
        await end()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
  return {
    add: (end) => void cleanUps.push(end),
    run: () => (running ??= runAll()),
  }
}
