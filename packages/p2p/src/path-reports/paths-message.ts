/**
 * `/mesh/paths/1`: how the sender reaches other members.
 *
 * message Paths { repeated Path paths = 1; uint32 more = 2; }
 * message Path {
 *   string peer = 1; bool relayed = 2; string relay = 3; uint32 round_trip_us = 4; uint64 bytes_per_second = 5;
 * }
 */
import { type PeerId, tryParsePeerId } from '@mesh/core'
import { reader, writer } from 'protons-runtime'
import { MAX_PEER_ID_BYTES } from '../limits.ts'
import { hasShape } from '../message-shape.ts'
import { MAX_TOLD_PATHS } from './limits.ts'
import type { ToldPath, ToldPaths } from './path-report.ts'

const TAGS = {
  path: (1 << 3) | 2,
  more: 2 << 3,
  peer: (1 << 3) | 2,
  relayed: 2 << 3,
  relay: (3 << 3) | 2,
  roundTripUs: 4 << 3,
  bytesPerSecond: 5 << 3,
} as const
/** The greatest number of 32 bits. */
const MAX_UINT32 = 0xffff_ffff
const ID = { maxBytes: MAX_PEER_ID_BYTES }
/** A path has five fields and is one itself; later versions may add as many. */
const BOUNDS = { shape: { 1: { shape: { 1: ID, 3: ID } } }, maxFields: 12 * MAX_TOLD_PATHS }

export function encodePaths({ paths, more }: ToldPaths): Uint8Array {
  const out = writer()
  for (const path of paths) out.uint32(TAGS.path).bytes(encodePath(path))
  if (more > 0) out.uint32(TAGS.more).uint32(more)
  return out.finish()
}

function encodePath({ peer, path, relay, rttMs, bytesPerSecond }: ToldPath): Uint8Array {
  const out = writer().uint32(TAGS.peer).string(peer)
  if (path === 'relayed') out.uint32(TAGS.relayed).bool(true)
  if (relay !== undefined) out.uint32(TAGS.relay).string(relay)
  const roundTripUs = Math.min(MAX_UINT32, Math.round((rttMs ?? 0) * 1_000))
  if (roundTripUs > 0) out.uint32(TAGS.roundTripUs).uint32(roundTripUs)
  const rate = Math.round(bytesPerSecond)
  if (rate > 0) out.uint32(TAGS.bytesPerSecond).uint64Number(rate)
  return out.finish()
}

/** Undefined for what is no report: too many paths, ids of no peer, numbers that cannot be. */
export function decodePaths(bytes: Uint8Array): ToldPaths | undefined {
  if (!hasShape(bytes, BOUNDS)) return undefined
  const paths = new Map<string, ToldPath>()
  let more = 0
  try {
    const input = reader(bytes)
    while (input.pos < input.len) {
      const tag = input.uint32()
      if (tag === TAGS.path) {
        const path = decodePath(input.bytes())
        if (path === undefined || paths.size === MAX_TOLD_PATHS) return undefined
        paths.set(path.peer, path)
      } else if (tag === TAGS.more) more = input.uint32()
      else input.skipType(tag & 7)
    }
  } catch {
    return undefined
  }
  return { paths: [...paths.values()], more }
}

function decodePath(bytes: Uint8Array): ToldPath | undefined {
  let peer: PeerId | undefined
  let relay: PeerId | undefined
  let [isRelayed, namesRelay, roundTripUs, bytesPerSecond] = [false, false, 0, 0]
  const input = reader(bytes)
  while (input.pos < input.len) {
    const tag = input.uint32()
    if (tag === TAGS.peer) peer = tryParsePeerId(input.string())
    else if (tag === TAGS.relayed) isRelayed = input.bool()
    else if (tag === TAGS.relay) [relay, namesRelay] = [tryParsePeerId(input.string()), true]
    else if (tag === TAGS.roundTripUs) roundTripUs = input.uint32()
    else if (tag === TAGS.bytesPerSecond) bytesPerSecond = input.uint64Number()
    else input.skipType(tag & 7)
  }
  const isRelayWrong = namesRelay && (relay === undefined || !isRelayed)
  if (peer === undefined || isRelayWrong || !Number.isSafeInteger(bytesPerSecond)) return undefined
  return {
    peer,
    path: isRelayed ? 'relayed' : 'direct',
    relay,
    rttMs: roundTripUs === 0 ? undefined : roundTripUs / 1_000,
    bytesPerSecond,
  }
}
