import { isAbsolute, resolve } from 'node:path'

/** An address as it is, but for the path of a unix socket. */
export function absoluteAddress(address: string, base: string): string {
  const path = /^unix:(?:\/\/)?(.*)$/s.exec(address)?.[1]
  return path === undefined || isAbsolute(path) ? address : `unix:${resolve(base, path)}`
}
