import type { Connection } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { apartFromRelayed, pickNeighbours } from './overlay.ts'

type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** The links that result when each node knows the peers that `knows` says. */
function link(nodes: readonly string[], topic: string, knows = (_a: string, _b: string) => true): Graph {
  const graph = new Map(nodes.map((node) => [node, new Set<string>()]))
  for (const node of nodes) {
    const peers = nodes.filter((peer) => peer !== node && knows(node, peer))
    for (const peer of pickNeighbours(node, peers, topic)) {
      graph.get(node)?.add(peer)
      graph.get(peer)?.add(node)
    }
  }
  return graph
}

/** Steps from one node to the farthest; Infinity when some are out of reach. */
function reach(graph: Graph, from: string): number {
  const seen = new Set([from])
  let edge = [from]
  let steps = 0
  while (edge.length > 0) {
    edge = edge
      .flatMap((node) => [...(graph.get(node) ?? [])])
      .filter((node) => !seen.has(node) && seen.add(node))
    if (edge.length > 0) steps++
  }
  return seen.size === graph.size ? steps : Number.POSITIVE_INFINITY
}

const named = (count: number) => Array.from({ length: count }, (_, index) => `peer-${index}`)

test('members who all see each other are in one piece with three links each, whatever the topic', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 60 }), fc.string(), (count, topic) => {
      const graph = link(named(count), topic)
      expect(reach(graph, 'peer-0')).toBeLessThan(count)
      for (const links of graph.values()) expect(links.size).toBeLessThanOrEqual(count <= 4 ? 3 : 4)
    }),
  )
})

test('any two of a hundred are a few steps apart, and each link serves', () => {
  const nodes = named(100)
  for (const topic of ['a', 'b', 'c', 'd', 'e']) {
    const graph = link(nodes, topic)
    expect(Math.max(...nodes.map((node) => reach(graph, node)))).toBeLessThanOrEqual(12)
    const links = [...graph.values()].reduce((sum, { size }) => sum + size, 0)
    expect(links / nodes.length).toBeLessThanOrEqual(3)
  }
})

test('still in one piece when any one member is gone', () => {
  const nodes = named(20)
  const graph = link(nodes, 'topic')
  for (const gone of nodes) {
    const rest = new Map(
      [...graph]
        .filter(([node]) => node !== gone)
        .map(([node, links]) => [node, links.difference(new Set([gone]))]),
    )
    expect(reach(rest, nodes.find((node) => node !== gone) ?? '')).toBeLessThan(20)
  }
})

describe('who sees only some', () => {
  test('every leaf of a star links to its hub', () => {
    const knows = (a: string, b: string) => a === 'peer-0' || b === 'peer-0'
    const graph = link(named(50), 'topic', knows)
    expect(graph.get('peer-0')?.size).toBe(49)
  })

  test('a row is a row', () => {
    const index = (peer: string) => Number(peer.slice(5))
    const graph = link(named(30), 'topic', (a, b) => Math.abs(index(a) - index(b)) === 1)
    expect(reach(graph, 'peer-0')).toBe(29)
  })
})

describe('peers that a relay joins', () => {
  const [hub, leaf, other] = [
    '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB',
    '12D3KooWCd3eX8r5ihRvzK7P1yPq5aakaBJhG5GNj18YTztPhoCa',
    '12D3KooWSYUuj65TpeQAr1TSNLZw9wvF1sgJzEY6bgmEsfBV3wjy',
  ] as const
  const connection = (peer: string, address: string, status = 'open') =>
    ({
      remotePeer: { toString: () => peer },
      remoteAddr: multiaddr(address),
      direct: !address.endsWith(`p2p-circuit/p2p/${peer}`),
      status,
    }) as unknown as Connection
  const toHub = connection(hub, `/ip4/192.0.2.1/tcp/4001/p2p/${hub}`)
  const overHub = connection(leaf, `/ip4/192.0.2.1/tcp/4001/p2p/${hub}/p2p-circuit/p2p/${leaf}`)

  test('are left out when the relay is on the topic and connected', () => {
    expect(apartFromRelayed([hub, leaf], [overHub, toHub])).toEqual([hub])
  })

  test('stay when the relay is not on the topic, or not connected', () => {
    expect(apartFromRelayed([leaf], [toHub, overHub])).toEqual([leaf])
    expect(apartFromRelayed([hub, leaf], [overHub])).toEqual([hub, leaf])
    const closed = connection(hub, `/ip4/192.0.2.1/tcp/4001/p2p/${hub}`, 'closed')
    expect(apartFromRelayed([hub, leaf], [closed, overHub])).toEqual([hub, leaf])
  })

  test('stay when they are connected directly too, also by WebRTC that a relay signalled', () => {
    const direct = connection(leaf, `/ip4/192.0.2.1/tcp/4001/p2p/${hub}/p2p-circuit/webrtc/p2p/${leaf}`)
    expect(apartFromRelayed([hub, leaf, other], [toHub, overHub, direct])).toEqual([hub, leaf, other])
  })
})
