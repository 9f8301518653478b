/** Names and addresses of services as people write them; loads nothing else, so that settings can be checked by it. */
export {
  type Endpoint,
  formatEndpoint,
  kindOf,
  parseEndpoint,
} from './streams/endpoint.ts'
export { checkServiceName } from './services/service-name.ts'
