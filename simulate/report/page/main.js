// Which plot shows what.

// byPolicy returns a line per policy from a dataset's columns x and y.
function byPolicy(name, xName, yName, xUnit, rise) {
  const d = datasets.get(name);
  const [policy, x, y] = ["policy", xName, yName].map((c) => column(d, c));
  const lines = report.policies.map((name, i) => ({ name, colour: policyColour(i), dash: policyDash(i), x: [], y: [], rise }));
  const index = new Map(report.policies.map((p, i) => [p, i]));
  policy.values.forEach((_, row) => {
    const l = lines[index.get(policy.word(row))];
    l.x.push(x.values[row] / xUnit);
    l.y.push(y.values[row]);
  });
  return lines;
}

const largest = (name, col) => column(datasets.get(name), col).values.reduce((a, b) => Math.max(a, b), 0);

function cdf(id, xName, unit, o) {
  const lines = byPolicy(id, xName, "fraction", unit, true);
  curves(id, { lines: () => lines, yLabel: () => "share of jobs", yMax: 1, yTick: (f) => Math.round(100 * f) + " %", yText: percent, logSwitch: true, ...o });
}

function showJCT() {
  const unit = timeUnit(largest("jct_cdf", "jct_s"));
  cdf("jct_cdf", "jct_s", unit.seconds, { xLabel: `job completion time (${unit.name})`, log: true, none: "no job is done", xText: (v) => "within " + duration(v * unit.seconds) });
}

function showRho() {
  cdf("rho_cdf", "rho", 1, { xLabel: report.rho, rule: report.unfairAbove, log: largest("rho_cdf", "rho") > 4, none: "not computed for these runs", xText: (v) => "rho at most " + number(v) });
}

function showPolicyTime() {
  cdf("policy_time_cdf", "policy_time_ms", 1, { yLabel: () => "share of rounds", xLabel: "policy time per round (ms)", log: true, none: "not measured", xText: (v) => "within " + number(v) + " ms" });
}

// showUtilisation draws, for all GPU types or one, the share of GPUs held.
function showUtilisation() {
  const d = datasets.get("utilisation");
  const [policy, type, time, busy, gpus] = ["policy", "gpu_type", "time_s", "busy_gpus", "gpus"].map((c) => column(d, c));
  const unit = timeUnit(largest("utilisation", "time_s"));
  let chosen = "";
  const lines = () => report.policies.map((name, i) => {
    const sums = new Map();
    time.values.forEach((t, row) => {
      if (policy.word(row) !== name || (chosen && type.word(row) !== chosen)) return;
      const s = sums.get(t) || [0, 0];
      sums.set(t, [s[0] + busy.values[row], s[1] + gpus.values[row]]);
    });
    const x = [...sums.keys()];
    return { name, colour: policyColour(i), dash: policyDash(i), x: x.map((t) => t / unit.seconds), y: x.map((t) => (sums.get(t)[1] > 0 ? sums.get(t)[0] / sums.get(t)[1] : 0)) };
  });
  curves("utilisation", {
    lines, yLabel: () => "share of GPUs", yMax: 1.02, yTick: (f) => Math.round(100 * f) + " %", yText: percent,
    apart: true, xLabel: `time (${unit.name})`, xText: (v) => "at " + duration(v * unit.seconds),
    controls: (bar, redraw) => {
      if (report.gpuTypes.length < 2) return;
      select(bar, "GPUs", ["all", ...report.gpuTypes.map(seen)], (i) => { chosen = i ? report.gpuTypes[i - 1] : ""; redraw(); });
    },
  });
}

function showQueue() {
  const unit = timeUnit(largest("queue", "time_s"));
  const kinds = ["waiting", "running"].map((k) => byPolicy("queue", "time_s", k + "_jobs", unit.seconds, false));
  let chosen = 0;
  curves("queue", {
    lines: () => kinds[chosen], yLabel: () => ["waiting jobs", "running jobs"][chosen], yText: (v) => number(v) + " jobs",
    apart: true, xLabel: `time (${unit.name})`, xText: (v) => "at " + duration(v * unit.seconds),
    controls: (bar, redraw) => select(bar, "jobs", ["waiting", "running"], (i) => { chosen = i; redraw(); }),
  });
}

