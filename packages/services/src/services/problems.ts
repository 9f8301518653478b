import type { ExposedStatus, ServicesProblem, ServicesStatus } from './status.ts'

/** Finds what a person should look after. */
export function findProblems({ services }: ServicesStatus): readonly ServicesProblem[] {
  return services.flatMap((service) => problemOf(service) ?? [])
}

function problemOf({ name, target, state, since, lastError }: ExposedStatus): ServicesProblem | undefined {
  if (state === 'target down') {
    return {
      code: 'services.target_down',
      severity: 'warning',
      title: `The service ${name} is withdrawn: ${target} does not answer (${lastError ?? 'no reason known'})`,
      hint: `Start the program that listens on ${target}; the service is offered again by itself.`,
      ...(since !== undefined && { since }),
    }
  }
  return undefined
}
