/**
 * Answers with the addresses of before when the system cannot tell those of this machine.
 *
 * @library Node.js 26.10, @libp2p/utils 7.4.1
 * @wraps `os.networkInterfaces`
 * @without The process ends when it has no file descriptor left: the function then throws, and libp2p calls it out of events.
 * @shown `upstream/node/machine-addresses.test.ts`
 */
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'

let isWrapped = false

/** Lets `networkInterfaces` throw in this process only where it never had an answer. */
export function rememberMachineAddresses(): void {
  if (isWrapped) return
  isWrapped = true
  const ask = os.networkInterfaces
  let last: ReturnType<typeof ask> | undefined
  os.networkInterfaces = () => {
    try {
      last = ask()
    } catch (error) {
      if (last === undefined) throw error
    }
    // callers may change the answer
    return structuredClone(last)
  }
  // for modules that import it by name
  syncBuiltinESMExports()
}
