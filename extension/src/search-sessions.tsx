import { SearchView } from "./components/SearchView";
import { WithSettings } from "./components/WithSettings";

export default function Command() {
  return <WithSettings>{(settings) => <SearchView settings={settings} />}</WithSettings>;
}
