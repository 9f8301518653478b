import { MeshError, type MeshErrorInit } from '@mesh/core'

/** Codes of the `MeshError`s that this package throws. */
export type ServicesErrorCode =
  /** A name that cannot be announced: empty, too long, or with control characters. */
  | 'services.bad_name'
  /** A target or listen address that is none. */
  | 'services.bad_address'

export function servicesError(
  code: ServicesErrorCode,
  message: string,
  init: MeshErrorInit = {},
): MeshError<ServicesErrorCode> {
  return new MeshError(code, message, init)
}
