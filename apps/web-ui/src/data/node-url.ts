/**
 * Where the node answers that served this page, without a slash at the end: its origin, or a path of a reverse proxy, such
 * as `https://example.org/mesh`. The built script lies in `assets` there.
 */
export const nodeUrl: string = /^(https?:.*)\/assets\/[^/]+$/.exec(import.meta.url)?.[1] ?? location.origin
