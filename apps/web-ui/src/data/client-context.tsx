import type { ApiClient } from '@mesh/api-client'
import { createContext, use } from 'react'

const ClientContext = createContext<ApiClient | undefined>(undefined)

export const ClientProvider = ClientContext

export function useClient(): ApiClient {
  const client = use(ClientContext)
  if (client === undefined) throw new Error('outside of ClientProvider')
  return client
}
