/** Ranges within ranges, without comparing each with each. */
import { type Cidr, type IpAddress, parseCidr } from '@mesh/core'

interface Parts {
  readonly network: string
  readonly length: number
}

/** True when every address of the inner range is in the outer one. */
export function rangeContains(outer: Cidr, inner: Cidr): boolean {
  const [wide, narrow] = [partsOf(outer), partsOf(inner)]
  const isSameFamily = wide.network.includes(':') === narrow.network.includes(':')
  return isSameFamily && narrow.length >= wide.length && shorten(inner, wide.length) === outer
}

/** The range of just this address. */
export function rangeOf(address: IpAddress): Cidr {
  return `${address}/${address.includes(':') ? 128 : 32}` as Cidr
}

/** Finds those of some ranges that contain another one. */
export function createRangeIndex(ranges: Iterable<Cidr>): { containing(inner: Cidr): readonly Cidr[] } {
  const known = new Set(ranges)
  const lengths = [...new Set([...known].map((range) => partsOf(range).length))]
  return {
    containing: (inner) => {
      const { length } = partsOf(inner)
      const outer = lengths.filter((each) => each <= length).map((each) => shorten(inner, each))
      return outer.filter((range) => known.has(range))
    },
  }
}

function shorten(range: Cidr, length: number): Cidr {
  return parseCidr(`${partsOf(range).network}/${length}`)
}

function partsOf(range: Cidr): Parts {
  const slash = range.lastIndexOf('/')
  return { network: range.slice(0, slash), length: Number(range.slice(slash + 1)) }
}
