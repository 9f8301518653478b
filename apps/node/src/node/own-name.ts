/** What people call this node, in one place. */
import { hostname } from 'node:os'

/** The host's name. */
export function ownName(): string {
  return hostname()
}
