import { errnoName } from "./errno";

/**
 * Runs a step that tidies up after something else was decided: an error of the system costs only what it leaves behind,
 * and must not take the place of the outcome that is to be reported. Anything else that is thrown is a fault of the
 * program and goes on.
 */
export async function cleanUp(step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
  }
}
