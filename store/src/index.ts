/** The public interface of `@persyk/store`. */
export { type Clock, isoTime, systemClock } from "./clock";
export {
  type ErrorDocument,
  type ErrorPlace,
  StoreError,
  type StoreErrorCode,
  isStoreError,
  toErrorDocument,
} from "./errors";
