/** Every check, in the order in which people can mend things: the machine, then the node. Pure. */
import { type Check, warn } from './check.ts'
import { checkMachine } from './check-machine.ts'
import { checkNode } from './check-node.ts'
import type { DoctorFacts } from './facts.ts'

export function examine({ machine, node }: DoctorFacts): readonly Check[] {
  if ('missing' in node) {
    return [
      ...checkMachine(machine, undefined),
      warn(
        'node',
        node.missing,
        node.next ?? 'Start one with `mesh`, `mesh api` or `mesh start`: the rest is asked of it.',
      ),
    ]
  }
  return [...checkMachine(machine, node), ...checkNode(machine, node)]
}
