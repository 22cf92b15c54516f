"use strict";
(() => {
  // ../../live/page/web/route.ts
  var latest = 3e9;
  function route() {
    const [path, query2] = location.hash.replace(/^#job=/, "#/job/").slice(1).split("?");
    const [, kind, name] = path.split("/");
    const at = new URLSearchParams(query2).get("at");
    const moment2 = at === null ? NaN : Number(at), possible = moment2 >= 0 && moment2 <= latest;
    const known = kind === "job" || kind === "node" ? kind : "";
    return { kind: known, name: known && name ? decoded(name) : "", at: possible ? moment2 : void 0 };
  }
  function decoded(name) {
    try {
      return decodeURIComponent(name);
    } catch {
      return name;
    }
  }
  var query = (at) => at === void 0 ? "" : `?at=${Math.round(at)}`;
  var href = (kind, name, now) => `#/${kind}/${encodeURIComponent(name)}` + query(now.live ? void 0 : now.elapsed);
  var jobHref = (id, now) => href("job", id, now);
  var go = (hash2) => {
    location.hash = hash2;
  };
  function keepMoment(at) {
    const r = route();
    history.replaceState(null, "", (r.kind ? `#/${r.kind}/${encodeURIComponent(r.name)}` : "#/") + query(at));
  }

  // ../../live/page/web/dom.ts
  function el(tag, attributes = {}, ...children) {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    for (const c of children) if (c !== void 0) e.append(c);
    return e;
  }
  var namespace = document.querySelector("svg").namespaceURI;
  function svg(tag, attributes, ...children) {
    const e = document.createElementNS(namespace, tag);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, String(v));
    e.append(...children);
    return e;
  }
  var byId = (id) => document.getElementById(id);
  function fill(parent, ...children) {
    const had = document.activeElement;
    const alike = () => [...parent.querySelectorAll("a, button, input, [tabindex]")].filter((e) => words(e) === name);
    const name = had && parent.contains(had) ? words(had) : void 0;
    const which = name === void 0 ? -1 : alike().indexOf(had);
    parent.replaceChildren(...children);
    if (which < 0) return;
    const again = alike();
    again[Math.min(which, again.length - 1)]?.focus({ preventScroll: true });
  }
  var words = (e) => `${e.tagName} ${e.ariaLabel ?? e.textContent}`;
  function span(s) {
    s = Math.max(0, Math.round(s));
    const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
    const i = units.findIndex(([, u]) => s >= u);
    if (i < 0) return "0 s";
    const whole = Math.floor(s / units[i][1]);
    const rest = i < 3 ? Math.floor(s % units[i][1] / units[i + 1][1]) : 0;
    return `${whole} ${units[i][0]}` + (rest > 0 ? ` ${rest} ${units[i + 1][0]}` : "");
  }
  var counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
  var heldBy = (j) => j.gpus + (j.also?.gpus ?? 0);
  var seconds = (time) => Date.parse(time ?? "") / 1e3;
  var colours = 12;
  var chosen = /* @__PURE__ */ new Map();
  function hash(id) {
    let h = 0;
    for (const c of id) h = h * 31 + c.codePointAt(0) >>> 0;
    return h % colours;
  }
  var hue = (id) => "hue" + (chosen.get(id) ?? hash(id));
  var two = (n) => String(n).padStart(2, "0");
  function clock(t) {
    const d = new Date(1e3 * t), time = `${two(d.getHours())}:${two(d.getMinutes())}`;
    return Math.abs(t - Date.now() / 1e3) < 43200 ? time : `${date(d)} ${time}`;
  }
  var date = (d) => `${d.getDate()} ${d.toLocaleString("en", { month: "short" })}`;
  var timeOfDay = (d) => d.toTimeString().slice(0, 8);
  var moment = (o, t) => o.live ? clock(Date.parse(o.begun) / 1e3 + t) : span(t);

  // ../../live/page/web/search.ts
  var words2 = [];
  function search(text) {
    words2 = text.toLowerCase().split(/\s+/).filter((w) => w);
  }
  var all = (text) => words2.every((w) => text.toLowerCase().includes(w));
  var matches = (j) => words2.length === 0 || all([j.id, j.name, j.user, j.namespace, j.queue, ...(j.nodes ?? []).map((n) => n.node)].join(" "));
  var searching = () => words2.length > 0;

  // ../../live/page/web/track.ts
  var ends = ["done", "failed", "cancelled", "ended"];
  function rowOf(track, job, offset, o) {
    const now = o.elapsed, steps2 = track.steps.map((s) => ({ ...s, at: s.at + offset }));
    if (job && o.live) bringUpToDate(steps2, job, o);
    const bars = steps2.flatMap((s, i) => barsOf(s, steps2[i + 1]?.at ?? (ends.includes(s.what) ? s.at : Math.max(o.live ? now : o.last, s.at)), o));
    if (job && o.live) bars.push(...forecast(job, o));
    const holding = job !== void 0 && heldBy(job) > 0, marks = steps2.filter((s) => s.what !== "submitted" && s.what !== "started");
    return { id: track.job, user: track.user ?? "", bars, marks, from: steps2[0].at, to: Math.max(steps2[steps2.length - 1].at, ...bars.map((b) => b.to)), rank: holding ? 0 : job ? 1 : 2 };
  }
  function bringUpToDate(steps2, job, o) {
    const last2 = steps2[steps2.length - 1], gpus = heldBy(job);
    if (last2.gpus !== gpus) steps2.push({ at: Math.max(last2.at, job.since ? seconds(job.since) - seconds(o.begun) : o.elapsed), gpus, what: gpus > last2.gpus ? "started" : "preempted" });
  }
  function barsOf(s, to, o) {
    if (o.live || to <= o.elapsed) return [{ from: s.at, to, gpus: s.gpus, kind: "past" }];
    if (s.at >= o.elapsed) return [{ from: s.at, to, gpus: s.gpus, kind: "later" }];
    return [{ from: s.at, to: o.elapsed, gpus: s.gpus, kind: "past" }, { from: o.elapsed, to, gpus: s.gpus, kind: "later" }];
  }
  function forecast(j, o) {
    const since = (t) => seconds(t) - seconds(o.begun);
    const from = heldBy(j) > 0 ? o.elapsed : since(j.start?.likely ?? j.start?.early), to = since(j.end?.likely ?? j.end?.late);
    if (!(from >= o.elapsed && to > from)) return [];
    const gpus = heldBy(j) || j.min_gpus || 1;
    return [{ from, to, gpus, kind: "forecast" }];
  }
  var words3 = { grown: "got more GPUs", shrunk: "gave up GPUs", moved: "moved", preempted: "was preempted", lost: "lost its GPUs to a failure", done: "completed", failed: "failed", cancelled: "was cancelled", ended: "ended" };
  function drawTrack(row, view2, width, height, most2, o) {
    const x = (t) => width * (t - view2.from) / (view2.to - view2.from), within = (t) => Math.min(width, Math.max(0, x(t)));
    const all2 = [];
    for (const b of row.bars) {
      if (b.to < view2.from || b.from > view2.to) continue;
      const h = b.gpus > 0 ? 6 + (height - 10) * Math.min(1, b.gpus / most2) : 2, left = within(b.from);
      const box = { x: left, y: height - 2 - h, width: Math.max(1, within(b.to) - left), height: h };
      const text = `${row.id}: ${b.gpus > 0 ? counted(b.gpus, "GPU") : "waiting"}, ${b.kind === "forecast" ? "\u2248 " : ""}${moment(o, b.from)} to ${moment(o, b.to)} (${span(b.to - b.from)})`;
      all2.push(svg("rect", { ...box, class: b.gpus > 0 ? `${hue(row.id)} ${b.kind}` : "waits" }, svg("title", {}, text)));
      if (b.kind === "forecast") all2.push(svg("rect", { ...box, class: "over" }));
    }
    for (const m of row.marks) if (m.at >= view2.from && m.at <= view2.to) all2.push(mark(m, x(m.at), height, o));
    if (o.elapsed >= view2.from && o.elapsed <= view2.to) all2.push(svg("line", { x1: x(o.elapsed), x2: x(o.elapsed), y1: 0, y2: height, class: "now" }));
    return svg("svg", { width, height, "aria-hidden": "true" }, ...all2);
  }
  function mark(m, x, height, o) {
    const title = svg("title", {}, `${moment(o, m.at)}: ${m.text ?? words3[m.what] ?? m.what}`), y = height / 2;
    if (m.what === "failed" || m.what === "lost") return svg("path", { class: "mark fails", d: `M${x - 4} ${y - 4}l8 8m0 -8l-8 8` }, title);
    if (m.what === "grown") return svg("path", { class: "mark", d: `M${x - 4} ${y + 3}l4 -7l4 7z` }, title);
    if (m.what === "shrunk" || m.what === "preempted") return svg("path", { class: "mark", d: `M${x - 4} ${y - 3}l4 7l4 -7z` }, title);
    return svg("circle", { class: "mark", cx: x, cy: y, r: 3 }, title);
  }
  var steps = [1, 2, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2419200, 7776e3];
  function ticksOf(view2, width, o) {
    const length = view2.to - view2.from, step = steps.find((s) => s / length * width >= 80) ?? length;
    const zone = o.live ? -60 * new Date(o.at).getTimezoneOffset() : 0, origin = o.live ? Date.parse(o.begun) / 1e3 + zone : 0;
    const all2 = [];
    if (!(length > 0)) return all2;
    const first2 = Math.ceil((view2.from + origin) / step) * step - origin;
    for (let i = 0; first2 + i * step <= view2.to && i <= width; i++) {
      const t = first2 + i * step;
      const x = width * (t - view2.from) / length;
      if (x >= 24 && x <= width - 24) all2.push({ x, text: tick(t, step, o) });
    }
    return all2;
  }
  function drawAxis(view2, width, o, events2 = []) {
    const x = (t) => width * (t - view2.from) / (view2.to - view2.from);
    const all2 = ticksOf(view2, width, o).flatMap((t) => [svg("line", { x1: t.x, x2: t.x, y1: 18, y2: 24, class: "axis" }), svg("text", { x: t.x, y: 13, class: "middle" }, t.text)]);
    for (const e of events2) if (e.at >= view2.from && e.at <= view2.to) all2.push(svg("path", { class: "mark fails", d: `M${x(e.at) - 4} 16h8l-4 8z` }, svg("title", {}, `${moment(o, e.at)}: ${e.text}`)));
    return svg("svg", { width, height: 24, "aria-hidden": "true" }, ...all2);
  }
  function tick(t, step, o) {
    if (!o.live) return span(t);
    const d = new Date(Date.parse(o.begun) + 1e3 * t);
    if (step >= 86400 || d.getHours() === 0 && d.getMinutes() === 0) return date(d);
    return timeOfDay(d).slice(0, step < 60 ? 8 : 5);
  }
  function spoken(row, o) {
    const changes = row.marks.length, held = row.bars.filter((b) => b.kind === "past" && b.gpus > 0).reduce((sum, b) => sum + b.to - b.from, 0);
    return `${row.id}: since ${moment(o, row.from)}, ${span(held)} with GPUs, ${counted(changes, "change")}`;
  }

  // ../../live/page/web/timeline.ts
  var rowHeight = 25;
  var spare = 6;
  var nameWidth = 170;
  var rows = [];
  var events = [];
  var chosen2;
  var shown;
  var first = -1;
  var most = 1;
  function showTimeline(past, o) {
    shown = o;
    const jobs = new Map(o.jobs.map((j) => [j.id, j])), offset = past ? (Date.parse(past.begun) - Date.parse(o.begun)) / 1e3 : 0;
    const tracks = new Map((past?.tracks ?? []).map((t) => [t.job, t]));
    for (const j of o.jobs) if (!tracks.has(j.id) && o.live) tracks.set(j.id, { job: j.id, user: j.user, steps: [{ at: (Date.parse(j.submitted ?? j.since ?? o.at) - Date.parse(o.begun)) / 1e3 - offset, gpus: 0, what: "submitted" }] });
    rows = [...tracks.values()].map((t) => rowOf(t, jobs.get(t.job), offset, o));
    if (searching()) rows = rows.filter((r) => matches(jobs.get(r.id) ?? { id: r.id, name: r.id, user: r.user, phase: "", gpus: 0 }));
    rows.sort((a, b) => a.rank - b.rank || (a.rank === 2 ? b.to - a.to : a.from - b.from));
    most = Math.max(1, ...rows.map((r) => Math.max(0, ...r.bars.map((b) => b.gpus))));
    events = (past?.nodes ?? []).map((n) => ({ at: n.at + offset, what: n.what, text: `${/^node[^a-z]/i.test(n.node) ? "" : "node "}${n.node} ${n.what}` }));
    byId("timeline-omitted").textContent = past?.omitted ? `${counted(past.omitted, "job")} that ended earlier ${past.omitted === 1 ? "is" : "are"} not listed.` : "";
    draw(true);
  }
  function usual(o) {
    const at = route().at;
    if (!o.live) return { from: 0, to: Math.max(60, o.last) };
    if (at !== void 0) return { from: at - 3600, to: at + 3600 };
    const active = rows.filter((r) => r.rank < 2), from = Math.min(o.elapsed - 600, ...active.map((r) => r.from)), to = Math.max(o.elapsed + 600, ...active.map((r) => r.to));
    const past = Math.min(6 * 3600, o.elapsed - from);
    return { from: o.elapsed - past, to: Math.min(to, o.elapsed + Math.max(1800, past)) };
  }
  var view = () => chosen2 ?? usual(shown);
  var inView = (v) => rows.filter((r) => r.to >= v.from && r.from <= v.to);
  function draw(all2) {
    if (!shown) return;
    const o = shown, list = byId("timeline"), v = view(), found = inView(v), width = Math.max(120, list.clientWidth - nameWidth - 4);
    const at = Math.max(0, Math.floor(list.scrollTop / rowHeight) - spare), end2 = Math.min(found.length, at + Math.ceil((list.clientHeight || 400) / rowHeight) + 2 * spare);
    if (!all2 && at === first) return;
    first = at;
    fill(byId("timeline-axis"), drawAxis(v, width, o, events));
    fill(byId("timeline-rows"), space(at), ...found.slice(at, end2).map((r) => line(r, v, width, o)), space(found.length - end2));
    byId("timeline-none").hidden = found.length > 0;
    list.hidden = found.length === 0;
    byId("timeline-span").textContent = `${counted(found.length, "job")}, ${span(v.to - v.from)}`;
  }
  function space(n) {
    const e = el("li", { "aria-hidden": "true" });
    e.style.height = `${n * rowHeight}px`;
    return e;
  }
  var line = (r, v, width, o) => el(
    "li",
    { class: "track" },
    el("a", { class: "track-name", href: jobHref(r.id, o), "aria-label": spoken(r, o), title: r.user }, el("i", { class: "key-box " + hue(r.id) }), r.id),
    drawTrack(r, v, width, rowHeight - 1, most, o)
  );
  function choose(v) {
    chosen2 = v && { from: v.from, to: Math.max(v.from + 10, v.to) };
    if (shown?.live) keepMoment(chosen2 && (chosen2.from + chosen2.to) / 2);
    draw(true);
  }
  function zoom(by) {
    const v = view(), middle = (v.from + v.to) / 2, half = (v.to - v.from) * by / 2;
    choose({ from: middle - half, to: middle + half });
  }
  function move(by) {
    const v = view(), d = (v.to - v.from) * by;
    choose({ from: v.from + d, to: v.to + d });
  }
  function last(hours) {
    if (shown) choose({ from: shown.elapsed - 3600 * hours, to: shown.elapsed + 900 * hours });
  }
  var keys = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25), "0": () => choose(void 0) };
  function listenToTimeline() {
    const list = byId("timeline");
    list.addEventListener("keydown", (e) => {
      const act = keys[e.key];
      if (!act || e.ctrlKey || e.metaKey || e.altKey) return;
      act();
      e.preventDefault();
    });
    list.addEventListener("scroll", () => requestAnimationFrame(() => draw(false)));
    addEventListener("resize", () => draw(true));
    for (const [id, act] of Object.entries({ "in": () => zoom(0.5), out: () => zoom(2), left: () => move(-0.25), right: () => move(0.25), hour: () => last(1), day: () => last(24), usual: () => choose(void 0) })) byId("timeline-" + id).addEventListener("click", act);
    drag(list);
  }
  function drag(list) {
    const box = byId("timeline-select");
    let from;
    const place = (e) => e.clientX - list.getBoundingClientRect().left - nameWidth;
    list.addEventListener("pointerdown", (e) => {
      if (e.button !== 0 || place(e) < 0 || e.pointerType === "touch") return;
      from = place(e);
      list.setPointerCapture(e.pointerId);
    });
    list.addEventListener("pointermove", (e) => {
      if (from === void 0) return;
      const to = Math.max(0, place(e));
      box.hidden = Math.abs(to - from) < 4;
      box.style.left = `${nameWidth + Math.min(from, to)}px`;
      box.style.width = `${Math.abs(to - from)}px`;
    });
    list.addEventListener("pointerup", (e) => {
      if (from === void 0) return;
      const [a, b] = [from, Math.max(0, place(e))].sort((x, y) => x - y), v = view(), width = list.clientWidth - nameWidth - 4, time = (x) => v.from + (v.to - v.from) * x / width;
      from = void 0;
      box.hidden = true;
      if (b - a >= 4) choose({ from: time(a), to: time(b) });
      else open(list, e);
    });
  }
  function open(list, e) {
    const row = inView(view())[Math.floor((e.clientY - list.getBoundingClientRect().top + list.scrollTop) / rowHeight)];
    if (row && shown) go(jobHref(row.id, shown));
  }

  // ../../live/page/web/report.ts
  var lives = report.policies.map(livesOf);
  var end = Math.max(60, ...lives.flat().map((l) => Math.max(l.finished, l.held[l.held.length - 1]?.end ?? l.submitted)));
  var policy = 0;
  function livesOf(name) {
    const from = (set, columns) => columns.map((c) => column(datasets.get(set), c));
    const [p, job, model, outcome, submitted, finished, jct, queued, restarts, hours, rho] = from("jobs", ["policy", "job", "model", "outcome", "submitted_s", "finished_s", "jct_s", "queued_s", "restarts", "gpu_hours", "rho"]);
    const byName = /* @__PURE__ */ new Map();
    p.values.forEach((_, r) => {
      if (p.word(r) !== name) return;
      byName.set(job.word(r), { name: seen(job.word(r)), model: seen(model.word(r)), outcome: outcome.word(r), submitted: submitted.values[r], finished: finished.values[r], jct: jct.values[r], queued: queued.values[r], restarts: restarts.values[r], hours: hours.values[r], rho: rho.values[r], held: [] });
    });
    const [hp, hj, type, state, begin, until, gpus] = from("gantt", ["policy", "job", "gpu_type", "state", "start_s", "end_s", "gpus"]);
    hp.values.forEach((_, r) => {
      if (hp.word(r) !== name || state.word(r) === "idle") return;
      byName.get(hj.word(r))?.held.push({ type: type.word(r), start: begin.values[r], end: until.values[r], gpus: gpus.values[r] });
    });
    return [...byName.values()];
  }
  var gap = 1e-3;
  function stepsOf(l) {
    const steps2 = [{ at: l.submitted, gpus: 0, what: "submitted" }];
    l.held.forEach((h, i) => {
      const before = l.held[i - 1], follows = before !== void 0 && h.start <= before.end + gap;
      if (before && !follows) steps2.push({ at: before.end, gpus: 0, what: "preempted" });
      if (follows && before.gpus === h.gpus && before.type === h.type) return;
      const change = !follows ? "started" : h.gpus > before.gpus ? "grown" : h.gpus < before.gpus ? "shrunk" : "moved";
      steps2.push({ at: h.start, gpus: h.gpus, what: change });
    });
    const last2 = l.held[l.held.length - 1]?.end ?? l.submitted;
    if (l.finished >= 0) steps2.push({ at: Math.max(l.finished, last2), gpus: 0, what: l.outcome });
    else if (l.held.length > 0 && last2 < end - gap) steps2.push({ at: last2, gpus: 0, what: "preempted" });
    return steps2;
  }
  var jobOf = (l) => ({ id: l.name, name: l.model, phase: l.outcome, gpus: 0 });
  function draw2() {
    const all2 = lives[policy] ?? [], begun = (/* @__PURE__ */ new Date(0)).toISOString(), submitted = report.jobs[policy] ?? 0;
    const o = { backend: "", at: begun, begun, elapsed: end, last: end, policy: "", title: "", live: false, gpus: [], nodes: [], jobs: all2.map(jobOf) };
    showTimeline({ begun, until: end, tracks: all2.map((l) => ({ job: l.name, user: l.model, steps: stepsOf(l) })), nodes: [] }, o);
    if (all2.length < submitted) byId("timeline-omitted").textContent = `Only the first ${counted(all2.length, "job")} of ${submitted} are drawn.`;
    showLife();
  }
  function showLife() {
    const r = route(), l = r.kind === "job" ? lives[policy]?.find((l2) => l2.name === r.name) : void 0;
    byId("timeline-job").hidden = l === void 0;
    if (!l) return;
    const facts = [["model", l.model], ["ended", l.finished < 0 ? "not in this run" : `${l.outcome} after ${span(l.finished)}`], ["completion time", span(l.jct)], ["time queued", span(l.queued)], ["restarts", String(l.restarts)], ["GPU-hours", String(Number(l.hours.toPrecision(3)))]];
    if (l.rho > 0) facts.push(["rho", String(Number(l.rho.toPrecision(3)))]);
    fill(byId("timeline-job"), el("h3", {}, l.name), el("dl", {}, ...facts.flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])));
  }
  var bar = byId("timeline-bar");
  if (report.policies.length > 1) select(bar, "policy", report.policies.map(seen), (i) => {
    policy = i;
    draw2();
  });
  csvButton(bar, "gantt", "CSV");
  csvButton(bar, "jobs", "jobs CSV");
  byId("timeline-find").addEventListener("input", (e) => {
    search(e.target.value);
    draw2();
  });
  addEventListener("hashchange", showLife);
  listenToTimeline();
  draw2();
})();
