/** The version of `@persyk/store`; a test holds it to the package's own. */
export const version = "0.1.0";
