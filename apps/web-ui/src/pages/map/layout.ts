/**
 * Finds places for the nodes of the map: linked nodes are near each other, others keep their distance. Nodes keep their
 * places when others come and go; a new one starts beside a neighbour.
 */
import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from 'd3-force'

export interface LayoutInput {
  readonly ids: readonly string[]
  /** Pairs of indexes of ids. */
  readonly links: Uint32Array
  /** Width of the picture for a height of 1. */
  readonly aspect: number
}

export interface Layout {
  /** Replaces nodes and links. */
  set(input: LayoutInput): void
  /** Moves the nodes one step; false: they stand. */
  step(): boolean
  /** Gives x and y of each node, in the order of the ids. */
  places(): Float32Array
}

interface Node extends SimulationNodeDatum {
  readonly id: string
}

/** The number of steps from the start to the end of the motion. */
const STEPS = 160
const MIN_ALPHA = 0.005
/** The motion that a few changes cause. */
const WARM_ALPHA = 0.25
const LINK_LENGTH = 120
const CHARGE = -520
/** Farther apart than this, nodes do not push each other. */
const CHARGE_REACH = 1_200
/** Nodes nearer than this push each other no more: they would fly away. */
const MIN_DISTANCE = 30
const NODE_RADIUS = 38
const GRAVITY = 0.035

export function createLayout(): Layout {
  let nodes: Node[] = []
  const links = forceLink<Node, SimulationLinkDatum<Node>>().distance(LINK_LENGTH)
  const across = forceX<Node>()
  const down = forceY<Node>()
  const simulation = forceSimulation<Node>()
    .stop()
    .alphaMin(MIN_ALPHA)
    .alphaDecay(1 - MIN_ALPHA ** (1 / STEPS))
    .force(
      'charge',
      forceManyBody<Node>().strength(CHARGE).distanceMin(MIN_DISTANCE).distanceMax(CHARGE_REACH).theta(1.1),
    )
    .force('collide', forceCollide<Node>(NODE_RADIUS).iterations(1))
    .force('x', across)
    .force('y', down)
    .force('link', links)
  return {
    set(input) {
      const known = new Map(nodes.map((node) => [node.id, node]))
      const kept = input.ids.filter((id) => known.has(id)).length
      nodes = input.ids.map((id) => known.get(id) ?? { id })
      const pairs = pairsOf(input.links, nodes)
      placeBesideNeighbours(pairs)
      across.strength(GRAVITY / input.aspect)
      down.strength(GRAVITY * input.aspect)
      simulation.nodes(nodes)
      links.links(pairs.map(([source, target]) => ({ source, target })))
      simulation.alpha(kept * 2 > nodes.length ? WARM_ALPHA : 1)
    },
    step() {
      if (simulation.alpha() < MIN_ALPHA) return false
      simulation.tick()
      return true
    },
    places: () => Float32Array.from(nodes.flatMap(({ x = 0, y = 0 }) => [x, y])),
  }
}

function pairsOf(links: Uint32Array, nodes: readonly Node[]): [Node, Node][] {
  const pairs: [Node, Node][] = []
  for (let at = 0; at + 1 < links.length; at += 2) {
    const [from, to] = [nodes[links[at] ?? -1], nodes[links[at + 1] ?? -1]]
    if (from !== undefined && to !== undefined) pairs.push([from, to])
  }
  return pairs
}

/** A node without a place starts near the first neighbour that has one; several spread like the seeds of a sunflower. */
function placeBesideNeighbours(pairs: readonly (readonly [Node, Node])[]): void {
  let placed = 0
  for (const [from, to] of pairs) {
    const [node, neighbour] = from.x === undefined ? [from, to] : [to, from]
    if (node.x !== undefined || neighbour.x === undefined) continue
    const distance = (LINK_LENGTH / 2) * Math.sqrt(++placed)
    node.x = neighbour.x + distance * Math.cos(placed * GOLDEN_ANGLE)
    node.y = (neighbour.y ?? 0) + distance * Math.sin(placed * GOLDEN_ANGLE)
  }
}

const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5))
