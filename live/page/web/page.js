"use strict";
(() => {
  // web/dom.ts
  function el(tag, attributes = {}, ...children) {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    for (const c of children) if (c !== void 0) e.append(c);
    return e;
  }
  function svg(tag, attributes, ...children) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
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
  function gpus(h) {
    if (!h) return "no GPUs";
    const own = counted(h.gpus, `${h.type} GPU`.trim()) + (h.nodes > 1 ? ` on ${h.nodes} nodes` : "");
    return h.also ? `${own} and ${gpus(h.also)}` : own;
  }
  function holds(j) {
    if (!j.gpus && !j.nodes?.length) return void 0;
    return { nodes: j.nodes?.length ?? 1, gpus: j.gpus, type: j.gpu_type ?? "", also: j.also && { nodes: j.also.nodes, gpus: j.also.gpus, type: j.also.gpu_type } };
  }
  function asked(j) {
    if (j.asked) return j.asked;
    return j.min_gpus === j.max_gpus ? `${j.max_gpus ?? 0} GPUs` : `${j.min_gpus} to ${j.max_gpus} GPUs`;
  }
  var seconds = (time) => Date.parse(time ?? "") / 1e3;
  function ahead(r, at2) {
    if (!r) return void 0;
    const until = (t) => span(seconds(t) - seconds(at2));
    if (!r.early && !r.late) return r.unknown ? notKnown(r.unknown) : void 0;
    if (r.late && seconds(r.late) < seconds(at2)) return "overdue";
    const interval = r.probability ? ` (${Math.round(100 * r.probability)} % interval)` : "";
    let text = r.late ? `in ${until(r.late)} at the latest` : `in ${until(r.early)} at the earliest; how much later is not known`;
    if (r.early && r.late) text = between(until(r.early), until(r.late), r.likely && until(r.likely)) + interval;
    return [text, r.source, r.unknown].filter((s) => s).join("; ");
  }
  function when(overview2, at2) {
    if (!overview2.live) return "at " + span(at2);
    return new Date(Date.parse(overview2.begun) + at2 * 1e3).toLocaleTimeString();
  }
  function expected(e, what) {
    if (!e) return void 0;
    if (e.unknown) return notKnown(e.unknown);
    if (!e.probability) return "now";
    if (e.open) return `in ${span(e.early)} at the earliest; how much later is not known`;
    const record = e.of > 0 ? `; ${e.held} of the last ${counted(e.of, `${what} estimate`)} ${e.held === 1 ? "was" : "were"} right` : ", not tested in this run yet";
    return `${between(span(e.early), span(e.late), span(e.likely))} (${Math.round(100 * e.probability)} % interval${record})`;
  }
  var notKnown = (why) => why.startsWith("unreliable: ") ? why : "unknown: " + why;
  var between = (early, late, likely) => early === late ? `in ${early}` : `in ${early} to ${late}` + (likely ? `, median ${likely}` : "");
  function hue(id) {
    let h = 0;
    for (const c of id) h = h * 31 + c.codePointAt(0) >>> 0;
    return "hue" + h % 12;
  }
  var link = (id) => el("a", { href: "#job=" + encodeURIComponent(id) }, id);

  // web/act.ts
  var key = "oxgang-act";
  function takeToken() {
    if (!location.hash.startsWith("#act=")) return;
    sessionStorage.setItem(key, location.hash.slice(5));
    history.replaceState(null, "", location.pathname);
  }
  function cancelButton(id, what) {
    const button = el("button", { type: "button", class: "ask bad" }, "Cancel this job \u2026");
    button.addEventListener("click", () => confirm(id, what));
    return el("p", {}, button);
  }
  var processes = "Its processes are asked to end, and killed if they do not. Its checkpoints stay. This cannot be undone.";
  function confirm(id, what) {
    const dialog = byId("confirm");
    byId("confirm-what").textContent = what ?? processes;
    byId("confirm-title").textContent = `Cancel ${id}?`;
    byId("confirm-said").textContent = "";
    byId("confirm-yes").hidden = false;
    byId("confirm-yes").onclick = () => void cancel(id, dialog);
    byId("confirm-no").onclick = () => dialog.close();
    dialog.showModal();
    byId("confirm-no").focus();
  }
  async function cancel(id, dialog) {
    const answer2 = await fetch("/api/cancel?id=" + encodeURIComponent(id), { method: "POST", headers: { Authorization: "Bearer " + (sessionStorage.getItem(key) ?? "") } });
    if (answer2.ok) return dialog.close();
    byId("confirm-said").textContent = (await answer2.text()).trim();
    byId("confirm-yes").hidden = true;
  }

  // web/question.ts
  function ask(text, of, query, now) {
    const button = el("button", { type: "button", class: "ask" }, text);
    button.addEventListener("click", () => void answer(of(), query() + "&at=" + now.elapsed, now));
    return button;
  }
  async function answer(of, query, now) {
    byId("answer-card").hidden = false;
    const heading = el("h2", { tabindex: "-1" }, of);
    const meanwhile = el("p", { class: "soft" }, "Simulating \u2026");
    byId("answer").replaceChildren(heading, meanwhile);
    heading.focus();
    const got = await fetch("/api/question?" + query);
    const shown = got.ok ? show(await got.json(), now) : [el("p", { class: "bad" }, (await got.text()).trim())];
    meanwhile.replaceWith(...shown);
  }
  function show(a, now) {
    const all = [el("p", { class: "sentence" }, ends(a) + starts(a))];
    if (a.jobs.length > 0) all.push(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Jobs that would start or end at another time" }, el("table", {}, head(), el("tbody", {}, ...a.jobs.map(row)))));
    const from = when(now, (Date.parse(a.from) - Date.parse(now.begun)) / 1e3);
    all.push(el("p", { class: "soft" }, `Estimated by two simulations from the last round (${from}), one with expected new jobs and one without. Ranges are the two results; the mean is of their midpoints. The accuracy is unknown. Nothing was changed.`));
    return all;
  }
  function ends(a) {
    const known = a.sooner + a.later + a.same;
    const mean2 = a.mean === 0 ? "On average, their ends would not change." : `On average, they would end ${span(Math.abs(a.mean))} ${a.mean > 0 ? "sooner" : "later"}.`;
    return `${counted(a.sooner, "job")} would end sooner, ${a.later} later, and ${a.same} at the same time.  ` + (known > 0 ? mean2 : "") + (a.unknown > 0 ? ` The end of ${counted(a.unknown, "job")} is unknown.` : "");
  }
  var starts = (a) => a.start_sooner + a.start_later > 0 ? ` ${counted(a.start_sooner, "job")} would get GPUs sooner, and ${a.start_later} later.` : "";
  var head = () => el("thead", {}, el("tr", {}, ...["job", "gets GPUs", "would get them", "ends", "would end"].map((t) => el("th", { scope: "col" }, t))));
  var row = (s) => el("tr", {}, el("th", { scope: "row" }, link(s.job)), ...[s.starts, s.would_start].map((r) => el("td", {}, between2(r, ""))), ...[s.before, s.after].map((r) => el("td", {}, between2(r, "unknown"))));
  function between2(r, absent) {
    if (!r) return absent;
    const [early, late] = r.map(span);
    return early === late ? early === "0 s" ? "now" : `in ${early}` : `in ${early} to ${late}`;
  }
  var typed = "1";
  function onJob(id, now) {
    const name = encodeURIComponent(id);
    const size = el("input", { type: "number", min: "1", max: "9999", value: typed, "aria-label": "GPUs" });
    size.addEventListener("input", () => {
      typed = size.value;
    });
    return el("p", {}, "What if ", ask("it were cancelled?", () => `If ${id} were cancelled`, () => "cancel=" + name, now), " ", ask("it had as many GPUs:", () => `If ${id} had ${counted(Number(size.value), "GPU")}`, () => `resize=${name}&gpus=${size.value}`, now), " ", size);
  }

  // web/job.ts
  function showJob(id, page, overview2, log) {
    const m = page.moment?.moment, sentence = m?.sentence ?? page.job?.sentence;
    const known = m !== void 0 || page.job !== void 0;
    const facts = page.job ? factsOf(page.job, overview2) : [
      ["asked", (page.moment ?? page.life)?.asked],
      ["holds", m && gpus(m.holds)],
      ["before", m?.before && gpus(m.before)],
      ["what helps", m?.unblock],
      ["start", expected(m?.start, "start")],
      ["end", expected(m?.end, "end")],
      ["next", m?.next || void 0],
      ["spent", spent(page.life)]
    ];
    const all = [el("h2", { id: "job-title", tabindex: "-1" }, id)];
    if (sentence) all.push(el("p", { class: "sentence" }, sentence));
    all.push(el("dl", {}, ...facts.flatMap(([k, v]) => v === void 0 ? [] : [el("dt", {}, k), el("dd", {}, v)])));
    const details = [["reason", m?.details], ["weight", m?.weight]];
    if (details.some(([, v]) => v)) all.push(el("details", {}, el("summary", {}, "Prices and weights"), el("dl", {}, ...details.flatMap(([k, v]) => v ? [el("dt", {}, k), el("dd", {}, v)] : []))));
    if (overview2.asks && known && m?.phase !== "not submitted" && overview2.jobs.some((j) => j.id === id)) all.push(onJob(id, overview2));
    if (overview2.acts && known && overview2.jobs.some((j) => j.id === id)) all.push(cancelButton(id, overview2.cancelling));
    if (page.life?.changes) all.push(line(page.life.changes, nowOf(page, overview2)), el("ol", { class: "life" }, ...page.life.changes.map((c) => change(c, { begun: page.begun, live: overview2.live }))));
    for (const note of /* @__PURE__ */ new Set([page.moment?.note, page.life?.note])) if (note) all.push(el("p", { class: "soft" }, note));
    if (log !== void 0) all.push(el("h3", {}, "Last lines of its output"), el("pre", { tabindex: "0" }, log));
    fill(byId("job"), ...all);
  }
  var factsOf = (j, now) => [
    ["asked", asked(j)],
    ["holds", gpus(holds(j))],
    ["what helps", j.unblock],
    ["start", ahead(j.start, now.at)],
    ["end", ahead(j.end, now.at)]
  ];
  var change = (c, of) => el("li", {}, el("time", {}, when(of, c.at)), " ", c.text);
  function spent(life) {
    const t = life?.totals;
    if (!t) return void 0;
    return `${span(t.waiting)} waiting, ${span(t.holding)} with GPUs; held ${Number(t.gpu_hours.toPrecision(3))} GPU-hours, ${Number(t.lost_hours.toPrecision(2))} of them lost to starts and ${counted(t.restarts, "restart")}`;
  }
  var nowOf = (page, overview2) => overview2.live ? overview2.elapsed + (Date.parse(overview2.begun) - Date.parse(page.begun)) / 1e3 : overview2.last;
  function line(changes, now) {
    const from = changes[0].at, end = changes[changes.length - 1];
    const to = Math.max(end.what === "ended" ? end.at : now, end.at, from + 1);
    const most = Math.max(1, ...changes.map((c) => c.to?.gpus ?? 0));
    const x = (t) => 1e3 * (t - from) / (to - from);
    const bars = changes.flatMap((c, i) => {
      const until = changes[i + 1]?.at ?? to;
      let held = c.to?.gpus ?? 0;
      for (let k = i; k >= 0 && changes[k].what === "profiled"; k--) held = changes[k - 1]?.to?.gpus ?? 0;
      if (until <= c.at) return [];
      const h = held > 0 ? 8 + 42 * held / most : 3;
      return [svg("rect", { x: x(c.at), y: 54 - h, width: Math.max(1, x(until) - x(c.at)), height: h, class: held > 0 ? "has" : "waits" }, svg("title", {}, `${span(until - c.at)}: ${held > 0 ? counted(held, "GPU") : "none"}`))];
    });
    return el(
      "figure",
      {},
      svg("svg", { viewBox: "0 0 1000 56", preserveAspectRatio: "none", role: "img", "aria-label": `GPUs over its life: at most ${most}` }, ...bars),
      el("figcaption", { class: "soft" }, `GPUs over its life, at most ${most}; ${span(to - from)} in all`)
    );
  }

  // web/now.ts
  var waits = (j) => !holds(j);
  function showNow(overview2) {
    const jobs = overview2.jobs;
    fill(byId("attention"), ...attention(overview2));
    fill(byId("types"), ...idle(overview2));
    fill(byId("nodes"), ...overview2.nodes.slice(0, mostNodes).map(nodeOf), more(overview2.nodes.length, mostNodes, "node"));
    table("waiting", jobs.filter(waits), overview2);
    table("running", jobs.filter((j) => !waits(j)), overview2);
    fill(byId("ended"), ...(overview2.ended ?? []).map((e) => el("li", {}, link(e.id), ` ${e.phase} ${when(overview2, seconds(e.finished) - seconds(overview2.begun))}`, e.detail ? `: ${e.detail}` : void 0)));
  }
  var mostNodes = 500;
  var mostRows = 200;
  var more = (all, most, what) => all > most ? el("p", { class: "soft" }, `and ${counted(all - most, what)} more`) : "";
  function attention(overview2) {
    const all = [];
    for (const text of overview2.attention ?? []) all.push(el("li", { class: "bad" }, text));
    for (const j of overview2.jobs) if (j.trouble) all.push(el("li", { class: "bad" }, link(j.id), ": " + j.trouble));
    for (const e of overview2.ended ?? []) {
      const ago = seconds(overview2.at) - seconds(e.finished);
      if (e.outcome === "failed" && ago < 3600) all.push(el("li", { class: "bad" }, link(e.id), ` failed ${span(ago)} ago`, e.detail ? `: ${e.detail}` : void 0));
    }
    return all.length > 0 ? all : [el("li", { class: "soft" }, "Nothing needs your attention.")];
  }
  function idle(overview2) {
    return overview2.gpus.map((t) => {
      const free = t.total - t.held - t.unusable, price = priceOf(t, overview2);
      const first = overview2.jobs.find((j) => waits(j) && (!t.queue || j.queue === t.queue));
      const parts = [`${t.held} of ${t.total - t.unusable} held`];
      if (t.starting) parts.push(`${t.starting} rented, starting`);
      if (price !== void 0) parts.push(`price ${Number(price.toPrecision(3))}`);
      if (free > 0) parts.push(first ? `${free} free; first waiting job ${first.id}: ${first.sentence ?? ""}` : `${free} free, no job waits`);
      const more2 = overview2.asks ? ask("One more node?", () => `With one more node of ${t.type}`, () => `nodes=1&type=${encodeURIComponent(t.type)}`, overview2) : void 0;
      return el("li", {}, el("b", {}, [t.queue, t.type].filter((s) => s).join(", ")), ": " + parts.join("; ") + " ", more2);
    });
  }
  var priceOf = (t, overview2) => overview2.queues?.find((q) => q.name === (t.queue ?? ""))?.prices?.find((p) => p.type === t.type)?.price;
  function nodeOf(n) {
    const cells = [];
    for (const h of n.held ?? []) {
      for (let i = 0; i < h.gpus; i++) cells.push(el("a", { class: "gpu " + hue(h.job), href: "#job=" + encodeURIComponent(h.job), title: h.job, "aria-label": `${n.name}, GPU: ${h.job}` }));
    }
    const free = n.gpus - cells.length;
    for (let i = 0; i < free; i++) cells.push(el("span", { class: "gpu free", title: "free" }));
    const name = [n.name, n.type, free > 0 ? `${free} free` : "", n.closed].filter((s) => s).join(" \xB7 ");
    return el("div", { class: "node" }, el("div", { class: "name" }, name), el("div", { class: "gpus" }, ...cells));
  }
  function table(id, jobs, overview2) {
    byId(id + "-count").textContent = String(jobs.length);
    fill(byId(id), ...jobs.slice(0, mostRows).map((j) => row2(j, overview2)));
    fill(byId(id + "-more"), more(jobs.length, mostRows, "job"));
  }
  function row2(j, overview2) {
    const done = j.target && j.progress ? `${Math.min(100, Math.floor(100 * j.progress / j.target))} %` : "";
    const eta = ahead(waits(j) ? j.start : j.end, overview2.at) ?? "";
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, link(j.id)),
      el("td", {}, waits(j) ? asked(j) : gpus(holds(j))),
      el("td", {}, j.queue ? `${j.phase}, queue ${j.queue}` : j.phase),
      el("td", { class: "number" }, j.since ? span(seconds(overview2.at) - seconds(j.since)) : ""),
      el("td", { class: "number" }, done),
      el("td", {}, j.sentence ?? ""),
      el("td", {}, eta)
    );
  }

  // web/over.ts
  function showOver(s, at2) {
    const all = s.at ?? [];
    fill(
      byId("over"),
      chart("GPUs", all, [{ name: "total", values: s.gpus ?? [], kind: "line1" }, { name: "held", values: s.held ?? [], kind: "line0" }], at2),
      chart("Jobs", all, [{ name: "waiting", values: s.waiting ?? [], kind: "line2" }, { name: "running", values: s.running ?? [], kind: "line0" }], at2)
    );
  }
  var width = 600;
  var height = 140;
  var left = 40;
  var bottom = 18;
  function chart(title, at2, lines, now) {
    const last = at2[at2.length - 1] ?? 0, first = 0, length = Math.max(1, last - first);
    const most = Math.max(1, ...lines.map((l) => Math.max(0, ...l.values)));
    const x = (t) => left + (width - left - 4) * (t - first) / length;
    const y = (v) => 6 + (height - bottom - 6) * (1 - v / most);
    const marks = [
      svg("text", { x: left - 4, y: y(most) + 4, class: "right" }, String(most)),
      svg("text", { x: left - 4, y: y(0), class: "right" }, "0"),
      svg("text", { x: left, y: height - 3 }, span(0)),
      svg("text", { x: width - 4, y: height - 3, class: "right" }, span(length)),
      svg("line", { x1: left, x2: width - 4, y1: y(0), y2: y(0), class: "axis" })
    ];
    if (now !== void 0 && now >= first && now <= last) marks.push(svg("line", { x1: x(now), x2: x(now), y1: y(most), y2: y(0), class: "now" }));
    const drawn = lines.map((l) => svg("path", { class: l.kind, d: l.values.map((v, i) => i === 0 ? `M${x(at2[0])} ${y(v)}` : `H${x(at2[i])}V${y(v)}`).join("") }));
    const captions = lines.map((l) => `${l.name}: ${l.values[l.values.length - 1] ?? 0} at the end, at most ${Math.max(0, ...l.values)}, mean ${mean(at2, l.values)}`);
    return el(
      "figure",
      {},
      svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title} over ${span(length)}` }, ...marks, ...drawn),
      el("figcaption", {}, el("b", {}, title), ...lines.flatMap((l, i) => [el("span", { class: "key " + l.kind }), captions[i] + (i + 1 < lines.length ? "; " : "")]))
    );
  }
  function mean(at2, values) {
    let sum = 0;
    for (let i = 0; i + 1 < at2.length; i++) sum += values[i] * (at2[i + 1] - at2[i]);
    const length = (at2[at2.length - 1] ?? 0) - (at2[0] ?? 0);
    return length > 0 ? String(Number((sum / length).toPrecision(3))) : "unknown";
  }

  // web/main.ts
  var overview;
  var series;
  var at;
  async function ask2(path) {
    const answer2 = await fetch(path);
    if (!answer2.ok) throw new Error((await answer2.text()).trim());
    return await answer2.json();
  }
  var named = () => location.hash.startsWith("#job=") ? decodeURIComponent(location.hash.slice(5)) : void 0;
  var updating = false;
  var stale = false;
  async function update() {
    stale = true;
    if (updating) return;
    updating = true;
    for (; stale; await updateOnce()) stale = false;
    updating = false;
  }
  async function updateOnce() {
    try {
      if (overview === void 0) {
        overview = await ask2("/api/overview");
        if (!overview.live) at = overview.last / 2;
      }
      overview = await ask2("/api/overview?at=" + (at ?? 0));
      byId("title").textContent = overview.title;
      document.title = overview.title + " \xB7 Oxgang";
      byId("facts").textContent = `policy ${overview.policy} \xB7 ` + (overview.live ? "now, " + (/* @__PURE__ */ new Date()).toLocaleTimeString() : `recorded, ${span(overview.elapsed)} of ${span(overview.last)}`);
      byId("notes").textContent = (overview.notes ?? []).join(" ");
      byId("problem").textContent = "";
      slide(overview);
      showNow(overview);
      if (series) showOver(series, overview.live ? void 0 : overview.elapsed);
      await updateJob(overview);
    } catch (e) {
      byId("problem").textContent = "Not up to date: " + e.message;
    }
  }
  async function updateJob(now) {
    const id = named();
    byId("job-card").hidden = id === void 0;
    if (id === void 0) return;
    const query = `id=${encodeURIComponent(id)}&at=${now.elapsed}`;
    try {
      const page = await ask2("/api/job?" + query);
      const answer2 = now.live ? await fetch("/api/log?" + query) : void 0;
      showJob(id, page, now, answer2?.ok ? await answer2.text() : void 0);
    } catch (e) {
      byId("job").textContent = e.message;
    }
  }
  function slide(now) {
    byId("slider").hidden = now.live;
    const input = byId("time");
    input.max = String(now.last);
    input.value = String(now.elapsed);
    byId("time-text").textContent = span(now.elapsed);
  }
  async function updateSeries() {
    try {
      series = await ask2("/api/series");
      showOver(series, overview && !overview.live ? overview.elapsed : void 0);
    } catch (e) {
      byId("over").textContent = e.message;
    }
  }
  byId("time").addEventListener("input", (e) => {
    at = Number(e.target.value);
    void update();
  });
  addEventListener("hashchange", () => {
    if (overview) void updateJob(overview).then(() => document.getElementById("job-title")?.focus());
  });
  byId("forget").addEventListener("click", () => {
    byId("answer-card").hidden = true;
  });
  byId("close").addEventListener("click", () => {
    location.hash = "";
  });
  takeToken();
  void update().then(updateSeries).then(() => {
    document.body.dataset.ready = "true";
    if (!overview?.live) return;
    new EventSource("/api/changes").onmessage = () => void update();
    setInterval(() => void updateSeries(), 6e4);
  });
})();
