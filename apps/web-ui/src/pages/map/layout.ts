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
  /** The nodes of each site, as indexes of ids: they stand together. */
  readonly sites: readonly Uint32Array[]
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
  /** The index of its site; undefined for none. */
  site?: number | undefined
}

type Site = readonly Node[]
type Link = SimulationLinkDatum<Node> & { readonly source: Node; readonly target: Node }

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
/** Sites push each other far away without more of it. */
const SITES_GRAVITY = 0.12
/** The part of its way to the middle of its site that a node goes in a step, at first. */
const SITE_PULL = 0.5
/** Links out of a site pull this much less than others. */
const OUTER_LINK = 0.02
/** Distances at the start, for the square root of a number of nodes: between nodes of a site, and between sites. */
const NODE_SPREAD = 46
const SITE_SPREAD = 66

export function createLayout(): Layout {
  let nodes: Node[] = []
  const links = forceLink<Node, Link>().distance(LINK_LENGTH)
  const usualStrength = links.strength()
  const together = forceSites()
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
    .force('site', together)
  return {
    set(input) {
      const known = new Map(nodes.map((node) => [node.id, node]))
      const kept = input.ids.filter((id) => known.has(id)).length
      nodes = input.ids.map((id) => known.get(id) ?? { id })
      const pairs = pairsOf(input.links, nodes)
      const sites = input.sites.map((members) => [...members].flatMap((at) => nodes[at] ?? []))
      for (const node of nodes) node.site = undefined
      for (const [at, members] of sites.entries()) for (const node of members) node.site = at
      placeSites(sites)
      placeBesideNeighbours(pairs)
      const gravity = sites.length > 0 ? SITES_GRAVITY : GRAVITY
      across.strength(gravity / input.aspect)
      down.strength(gravity * input.aspect)
      simulation.nodes(nodes)
      together.sites(sites)
      links.strength((link, at, all) => {
        const isOuter = sites.length > 0 && link.source.site !== link.target.site
        return usualStrength(link, at, all) * (isOuter ? OUTER_LINK : 1)
      })
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
    const { x, y } = seedAt(++placed, (LINK_LENGTH / 2) * Math.sqrt(placed))
    node.x = neighbour.x + x
    node.y = (neighbour.y ?? 0) + y
  }
}

/** Nodes without a place start around the middle of their site, and a new site beside those before it. */
function placeSites(sites: readonly Site[]): void {
  let before = 0
  for (const [at, members] of sites.entries()) {
    const known = members.filter(({ x }) => x !== undefined)
    const start = seedAt(at, SITE_SPREAD * Math.sqrt(before + members.length / 2))
    const middle = known.length === 0 ? start : middleOf(known)
    for (const [step, node] of members.filter(({ x }) => x === undefined).entries()) {
      const { x, y } = seedAt(step, NODE_SPREAD * Math.sqrt(known.length + step))
      node.x = middle.x + x
      node.y = middle.y + y
    }
    before += members.length
  }
}

/** The place of the seed with this number in a sunflower. */
function seedAt(number: number, distance: number) {
  return { x: distance * Math.cos(number * GOLDEN_ANGLE), y: distance * Math.sin(number * GOLDEN_ANGLE) }
}

function middleOf(members: Site) {
  const mean = (side: 'x' | 'y') => members.reduce((sum, node) => sum + (node[side] ?? 0), 0) / members.length
  return { x: mean('x'), y: mean('y') }
}

/** Pulls the nodes of a site towards their middle. */
function forceSites() {
  let sites: readonly Site[] = []
  const force = (alpha: number) => {
    for (const members of sites) {
      const middle = middleOf(members)
      for (const node of members) {
        node.vx = (node.vx ?? 0) + (middle.x - (node.x ?? 0)) * SITE_PULL * alpha
        node.vy = (node.vy ?? 0) + (middle.y - (node.y ?? 0)) * SITE_PULL * alpha
      }
    }
  }
  return Object.assign(force, { sites: (next: readonly Site[]) => void (sites = next) })
}

const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5))
