/** The architectures that are packaged, and what each tool calls them. */
export const ARCHITECTURES = {
  x64: {
    rust: 'x86_64-unknown-linux-gnu',
    debian: 'amd64',
    strip: ['x86_64-linux-gnu-strip', 'strip'],
    qemu: 'qemu-x86_64-static',
  },
  arm64: {
    rust: 'aarch64-unknown-linux-gnu',
    debian: 'arm64',
    strip: ['aarch64-linux-gnu-strip', 'llvm-strip'],
    qemu: 'qemu-aarch64-static',
  },
}
