/** The words of `from:` and `to:`: members, groups, tags, guests, routes, `exit` and `*`. */
import { type Cidr, parseCidr, tryParseAddressInRange } from '@mesh/core'

/** One word of `from:` or `to:`. A member is named by its peer id, or in a policy that is not signed yet by its name. */
export type Term =
  | { readonly kind: 'any' }
  | { readonly kind: 'member'; readonly member: string }
  | { readonly kind: 'group'; readonly name: string }
  | { readonly kind: 'tag'; readonly name: string }
  | { readonly kind: 'guest'; readonly name: string; readonly member: string }
  | { readonly kind: 'route'; readonly range: Cidr }
  | { readonly kind: 'exit' }

/** The forms of a word of `from:`, for messages. */
export const SOURCE_FORMS =
  '*, a member (name or peer id), group:NAME, tag:NAME, guest:NAME@MEMBER or route:RANGE'
/** The forms of a word of `to:`, for messages. */
export const TARGET_FORMS = `${SOURCE_FORMS.replace(' or route:RANGE', ', route:RANGE')} or exit`

const LABEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/

/** True for a name that a group, tag, guest or service can have in a policy. */
export function isPolicyName(text: string): boolean {
  return LABEL.test(text)
}

/** Undefined for a text that has none of the forms. */
export function parseTerm(text: string): Term | undefined {
  if (text === '*') return { kind: 'any' }
  if (text === 'exit') return { kind: 'exit' }
  const colon = text.indexOf(':')
  if (colon === -1) return LABEL.test(text) ? { kind: 'member', member: text } : undefined
  const rest = text.slice(colon + 1)
  switch (text.slice(0, colon)) {
    case 'group':
      return LABEL.test(rest) ? { kind: 'group', name: rest } : undefined
    case 'tag':
      return LABEL.test(rest) ? { kind: 'tag', name: rest } : undefined
    case 'guest':
      return parseGuest(rest)
    case 'route':
      return tryParseAddressInRange(rest) && { kind: 'route', range: parseCidr(rest) }
    default:
      return undefined
  }
}

/** The opposite of `parseTerm`. */
export function formatTerm(term: Term): string {
  switch (term.kind) {
    case 'any':
      return '*'
    case 'exit':
      return 'exit'
    case 'member':
      return term.member
    case 'group':
    case 'tag':
      return `${term.kind}:${term.name}`
    case 'guest':
      return `guest:${term.name}@${term.member}`
    case 'route':
      return `route:${term.range}`
  }
}

function parseGuest(text: string): Term | undefined {
  const at = text.lastIndexOf('@')
  const [name, member] = [text.slice(0, at), text.slice(at + 1)]
  return at > 0 && LABEL.test(name) && LABEL.test(member) ? { kind: 'guest', name, member } : undefined
}
