import { createContext, use } from 'react'
import type { Session } from './session.ts'

const SessionContext = createContext<Session | undefined>(undefined)

export const SessionProvider = SessionContext

/** The tab's token; undefined where the page is used without a session. */
export function useSession(): Session | undefined {
  return use(SessionContext)
}
