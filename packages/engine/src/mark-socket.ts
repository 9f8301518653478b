/** Marks sockets of this process that are not the engine's own, so that their packets can go past routes into the VPN. */
import { fromNative } from './errors.ts'
import { loadAddon } from './native.ts'

/**
 * Sets the routing mark (SO_MARK) of a socket, by its file descriptor; it needs CAP_NET_ADMIN. With a listening socket
 * those that it accepts from then on have the mark as well. The source address of a TCP connection is chosen when it is
 * begun, so its socket must be marked before.
 *
 * @param addon the addon's file, where it is not in its platform package
 * @throws MeshError `engine.no_addon`; `engine.system`, for a descriptor that is no socket, and without the privilege
 */
export function markSocket(descriptor: number, mark: number, addon?: string): void {
  const library = loadAddon(addon)
  try {
    library.markSocket(descriptor, mark)
  } catch (error) {
    throw fromNative(error)
  }
}
