export {
  encodeToken,
  formatNetworkConfig,
  generateNetworkConfig,
  type NetworkConfig,
  networkId,
  parseNetworkConfig,
  parseToken,
} from './network-config.ts'
