let segmenter: Intl.Segmenter | undefined;

/** The graphemes of a text, in order. The segmenter is made at the first use: it loads its tables for 20 ms. */
export function graphemesOf(text: string): Iterable<Intl.SegmentData> {
  segmenter ??= new Intl.Segmenter("und", { granularity: "grapheme" });
  return segmenter.segment(text);
}
