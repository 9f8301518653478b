/** Polls until `check` holds; throws after `withinMs`. */
export async function until(check: () => Promise<boolean>, withinMs: number): Promise<void> {
  const end = performance.now() + withinMs
  while (!(await check())) {
    if (performance.now() > end) throw new Error(`not within ${withinMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
