import { useHasAccess } from '../data/admission.ts'
import { SECTIONS, type Section } from './sections.ts'

/** The sections that this node has: without a peer gate and administrators there is no access to decide on. */
export function useSections(): readonly Section[] {
  const hasAccess = useHasAccess()
  return SECTIONS.filter(({ path }) => path !== '/access' || hasAccess === true)
}
