/**
 * Calls of the system for this process's sockets and memory that Node does not have. Each takes the addon's file last, where it is not
 * in its platform package, and throws MeshError `engine.no_addon` without one.
 */
import { fromNative } from './errors.ts'
import { loadAddon, type NativeAddon } from './native.ts'

/**
 * Sets the routing mark (SO_MARK) of a socket, by its file descriptor, so that its packets can go past routes into the VPN; it needs
 * CAP_NET_ADMIN. With a listening socket those that it accepts from then on have the mark as well. The source address of a
 * TCP connection is chosen when it is begun, so its socket must be marked before.
 *
 * @throws MeshError `engine.system`, for a descriptor that is no socket, and without the privilege
 */
export function markSocket(descriptor: number, mark: number, addon?: string): void {
  call(addon, (library) => library.markSocket(descriptor, mark))
}

/**
 * Bounds the segments of a TCP socket (TCP_MAXSEG), by its file descriptor: those that it sends and those that it is sent.
 * It has to be done before the socket connects; with a listening socket it holds for those that it accepts from then on.
 *
 * @throws MeshError `engine.system`, for a descriptor that is no TCP socket
 */
export function capSegments(descriptor: number, bytes: number, addon?: string): void {
  call(addon, (library) => library.capSegments(descriptor, bytes))
}

/**
 * Lets routers fragment the IPv4 packets of a TCP socket, by its file descriptor, where a path is narrower than its segments. So no
 * packet is lost at silent routers. Set on a listening socket, it holds for the sockets that it accepts.
 *
 * @throws MeshError `engine.system`, for a descriptor that is no socket
 */
export function allowFragments(descriptor: number, addon?: string): void {
  call(addon, (library) => library.allowFragments(descriptor))
}

/**
 * Gives freed memory of the C library back to the system. Buffers that come and go in numbers leave gaps of 100 MB and more. Takes
 * some ms. True when there was something; never where the C library has no such call.
 */
export function trimMemory(addon?: string): boolean {
  return call(addon, (library) => library.trimMemory())
}

function call<T>(addon: string | undefined, what: (library: NativeAddon) => T): T {
  const library = loadAddon(addon)
  try {
    return what(library)
  } catch (error) {
    throw fromNative(error)
  }
}
