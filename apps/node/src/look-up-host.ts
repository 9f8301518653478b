/**
 * Looks up a host name as this machine does, in a process of its own. The system's resolver takes half a minute without a DNS server,
 * cannot be stopped, and keeps its process from ending.
 */
import { execFile } from 'node:child_process'
import { isIP } from 'node:net'
import { isSea } from 'node:sea'

/** Prints the error's code, or nothing. Needs Node as a program. */
const LOOK_UP =
  "require('node:dns').lookup(process.argv[1], (error) => process.stdout.write(error === null ? '' : error.code))"

/** The exit status of getent for a name without an address. */
const GETENT_NOT_FOUND = 2

/**
 * Resolves when the host has an address; rejects when it has none, or when nobody has answered for so many ms. IP addresses
 * and names of this machine itself are asked of nobody.
 */
export function lookUpHost(host: string, timeoutMs: number): Promise<void> {
  const name = host.replace(/^\[(.*)\]$/, '$1')
  if (isIP(name) !== 0 || /(^|\.)localhost$/.test(name)) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const init = { timeout: timeoutMs, killSignal: 'SIGKILL' } as const
    // one executable is no Node, and runs only where there is glibc with its getent
    const [program, args] = isSea()
      ? (['getent', ['ahosts', name]] as const)
      : ([process.execPath, ['-e', LOOK_UP, '--', name]] as const)
    execFile(program, args, init, (error, printed) => {
      const reason = isSea() ? (error?.code === GETENT_NOT_FOUND ? 'getent' : '') : printed
      if (error?.killed === true) {
        reject(new Error(`nobody told within ${timeoutMs / 1_000} s which address ${name} has`))
      } else if (reason !== '') reject(new Error(`no address of ${name} was found (${reason})`))
      // a process that could not be made says nothing about the name
      else resolve()
    })
  })
}
