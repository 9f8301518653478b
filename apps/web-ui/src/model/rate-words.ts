/** Bytes per second as bits, in steps of 1,000, at most three figures: `84.2 Mbit/s`, `0 kbit/s`. */
export function rateInWords(bytesPerSecond: number): { readonly figure: string; readonly unit: string } {
  const bits = Math.max(0, bytesPerSecond) * 8
  const step = RATES.find(({ from }) => bits >= from) ?? { from: 1_000, unit: 'kbit/s' }
  return { figure: threeFigures(bits / step.from), unit: step.unit }
}

/** Packets per second, at most three figures below a thousand: `0.5 /s`, `1,024 /s`. */
export function packetRateInWords(packetsPerSecond: number): string {
  const figure =
    packetsPerSecond < 1_000 ? threeFigures(packetsPerSecond) : countInWords(Math.round(packetsPerSecond))
  return `${figure} /s`
}

/** Prints a number of bytes: `14 B`, `2.4 kB`, `1.1 GB`. */
export function bytesInWords(bytes: number): string {
  const step = SIZES.find(({ from }) => bytes >= from)
  return step === undefined ? `${bytes} B` : `${threeFigures(bytes / step.from)} ${step.unit}`
}

/** `1,024`: a space-saving, unambiguous count. */
export function countInWords(count: number | bigint): string {
  return COUNT.format(count)
}

const RATES = [
  { from: 1e9, unit: 'Gbit/s' },
  { from: 1e6, unit: 'Mbit/s' },
  { from: 1e3, unit: 'kbit/s' },
]
const SIZES = [
  { from: 1e12, unit: 'TB' },
  { from: 1e9, unit: 'GB' },
  { from: 1e6, unit: 'MB' },
  { from: 1e3, unit: 'kB' },
]
const COUNT = new Intl.NumberFormat('en-US')

function threeFigures(amount: number): string {
  if (amount === 0) return '0'
  if (amount >= 100) return String(Math.round(amount))
  return String(Number(amount.toFixed(1)))
}
