export function TrafficPage() {
  return null
}
