/**
 * The text of policies of access rules: YAML or JSON. Apart from `@mesh/trust/rules`, so that a program which only judges needs no
 * parser.
 *
 * @example
 * ```ts
 * import { formatPolicy, readPolicy } from '@mesh/trust/policy-text'
 * console.log(formatPolicy(readPolicy('allow: [{ from: ["*"], to: [web-1], on: [tcp:443] }]')))
 * ```
 */
export { formatPolicy } from './rules/format-policy.ts'
export { readPolicy } from './rules/read-policy.ts'
