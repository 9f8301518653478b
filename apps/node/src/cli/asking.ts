/** Commands that ask the running node one thing, and print the answer. */
import type { ApiClient } from '@mesh/api-client'
import { printableJson } from '../words/printable.ts'
import type { Call, Run } from './command.ts'
import { findNode } from './find-node.ts'

/** @param format for people; with `--json` the answer is printed as it is */
export function asking<View>(
  ask: (client: ApiClient, call: Call) => Promise<View>,
  format: (view: View, call: Call) => string,
  { indent }: { readonly indent?: number } = { indent: 2 },
): Run {
  return async (call) => {
    const view = await ask(await findNode(call), call)
    call.out(call.settings.json ? printableJson(view, indent) : format(view, call))
    return 0
  }
}
