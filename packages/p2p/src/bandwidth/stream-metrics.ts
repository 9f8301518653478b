/**
 * The metrics port of libp2p, of which only stream tracking is used. Counting wraps `send` and
 * `dispatchEvent`: a listener of our own for 'message' would take the first frames away from the protocol's
 * handler.
 */
import type { Connection, Metrics, Stream } from '@libp2p/interface'
import type { BandwidthCounter } from './bandwidth.ts'

interface StreamMetricsInit {
  /** All open connections, to find whose stream one is. */
  readonly connections: () => readonly Connection[]
}

export function createStreamMetrics(
  bandwidth: BandwidthCounter,
  { connections }: StreamMetricsInit,
): Metrics {
  const value = { update() {}, increment() {}, decrement() {}, reset() {}, timer: () => () => {} }
  const group = { ...value, timer: () => () => {} }
  const observed = { observe() {}, reset() {}, timer: () => () => {} }
  return {
    trackMultiaddrConnection() {},
    trackProtocolStream: (stream) => count(stream, bandwidth, connections),
    registerMetric: () => value,
    registerMetricGroup: () => group,
    registerCounter: () => value,
    registerCounterGroup: () => group,
    registerHistogram: () => observed,
    registerHistogramGroup: () => observed,
    registerSummary: () => observed,
    registerSummaryGroup: () => observed,
    traceFunction: <F>(_name: string, fn: F) => fn,
    createTrace: () => undefined,
  }
}

function count(stream: Stream, bandwidth: BandwidthCounter, connections: () => readonly Connection[]): void {
  const owner = connections().find((connection) => connection.streams.includes(stream))
  const meter = bandwidth.meter({
    protocol: stream.protocol,
    peer: owner?.remotePeer.toString(),
    relayed: owner?.direct === false,
  })
  const send = stream.send.bind(stream)
  stream.send = (bytes) => {
    meter.add(0, bytes.byteLength)
    return send(bytes)
  }
  watchMessages(stream, (bytes) => meter.add(bytes, 0))
}

function watchMessages(source: Pick<EventTarget, 'dispatchEvent'>, onBytes: (bytes: number) => void): void {
  const dispatch = source.dispatchEvent.bind(source)
  source.dispatchEvent = (event: Event) => {
    if (event.type === 'message' && 'data' in event) onBytes(byteLength(event.data))
    return dispatch(event)
  }
}

function byteLength(value: unknown): number {
  if (typeof value !== 'object' || value === null || !('byteLength' in value)) return 0
  return typeof value.byteLength === 'number' ? value.byteLength : 0
}
