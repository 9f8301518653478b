/** @param reason of the API: `weaker` */
export function loserReasonInWords(reason: string): string {
  return Object.hasOwn(REASONS, reason) ? (REASONS[reason] ?? reason) : reason
}

const REASONS: Readonly<Record<string, string>> = {
  automatic_name: 'The name is a machine’s or a service’s, which no pattern takes.',
  weaker: 'Another pattern is stronger: one that is a whole name, else the longer one.',
  no_such_type: 'It has no value of this type.',
  bad_value: 'Its value is no valid record.',
  bad_syntax: 'It is no valid regular expression.',
  too_complex: 'It is too complex to be tried.',
  too_many: 'Too many patterns fit such names.',
  later_claim: 'Another member had the name before.',
}
