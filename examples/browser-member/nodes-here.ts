/** Gives the WebSocket addresses of the node that served this page; none where no node did. */
export async function nodesHere(): Promise<readonly string[]> {
  try {
    const answer = await fetch(new URL('join/nodes.json', baseOf(location.href)))
    const { Nodes: nodes } = (await answer.json()) as { readonly Nodes: readonly string[] }
    // a browser lets a page over HTTPS connect to nothing else
    return location.protocol === 'https:' ? nodes.filter((node) => node.includes('/wss/')) : nodes
  } catch {
    return []
  }
}

/** The folder in which `join` is, whether the page was asked for as `join` or as `join/`. */
const baseOf = (page: string) => new URL(page.replace(/\/join\/?(?:[?#].*)?$/, '/'))
