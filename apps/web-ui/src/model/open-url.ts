/** Addresses on this machine that a browser may open. */

const HTTPS_PORTS: readonly string[] = ['443', '8443']
const ANY_ADDRESS: Readonly<Record<string, string>> = {
  '0.0.0.0': '127.0.0.1',
  '[::]': '[::1]',
  '': '127.0.0.1',
}
const HOST_AND_PORT = /^(localhost|[\d.]*|\[[\da-f:.]+\]):(\d{1,5})$/i

/**
 * The URL of a TCP address where a connection listens; undefined for UDP, unix sockets, names of other machines and a
 * port that is not known yet.
 */
export function openUrl(listen: string): string | undefined {
  const [, host = '', port = ''] = HOST_AND_PORT.exec(listen.trim().replace(/^tcp:/, '')) ?? []
  if (port === '' || Number(port) === 0) return undefined
  const scheme = HTTPS_PORTS.includes(port) ? 'https' : 'http'
  const url = `${scheme}://${ANY_ADDRESS[host] ?? host}:${port}/`
  return URL.canParse(url) ? url : undefined
}
