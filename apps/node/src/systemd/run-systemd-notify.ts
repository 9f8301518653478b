import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** How long the helper may take, in ms. */
const SEND_MS = 5_000

/** Sends assignments to the service manager by `systemd-notify`. Rejects when it is not there, or fails. */
export async function runSystemdNotify(assignments: readonly string[]): Promise<void> {
  await promisify(execFile)('systemd-notify', [...assignments], { timeout: SEND_MS })
}
