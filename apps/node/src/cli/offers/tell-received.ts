/** Tells people and programs how a transfer ended. */
import { printable } from '@mesh/core'
import type { LeftOut, ReceivedFile } from '@mesh/services'
import { EXIT } from '../../errors.ts'
import { printableJson } from '../../words/printable.ts'
import type { Call } from '../command.ts'
import { formatBytes } from '../../words/format-quantity.ts'

/** Tells a person who ended a transfer before it was complete. */
export const KEPT_NOTE = 'What has come is kept; the same command goes on with it.'

/** Prints where the share stands and what did not arrive. @returns the exit code */
export function tellReceived(
  name: string,
  received: ReceivedFile,
  { call, tookMs }: { readonly call: Call; readonly tookMs: number },
): number {
  const { leftOut } = received
  call.out(call.settings.json ? formatJson(name, received) : formatReceived(name, received, tookMs))
  if (!call.settings.json) noteLeftOut(call, leftOut, 'did not arrive')
  return leftOut.count === 0 ? EXIT.ok.code : EXIT.incomplete.code
}

/** Names the entries of a share that are left out; nothing where there are none. */
export function noteLeftOut(call: Call, { count, names }: LeftOut, what: string): void {
  if (count === 0) return
  call.note(`${count} ${count === 1 ? 'entry' : 'entries'} ${what}:`)
  for (const name of names) call.note(`  ${printable(name)}`)
  if (count > names.length) call.note(`  and ${count - names.length} more`)
}

function formatReceived(name: string, { path, bytes, isVerified }: ReceivedFile, tookMs: number): string {
  const rate = tookMs > 0 ? `, ${formatBytes(Math.round((bytes / tookMs) * 1_000))}/s` : ''
  const verified = isVerified ? 'verified' : 'not verified: the sender is EdgeVPN-compatible and says no hash'
  return `${printable(`${name}: ${path} (${formatBytes(bytes)}${rate}, ${verified})`)}\n`
}

function formatJson(name: string, { path, bytes, isVerified, provider, leftOut }: ReceivedFile): string {
  return printableJson({
    Name: name,
    State: 'received',
    Path: path,
    Bytes: bytes,
    Verified: isVerified,
    LeftOut: leftOut.count,
    LeftOutNames: leftOut.names,
    Provider: provider,
  })
}
