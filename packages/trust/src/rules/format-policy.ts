/** Writes a policy as YAML, one line for each rule and test, as people write it. */
import { Document, isMap, isSeq, type Node, visit } from 'yaml'
import type { Policy } from './policy-schema.ts'

/** @param comment lines that stand before the policy, without the # */
export function formatPolicy(policy: Policy, comment = ''): string {
  const { default: fallback, groups, tags, allow, tests } = policy
  const document = new Document({
    default: fallback,
    ...(Object.keys(groups).length > 0 && { groups }),
    ...(Object.keys(tags).length > 0 && { tags }),
    allow,
    ...(tests.length > 0 && { tests }),
  })
  if (comment !== '') document.commentBefore = comment.replaceAll(/^/gm, ' ')
  visit(document, {
    Collection: (_, node, path) => {
      if (isFlow(node, path.length)) node.flow = true
    },
  })
  return document.toString({ lineWidth: 0, flowCollectionPadding: true })
}

/** Rules, tests and lists of members stand on one line. */
function isFlow(node: Node, depth: number): boolean {
  return (isMap(node) && depth > 3) || (isSeq(node) && (depth > 3 || node.items.length === 0))
}
