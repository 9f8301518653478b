import type { ReceiveState } from '@mesh/services'

/** Shows a transfer that flows, in the API and with `--json`. */
export function receivingView(state: Extract<ReceiveState, { readonly type: 'receiving' }>) {
  const { provider, path = null, transport = null, fileCount, bytes, totalBytes = null, rate, leftMs } = state
  return {
    Provider: provider,
    Path: path,
    Transport: transport,
    Files: fileCount,
    Bytes: bytes,
    TotalBytes: totalBytes,
    Rate: Math.round(rate),
    LeftMs: leftMs === undefined ? null : Math.round(leftMs),
  }
}
