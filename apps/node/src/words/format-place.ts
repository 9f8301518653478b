/** Prints a place as people write it: `127.0.0.1:53`, `[::1]:53`. */
export function formatPlace(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
