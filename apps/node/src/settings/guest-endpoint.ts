/** Where a guest finds the node: a host name or address, with or without a port. */
import { tryParseIp } from '@mesh/core'

const HOST = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*\.?$/i

/** @returns what would have been right */
export function checkGuestEndpoint(text: string): string | undefined {
  const [, inBrackets, bare = '', port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(text) ?? []
  const isHost =
    inBrackets === undefined
      ? HOST.test(bare)
      : inBrackets.includes(':') && tryParseIp(inBrackets) !== undefined
  const isPort = port === undefined || (Number(port) > 0 && Number(port) <= 65_535)
  if ((isHost && isPort) || (text.includes(':') && tryParseIp(text) !== undefined)) return undefined
  return 'HOST or HOST:PORT, like vpn.example.org, 203.0.113.7:51820 or [2001:db8::7]:51820'
}
