/**
 * A behavioural double of `@raycast/api` for tests: the real package holds types only. Every export is typed against the
 * real one, so that a change of the API breaks the compilation. What it does is seen in, and set by, the `World`.
 */
export {
  Cache,
  Clipboard,
  LaunchType,
  LocalStorage,
  PopToRootType,
  Toast,
  captureException,
  closeMainWindow,
  confirmAlert,
  environment,
  getPreferenceValues,
  launchCommand,
  open,
  openCommandPreferences,
  openExtensionPreferences,
  popToRoot,
  showHUD,
  showInFinder,
  showToast,
  trash,
  updateCommandMetadata,
} from "./system";
export {
  Action,
  ActionPanel,
  Alert,
  Color,
  Detail,
  Form,
  Icon,
  Image,
  Keyboard,
  List,
  MenuBarExtra,
  useNavigation,
} from "./components";

/** Only named by `@raycast/utils`; nothing here uses them. */
export const AI = {};
export const OAuth = {};
