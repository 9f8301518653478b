/** Calls `run` when the event loop has handled the input that has come. The returned function cancels. */
export function endOfTurn(run: () => void): () => void {
  // browsers have no setImmediate
  if (typeof setImmediate !== 'function') {
    const timer = setTimeout(run, 0)
    return () => clearTimeout(timer)
  }
  const immediate = setImmediate(run)
  return () => clearImmediate(immediate)
}
