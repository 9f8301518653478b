/** Keeps TCP on streams out of black holes: on a path that grew narrow, and whose routers do not say so. */
import { fromNative } from './errors.ts'
import { loadAddon } from './native.ts'

/**
 * Bounds the segments of a TCP socket (TCP_MAXSEG), by its file descriptor: those that it sends and those that it is sent.
 * It has to be done before the socket connects; with a listening socket it holds for those that it accepts from then on.
 *
 * @param addon the addon's file, where it is not in its platform package
 * @throws MeshError `engine.no_addon`; `engine.system`, for a descriptor that is no TCP socket
 */
export function capSegments(descriptor: number, bytes: number, addon?: string): void {
  const library = loadAddon(addon)
  try {
    library.capSegments(descriptor, bytes)
  } catch (error) {
    throw fromNative(error)
  }
}

/**
 * Lets routers fragment the IPv4 packets of a TCP socket, by its file descriptor, where a path is narrower than its segments. So no
 * packet is lost at silent routers. Set on a listening socket, it holds for the sockets that it accepts.
 *
 * @param addon the addon's file, where it is not in its platform package
 * @throws MeshError `engine.no_addon`; `engine.system`, for a descriptor that is no socket
 */
export function allowFragments(descriptor: number, addon?: string): void {
  const library = loadAddon(addon)
  try {
    library.allowFragments(descriptor)
  } catch (error) {
    throw fromNative(error)
  }
}
