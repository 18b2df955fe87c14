// The ways to colour a fence and a speed test. A scale's limits are the upper ends of its classes; then comes "unknown". `open` is the class of
// fences that were not measured: they are in no share. Speed tests are neutral in views without `classOfTest`; views with `isOfTests` are about
// speed tests only, and their legend counts those.
const unknown = "#8b959e";
const unmeasured = "#8c8c9c";
const scale = ["#2b6cb8", "#63b0d1", "#f2d06b", "#ee8a3c", "#c2281d"];

function delayView(key, label, title) {
  const limits = [30, 60, 120, 300], isMedian = key === "median";
  return {
    key, label, title,
    classes: [...limits.map((limit) => `under ${limit} ms`), "300 ms or more", "no answer", "not measured", "too few pings"],
    colours: [...scale, unknown, unmeasured, "#5a5a5a"], open: 6,
    has: (table) => table.count === 0 || isMedian || key in numeric && table.raw[numeric[key]],
    classOf: (table, i) => {
      if (!table.isMeasured(i)) return 6;
      if (!(table.answered[i] > 0)) return 5;
      const delay = isMedian && Number.isNaN(table.median[i]) ? table.mean[i] : table[key][i];
      return Number.isNaN(delay) ? 7 : Math.min(classBelow(limits, delay), 4);
    },
    classOfTest: (test) => key === "median" ? classBelow(limits, test.values.ping_median_ms) : -1,
  };
}

// The place of the first limit above the value; 5 without a value.
function classBelow(limits, value) {
  if (!Number.isFinite(value)) return 5;
  const place = limits.findIndex((limit) => value < limit);
  return place < 0 ? limits.length : place;
}

function rateView(key, label, title, limits) {
  return {
    key, label, title, isOfTests: true,
    classes: [...limits.map((limit) => `${limit} Mbit/s or more`), "less", "no rate"], colours: [...scale, unknown],
    has: (table, tests) => tests.some((test) => Number.isFinite(test.values[key])),
    classOf: () => 5,
    classOfTest: (test) => {
      const rate = test.values[key];
      if (!Number.isFinite(rate)) return 5;
      const place = limits.findIndex((limit) => rate >= limit * 1000);
      return place < 0 ? limits.length : place;
    },
  };
}

function makeViews(technologies) {
  return [
    {
      key: "technology", label: "Technology", title: "Radio technology",
      classes: technologies.map((entry) => entry.label), colours: technologies.map((entry) => entry.colour),
      open: technologies.findIndex((entry) => entry.is_hollow),
      has: () => true,
      classOf: (table, i) => table.technologyClass[i],
      classOfTest: (test) => test.values.technology_class,
    },
    delayView("median", "Delay", "Median delay"),
    delayView("p95", "95 %", "95th percentile of the delay"),
    {
      key: "loss", label: "Loss", title: "Lost pings",
      classes: ["no loss", "up to 2 %", "up to 10 %", "more", "all lost", "not measured"], colours: [...scale, unmeasured], open: 5,
      has: () => true,
      classOf: (table, i) => {
        if (!table.isMeasured(i)) return 5;
        const share = table.lost[i] / table.pings[i];
        return share <= 0 ? 0 : share >= 1 ? 4 : share <= 0.02 ? 1 : share <= 0.1 ? 2 : 3;
      },
    },
    {
      key: "signal", label: "Signal", title: "Lowest signal level",
      classes: ["−80 dBm or more", "−90 dBm or more", "−100 dBm or more", "−110 dBm or more", "less", "unknown", "not measured"],
      colours: [...scale, unknown, unmeasured], open: 6,
      has: (table) => "signal_dbm" in table.raw,
      classOf: (table, i) => {
        if (!table.isMeasured(i)) return 6;
        if (Number.isNaN(table.signal[i])) return 5;
        const place = [-80, -90, -100, -110].findIndex((limit) => table.signal[i] >= limit);
        return place < 0 ? 4 : place;
      },
    },
    rateView("download_kbps", "Down", "Download of the speed tests", [100, 30, 10, 3]),
    rateView("upload_kbps", "Up", "Upload of the speed tests", [50, 15, 5, 1]),
  ];
}

// A colour nearer to black or white by `share`.
function mixed(colour, with_, share) {
  const parts = [1, 3, 5].map((at) => [parseInt(colour.slice(at, at + 2), 16), parseInt(with_.slice(at, at + 2), 16)]);
  return "#" + parts.map(([a, b]) => Math.round(a + (b - a) * share).toString(16).padStart(2, "0")).join("");
}
