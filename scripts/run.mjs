/** Runs a program to its end with this terminal, and says from time to time that it still does. */
import { spawn } from 'node:child_process'

const STILL_BUSY_EVERY_MS = 20_000

/**
 * @param stillBusy a remark for people, printed every 20 s with the time that has passed; none without
 * @returns the exit code, null when a signal ended it; or why it could not run
 */
export function run(command, args, { cwd, env, stillBusy }) {
  const child = spawn(command, args, { cwd, env, stdio: 'inherit', shell: process.platform === 'win32' })
  const began = Date.now()
  const remark = () => console.log(`  ... ${stillBusy} (${Math.round((Date.now() - began) / 1000)} s)`)
  const timer = stillBusy === undefined ? undefined : setInterval(remark, STILL_BUSY_EVERY_MS)
  return new Promise((resolve) => {
    const end = (outcome) => {
      clearInterval(timer)
      resolve(outcome)
    }
    child.once('error', (error) => end({ status: 1, error }))
    child.once('exit', (status) => end({ status }))
  })
}
