/** The text of resolv.conf: pure. */

const MARK = '# Made by mesh: this machine asks its private network first. Taken back when mesh ends.'
/** The most name servers that the C library reads. */
const MAX_NAME_SERVERS = 3

export function nameServersOf(text: string): readonly string[] {
  return [...text.matchAll(/^[ \t]*nameserver[ \t]+(\S+)/gm)].map(([, address = '']) => address)
}

export function isMarked(text: string): boolean {
  return text.startsWith(MARK)
}

/** Ours before the servers that were there, which answer when this node does not; all else stays. */
export function withNameServer(original: string, address: string): string {
  const others = nameServersOf(original).filter((each) => each !== address)
  const servers = [address, ...others].slice(0, MAX_NAME_SERVERS)
  const rest = original.split('\n').filter((line) => !/^[ \t]*nameserver[ \t]/.test(line))
  return [MARK, ...servers.map((each) => `nameserver ${each}`), ...rest].join('\n').trimEnd().concat('\n')
}
