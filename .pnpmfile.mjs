/** What only this workspace can use stays out of the tarballs: private packages, and scripts that need them. */
export const hooks = {
  beforePacking(manifest) {
    const { devDependencies: _private, scripts: _ours, ...published } = manifest
    return published
  },
}
