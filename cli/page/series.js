// What a place is worth: bytes alive, at the peak, leaked or made, in the whole recording or a span of it.

const CUTS = [
  {id: "now", label: "now", title: "bytes alive at the end"},
  {id: "peak", label: "peak", title: "bytes alive when all places together had most"},
  {id: "leaked", label: "leaked", title: "bytes alive of places that grow; of a span: by how much a place rose in it"},
  {id: "made", label: "made", title: "bytes made, alive or not"},
];

// The span in buckets, both ends included.
function bucketsOf(recording, span) {
  return [recording.bucketAt(span[0]), recording.bucketAt(span[1])];
}

function highest(series, first, last) {
  let best = first;
  for (let i = first; i <= last; ++i) if (series[i] > series[best]) best = i;
  return best;
}

function worth(site, cut, span) {
  if (span === null) {
    if (cut === "leaked") return site.growing ? site.now : 0;
    return site[cut];
  }
  const [first, last] = bucketsOf(site.recording, span);
  if (cut === "now") return site.liveSeries[last];
  if (cut === "peak") return site.liveSeries[highest(site.recording.mostSeries, first, last)];
  if (cut === "leaked") {
    return Math.max(0, site.liveSeries[last] - (first === 0 ? 0 : site.liveSeries[first - 1]));
  }
  let sum = 0;
  for (let i = first; i <= last; ++i) sum += site.madeSeries[i];
  return sum;
}
