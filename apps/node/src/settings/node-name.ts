/** Finds the name of this node, for the people who see it beside others. */
import { hostname } from 'node:os'
import type { Settings } from './options.ts'

const MAX_NAME_LENGTH = 63

/** The name in force: `--name`, or the one that comes nearest to the host's. */
export function nameInForce({ name }: Pick<Settings, 'name'>): string {
  return name ?? nodeNameOf(hostname())
}

/**
 * The node name that comes nearest to a host's name: its first label, with hyphens in place of what a name may not
 * have. `node` where nothing is left of it.
 */
export function nodeNameOf(host: string): string {
  const [label = ''] = host.split('.')
  const plain = label.replaceAll(/[^A-Za-z0-9-]+/g, '-').replaceAll(/^-+/g, '')
  return plain.slice(0, MAX_NAME_LENGTH).replace(/-+$/, '') || 'node'
}
