/** Names of nodes, as others are shown them: labels of DNS (RFC 1123), so that each can be a host name too. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/

/** Is this a node's name: 1 to 63 letters, digits and hyphens, with no hyphen at either end? */
export function isNodeName(text: string): boolean {
  return NAME.test(text)
}