// showPaid draws the GPUs that are paid, those of them on their way, and what rented ones
// cost; the page has it if something could be rented.
function showPaid() {
  const gpus = (v) => number(v) + " GPUs";
  showKinds("paid", [["paid", "paid_gpus", gpus, "GPUs"], ["starting", "starting_gpus", gpus, "GPUs"], ["spending", "spending_per_h", (v) => number(v) + " an hour", "cost per hour"]]);
}

// showLoans draws GPUs on loan and their owner's, what is used of all, and what one more would
// save; the page has it if something could be lent.
function showLoans() {
  const gpus = (v) => number(v) + " GPUs";
  const saved = (v) => number(v) + " s saved";
  showKinds("loans", [
    ["on loan", "lent_gpus", gpus, "GPUs"], ["on loan and busy", "busy_gpus", gpus, "GPUs"], ["wanted back", "wanted_gpus", gpus, "GPUs"],
    ["needed by the lender", "owner_gpus", gpus, "GPUs"], ["overall usage", "overall_usage", percent, "share of GPUs"],
    ["price of a training GPU", "training_price_s", saved, "seconds saved"], ["price of a GPU on loan", "loan_price_s", saved, "seconds saved"],
  ]);
}

// showKinds draws one of several columns of a dataset over time, if the page has it. kinds:
// [name, column, text(value), label of the axis].
function showKinds(id, kinds) {
  if (!datasets.has(id)) return;
  const unit = timeUnit(largest(id, "time_s"));
  const lines = kinds.map((k) => byPolicy(id, "time_s", k[1], unit.seconds, false));
  let chosen = 0;
  curves(id, {
    lines: () => lines[chosen], yLabel: () => kinds[chosen][3], yText: (v) => kinds[chosen][2](v),
    yTick: (v) => (kinds[chosen][2] === percent ? Math.round(100 * v) + " %" : number(v)),
    apart: true, xLabel: `time (${unit.name})`, xText: (v) => "at " + duration(v * unit.seconds),
    controls: (bar, redraw) => select(bar, "what", kinds.map((k) => k[0]), (i) => { chosen = i; redraw(); }),
  });
}

// stacks groups the rows of a dataset: by the group column, then policy, then
// the part column.
function stacks(name, groupName, partName, partColour) {
  const d = datasets.get(name);
  const [policy, part, value] = ["policy", partName, "gpu_hours"].map((c) => column(d, c));
  const group = groupName ? column(d, groupName) : null;
  const groups = new Map();
  value.values.forEach((v, row) => {
    const g = group ? group.word(row) : "";
    if (!groups.has(g)) groups.set(g, new Map(report.policies.map((p) => [p, []])));
    groups.get(g).get(policy.word(row)).push({ name: part.word(row), colour: partColour(part.word(row)), value: v });
  });
  return [...groups].map(([name, rows]) => ({ name, bars: [...rows].map(([name, parts]) => ({ name, parts })) }));
}

const hoursText = (v, total) => `${number(v)} h` + (total > 0 ? ` (${percent(v / total)})` : "");

function showHours() {
  let groups = stacks("gpu_hours", "model", "gpu_type", typeColour);
  if (report.policies.length === 1) groups = [{ name: "", bars: groups.map((g) => ({ name: g.name, parts: g.bars[0].parts })) }];
  bars("gpu_hours", {
    groups,
    legend: report.gpuTypes.map((name) => ({ name, colour: typeColour(name) })),
    xLabel: "GPU-hours", text: hoursText,
  });
}

function showUses() {
  const names = ["useful", "restarts", "profiling", "idle in round"];
  const useColour = (name) => colour("u", names.indexOf(name));
  bars("gpu_time_use", {
    groups: stacks("gpu_time_use", "", "use", useColour), thick: 30,
    legend: names.map((name) => ({ name, colour: useColour(name) })),
    xLabel: "GPU-hours", text: hoursText,
  });
}

for (const key of document.querySelectorAll("[data-policy]")) key.style.background = policyColour(Number(key.dataset.policy));
for (const show of [showJCT, showRho, showUtilisation, showPaid, showLoans, showQueue, showHours, showUses, showSchedule, showPolicyTime]) show();
