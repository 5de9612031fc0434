import { type HelperTarget, removeFolder, standInTarget, temporaryFolder } from "./helper-process";
import { protocolSuite } from "./protocol-suite";

describe("capture/1: the stand-in", () => {
  let folder: string;
  let target: HelperTarget;
  beforeAll(() => {
    folder = temporaryFolder();
    target = standInTarget(folder);
  });
  afterAll(() => removeFolder(folder));
  protocolSuite(() => target);
});
