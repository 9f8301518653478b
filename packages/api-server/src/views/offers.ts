/** Views of what this node offers to members and takes of them. */
import type { NodeConnectionView, NodeEgressView, NodeServiceView } from '@mesh/api-contract'
import type { LocalProxy, OfferedConnection, OfferedEgress, OfferedService } from '../offers-port.ts'

export function serviceView(state: OfferedService): NodeServiceView {
  return {
    Name: state.name,
    Target: state.target,
    State: state.state,
    Owner: state.owner ?? null,
    ...trafficView(state),
    LastError: state.lastError ?? null,
    Kept: state.isKept,
  }
}

export function connectionView(state: OfferedConnection): NodeConnectionView {
  return {
    Name: state.name,
    Listen: state.listen,
    State: state.state,
    Provider: state.provider ?? null,
    Path: state.path ?? null,
    Transport: state.transport ?? null,
    ...trafficView(state),
    LastError: state.lastError ?? null,
    Kept: state.isKept,
  }
}

function trafficView({
  openConnections,
  connections,
  bytesIn,
  bytesOut,
}: OfferedService | OfferedConnection | OfferedEgress | LocalProxy) {
  return {
    OpenConnections: openConnections,
    Connections: connections,
    BytesIn: bytesIn,
    BytesOut: bytesOut,
  }
}

export function egressView(
  offered: OfferedEgress | undefined,
  proxy: LocalProxy | undefined,
): NodeEgressView {
  return {
    Offered: offered === undefined ? null : { ...trafficView(offered), Refusals: { ...offered.refusals } },
    Proxy:
      proxy === undefined
        ? null
        : {
            Listen: proxy.listen,
            Egress: proxy.egress ?? null,
            Path: proxy.path ?? null,
            Transport: proxy.transport ?? null,
            ...trafficView(proxy),
            LastError: proxy.lastError ?? null,
          },
  }
}
