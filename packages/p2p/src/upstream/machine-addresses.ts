/**
 * Answers for the addresses of this machine with those of before where the system does not tell them: to ask it takes a file
 * descriptor, and Node throws where there is none. Version 7.4.1 of @libp2p/utils asks in `getThinWaistAddresses`, whenever a
 * transport is asked for its addresses, mostly out of events, so that a process with no descriptor left would end.
 * Report to send: 'getThinWaistAddresses throws when os.networkInterfaces() does (EMFILE)'.
 *
 * Wraps a function of Node, once for a process. Without it `machine-addresses.test.ts` fails.
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
    // callers may change what they get
    return structuredClone(last)
  }
  // for those who import it by name
  syncBuiltinESMExports()
}
