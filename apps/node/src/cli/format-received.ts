/** How a transfer ended, for people and for programs. */
import { printable } from '@mesh/core'
import type { ReceivedFile } from '@mesh/services'
import { printableJson } from '../log/printable.ts'
import { formatBytes } from './format-quantity.ts'

/** Tells a person who ended a transfer before it was complete. */
export const KEPT_NOTE = 'What has come is kept; the same command goes on with it.'

export function formatReceived(
  name: string,
  { path, bytes, isVerified }: ReceivedFile,
  tookMs: number,
): string {
  const rate = tookMs > 0 ? `, ${formatBytes(Math.round((bytes / tookMs) * 1_000))}/s` : ''
  const verified = isVerified ? 'verified' : 'not verified: the sender is EdgeVPN-compatible and says no hash'
  return `${printable(`${name}: ${path} (${formatBytes(bytes)}${rate}, ${verified})`)}\n`
}

export function formatReceivedJson(
  name: string,
  { path, bytes, isVerified, provider }: ReceivedFile,
): string {
  return printableJson({
    Name: name,
    State: 'received',
    Path: path,
    Bytes: bytes,
    Verified: isVerified,
    Provider: provider,
  })
}
