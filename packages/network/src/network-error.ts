/** Codes of the `MeshError`s that `@mesh/network` throws. */
export type NetworkErrorCode = 'network.bad_config' | 'network.bad_token'
