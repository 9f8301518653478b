/** Undoes what must be undone when a node stops, in the reverse order of its making. */
export interface Ends {
  add(end: () => unknown): void
  /** Runs every end, also when one fails; then throws the first failure. Idempotent. */
  run(): Promise<void>
}

export function createEnds(): Ends {
  const ends: (() => unknown)[] = []
  let running: Promise<void> | undefined
  const runAll = async () => {
    const failures: unknown[] = []
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
      try {
        await end()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
  return {
    add: (end) => void ends.push(end),
    run: () => (running ??= runAll()),
  }
}
