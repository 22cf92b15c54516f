"use strict";
(() => {
  // web/route.ts
  var latest = 3e9;
  function route() {
    const [path, query2] = location.hash.replace(/^#job=/, "#/job/").slice(1).split("?");
    const [, kind2, name] = path.split("/");
    const at2 = new URLSearchParams(query2).get("at");
    const moment2 = at2 === null ? NaN : Number(at2), possible = moment2 >= 0 && moment2 <= latest;
    const known = kind2 === "job" || kind2 === "node" ? kind2 : "";
    return { kind: known, name: known && name ? decoded(name) : "", at: possible ? moment2 : void 0 };
  }
  function decoded(name) {
    try {
      return decodeURIComponent(name);
    } catch {
      return name;
    }
  }
  var query = (at2) => at2 === void 0 ? "" : `?at=${Math.round(at2)}`;
  var href = (kind2, name, now) => `#/${kind2}/${encodeURIComponent(name)}` + query(now.live ? void 0 : now.elapsed);
  var jobHref = (id, now) => href("job", id, now);
  var nodeHref = (name, now) => href("node", name, now);
  var go = (hash2) => {
    location.hash = hash2;
  };
  function keepMoment(at2) {
    const r = route();
    history.replaceState(null, "", (r.kind ? `#/${r.kind}/${encodeURIComponent(r.name)}` : "#/") + query(at2));
  }

  // web/dom.ts
  function el(tag2, attributes = {}, ...children) {
    const e = document.createElement(tag2);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    for (const c of children) if (c !== void 0) e.append(c);
    return e;
  }
  var namespace = document.querySelector("svg").namespaceURI;
  function svg(tag2, attributes, ...children) {
    const e = document.createElementNS(namespace, tag2);
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
  var rough = (s) => span(s < 60 ? s : 60 * Math.floor(s / 60));
  var percent = (share) => `${Math.round(100 * share)} %`;
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
  var heldBy = (j) => j.gpus + (j.also?.gpus ?? 0);
  function asked(j) {
    if (j.asked) return j.asked;
    return j.min_gpus === j.max_gpus ? counted(j.max_gpus ?? 0, "GPU") : `${j.min_gpus} to ${j.max_gpus} GPUs`;
  }
  var seconds = (time) => Date.parse(time ?? "") / 1e3;
  function ahead(r, at2) {
    if (!r) return void 0;
    const until = (t) => span(seconds(t) - seconds(at2));
    if (!r.early && !r.late) return r.unknown ? notKnown(r.unknown) : void 0;
    if (r.late && seconds(r.late) < seconds(at2)) return "overdue";
    const interval = r.probability ? ` (${Math.round(100 * r.probability)} % likely)` : "";
    let text = r.late ? `\u2248 in ${until(r.late)} at the latest` : `\u2248 in ${until(r.early)} at the earliest; how much later is not known`;
    if (r.early && r.late) text = between(until(r.early), until(r.late), r.likely && until(r.likely)) + interval;
    return [text, r.source, r.unknown].filter((s) => s).join("; ");
  }
  function when(overview2, at2) {
    if (!overview2.live) return "at " + span(at2);
    return timeOfDay(new Date(Date.parse(overview2.begun) + at2 * 1e3));
  }
  function expected(e) {
    if (!e) return void 0;
    if (e.unknown) return notKnown(e.unknown);
    if (!e.probability) return "now";
    if (e.open) return `\u2248 in ${span(e.early)} at the earliest; how much later is not known`;
    const range2 = span(e.early) !== span(e.late), likely = `${Math.round(100 * e.probability)} % likely; `;
    const record = e.of > 0 ? `${e.held} of the last ${counted(e.of, "estimate")} ${e.held === 1 ? "was" : "were"} right` : "not tested in this run yet";
    return `${between(span(e.early), span(e.late), span(e.likely))} (${range2 ? likely : ""}${record})`;
  }
  var notKnown = (why) => why.startsWith("unreliable: ") ? why : "unknown: " + why;
  var between = (early, late, likely) => early === late ? `\u2248 in ${early}` : `\u2248 in ${early} to ${late}` + (likely && likely !== early && likely !== late ? `, median ${likely}` : "");
  var colours = 12;
  var chosen = /* @__PURE__ */ new Map();
  function colour(jobs) {
    const holding = new Set(jobs.filter((j) => heldBy(j) > 0).map((j) => j.id));
    for (const id of chosen.keys()) if (!holding.has(id)) chosen.delete(id);
    const taken = new Set(chosen.values());
    for (const id of holding) {
      if (chosen.has(id)) continue;
      let n = hash(id);
      for (let i = 0; taken.size < colours && taken.has(n) && i < colours; i++) n = (n + 1) % colours;
      chosen.set(id, n);
      taken.add(n);
    }
  }
  function hash(id) {
    let h = 0;
    for (const c of id) h = h * 31 + c.codePointAt(0) >>> 0;
    return h % colours;
  }
  var hue = (id) => "hue" + (chosen.get(id) ?? hash(id));
  var link = (id, now) => el("a", { href: jobHref(id, now), "data-job": id }, id);
  var coloured = (id, now) => el("span", { class: "coloured" }, el("i", { class: "key-box " + hue(id) }), link(id, now));
  var two = (n) => String(n).padStart(2, "0");
  function clock(t) {
    const d = new Date(1e3 * t), time = `${two(d.getHours())}:${two(d.getMinutes())}`;
    return Math.abs(t - Date.now() / 1e3) < 43200 ? time : `${date(d)} ${time}`;
  }
  var date = (d) => `${d.getDate()} ${d.toLocaleString("en", { month: "short" })}`;
  var timeOfDay = (d) => d.toTimeString().slice(0, 8);
  var moment = (o, t) => o.live ? clock(Date.parse(o.begun) / 1e3 + t) : span(t);
  function soon(r, at2) {
    if (!r || !r.early && !r.late) return r?.unknown ? "not known" : "";
    if (r.late && seconds(r.late) < seconds(at2)) return "overdue";
    if (!r.late) return "\u2248 " + clock(seconds(r.likely ?? r.early)) + " or later";
    if (!r.early) return "\u2248 by " + clock(seconds(r.late));
    const [early, late] = [clock(seconds(r.early)), clock(seconds(r.late))];
    return "\u2248 " + clock(seconds(r.likely ?? r.late)) + (early === late ? "" : ` (${early} to ${late})`);
  }

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
  function retryButton(id) {
    const button = el("button", { type: "button", class: "ask", "aria-label": "Retry " + id }, "Retry");
    button.addEventListener("click", () => void retry(id, button));
    return button;
  }
  async function retry(id, button) {
    button.disabled = true;
    const answer2 = await post("/api/retry", id);
    if (answer2.ok) return go("#/job/" + encodeURIComponent((await answer2.json()).job));
    button.replaceWith(el("span", { class: "bad", role: "status" }, (await answer2.text()).trim()));
  }
  var post = (path, id) => fetch(path + "?id=" + encodeURIComponent(id), { method: "POST", headers: { Authorization: "Bearer " + (sessionStorage.getItem(key) ?? "") } });
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
    const answer2 = await post("/api/cancel", id);
    if (answer2.ok) return dialog.close();
    byId("confirm-said").textContent = (await answer2.text()).trim();
    byId("confirm-yes").hidden = true;
  }

  // web/use.ts
  function busyOf(use) {
    const known = use.flatMap((u) => u.busy ?? []);
    return known.length > 0 ? known.reduce((sum, b) => sum + b, 0) / known.length : void 0;
  }
  var idleShare = 0.05;
  var isIdle = (u) => u.job !== void 0 && u.busy !== void 0 && u.busy <= idleShare;
  var gigabytes = (bytes) => (bytes / 2 ** 30).toFixed(0);
  var memory = (u) => u.memory?.total ? `${gigabytes(u.memory.used)} of ${gigabytes(u.memory.total)} GiB` : "";
  function described(u) {
    const known = [u.busy === void 0 ? "" : percent(u.busy) + " utilised", memory(u), u.celsius ? `${u.celsius} \xB0C` : "", u.watts ? `${u.watts} W` : ""].filter((s) => s);
    return `GPU ${u.gpu}: ${known.join(", ") || "not measured"}`;
  }
  function useOf(id, o) {
    const use = o.nodes.flatMap((n) => (n.use ?? []).filter((u) => u.job === id)), busy = busyOf(use);
    if (use.length === 0) return void 0;
    const most2 = use.reduce((a, b) => (b.memory?.used ?? 0) > (a.memory?.used ?? 0) ? b : a), hottest = Math.max(...use.map((u) => u.celsius ?? 0)), watts = use.reduce((sum, u) => sum + (u.watts ?? 0), 0);
    return [busy === void 0 ? "not measured" : percent(busy) + " utilised", memory(most2) && `memory ${memory(most2)}`, hottest ? `${hottest} \xB0C` : "", watts ? `${watts} W in all` : ""].filter((s) => s).join(", ");
  }
  function idleOf(id, o) {
    const hours = [...o.jobs, ...o.ended ?? []].find((j) => j.id === id)?.idle_gpu_hours;
    return hours ? `${Number(hours.toPrecision(3))} GPU-hours held but not used` : void 0;
  }

  // web/header.ts
  function showHeader(o) {
    const waiting = o.jobs.filter((j) => !holds(j)), waits2 = waiting.map((j) => waited(j, o)).sort((a, b) => a - b);
    const total2 = o.gpus.reduce((n, t) => n + t.total - t.unusable, 0), own = o.jobs.reduce((n, j) => n + j.gpus, 0);
    const held = total2 > 0 ? o.gpus.reduce((n, t) => n + t.held, 0) : own, free = Math.max(0, total2 - held);
    fill(byId("sentence"), ...sentence(held, total2, waiting, o));
    fill(
      byId("numbers"),
      number(total2 > 0 ? `${held} of ${total2}` : String(held), "GPUs held by jobs", ...used(o)),
      number(total2 > 0 ? String(free) : "?", free > 0 ? "free: " : total2 > 0 ? "free" : "free: not visible to you", ...free > 0 ? whyFree(o, waiting) : []),
      number(String(waiting.length), `job${waiting.length === 1 ? "" : "s"} waiting`),
      longest(waits2)
    );
  }
  function used(o) {
    const use = o.nodes.flatMap((n) => (n.use ?? []).filter((u) => u.job)), busy = busyOf(use), idle = use.filter(isIdle).length;
    if (busy === void 0) return [];
    return [`; ${percent(busy)} utilised`, ...idle > 0 ? [", ", el("span", { class: "bad" }, `${idle} left idle`)] : []];
  }
  function longest(waits2) {
    if (waits2.length < 20) return number(waits2.length > 0 ? rough(waits2[waits2.length - 1]) : "0 s", "longest wait so far");
    return number(rough(quantile(waits2, 0.9)), "9 of 10 waiting jobs have waited less");
  }
  var number = (value, ...label) => el("li", {}, el("b", {}, value), el("span", {}, ...label));
  function sentence(held, total2, waiting, o) {
    if (o.stale) return [`At ${clock(seconds(o.at))}, ${held}${total2 > 0 ? ` of ${total2}` : ""} GPUs were held and ${counted(waiting.length, "job")} waited.`];
    const gpus2 = total2 === 0 ? `${counted(held, "GPU")} ${held === 1 ? "is" : "are"} held` : held >= total2 ? `All ${counted(total2, "GPU")} are held` : `${held} of ${counted(total2, "GPU")} are held`;
    if (waiting.length === 0) return [`${gpus2} and no job waits.`];
    const longest2 = waiting.reduce((a, b) => waited(b, o) > waited(a, o) ? b : a);
    return [`${gpus2} and ${counted(waiting.length, "job")} ${waiting.length === 1 ? "waits" : "wait"}: `, link(longest2.id, o), ` has waited longest, ${rough(waited(longest2, o))}.`];
  }
  var waited = (j, o) => Math.max(0, seconds(o.at) - seconds(j.since ?? j.submitted ?? o.at));
  var quantile = (sorted, share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  var causes = {
    down: "nodes are down",
    drained: "nodes are drained",
    reserved: "nodes are reserved",
    unwanted: "no waiting job may use them",
    cpus: "too few CPUs are free",
    memory: "too little memory is free",
    fragmented: "each waiting job needs more on one node",
    planned: "kept for a job of higher priority",
    wanted: "a job may start soon"
  };
  function whyFree(o, waiting) {
    if (waiting.length === 0) return ["no job waits"];
    const count = /* @__PURE__ */ new Map();
    for (const n of o.nodes) if (n.cause && !n.closed) count.set(n.cause, (count.get(n.cause) ?? 0) + n.gpus - n.used);
    const [most2] = [...count].sort((a, b) => b[1] - a[1]);
    if (most2) return [causes[most2[0]] ?? most2[0]];
    const next = waiting[0];
    return [link(next.id, o), next.brief ? ": " + next.brief : " is next"];
  }

  // web/question.ts
  function ask(text, of, query2, now) {
    const button = el("button", { type: "button", class: "ask" }, text);
    button.addEventListener("click", () => void answer(of(), query2() + "&at=" + now.elapsed, now));
    return button;
  }
  async function answer(of, query2, now) {
    byId("answer-card").hidden = false;
    const heading = el("h2", { tabindex: "-1" }, of);
    const meanwhile = el("p", { class: "soft" }, "Simulating \u2026");
    byId("answer").replaceChildren(heading, meanwhile);
    heading.focus();
    const got = await fetch("/api/question?" + query2);
    const shown2 = got.ok ? show(await got.json(), now) : [el("p", { class: "bad" }, (await got.text()).trim())];
    meanwhile.replaceWith(...shown2);
  }
  function show(a, now) {
    const all3 = [el("p", { class: "sentence" }, ends(a) + starts(a))];
    if (a.jobs.length > 0) all3.push(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Jobs that would start or end at another time" }, el("table", {}, head(), el("tbody", {}, ...a.jobs.map((s) => row(s, now))))));
    const from = when(now, (Date.parse(a.from) - Date.parse(now.begun)) / 1e3);
    all3.push(el("p", { class: "soft" }, `Estimated by two simulations from the last round (${from}), one with expected new jobs and one without. Ranges are the two results; the mean is of their midpoints. The accuracy is unknown. Nothing was changed.`));
    return all3;
  }
  function ends(a) {
    const known = a.sooner + a.later + a.same;
    const mean2 = a.mean === 0 ? "On average, their ends would not change." : `On average, they would end ${span(Math.abs(a.mean))} ${a.mean > 0 ? "sooner" : "later"}.`;
    return `${counted(a.sooner, "job")} would end sooner, ${a.later} later, and ${a.same} at the same time.  ` + (known > 0 ? mean2 : "") + (a.unknown > 0 ? ` The end of ${counted(a.unknown, "job")} is unknown.` : "");
  }
  var starts = (a) => a.start_sooner + a.start_later > 0 ? ` ${counted(a.start_sooner, "job")} would get GPUs sooner, and ${a.start_later} later.` : "";
  var head = () => el("thead", {}, el("tr", {}, ...["job", "gets GPUs", "would get them", "ends", "would end"].map((t) => el("th", { scope: "col" }, t))));
  var row = (s, now) => el("tr", {}, el("th", { scope: "row" }, link(s.job, now)), ...[s.starts, s.would_start].map((r) => el("td", {}, between2(r, ""))), ...[s.before, s.after].map((r) => el("td", {}, between2(r, "unknown"))));
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

  // web/track.ts
  var ends2 = ["done", "failed", "cancelled", "ended"];
  function rowOf(track, job, offset, o) {
    const now = o.elapsed, steps2 = track.steps.map((s) => ({ ...s, at: s.at + offset }));
    if (job && o.live) bringUpToDate(steps2, job, o);
    const bars = steps2.flatMap((s, i) => barsOf(s, steps2[i + 1]?.at ?? (ends2.includes(s.what) ? s.at : Math.max(o.live ? now : o.last, s.at)), o));
    if (job && o.live) bars.push(...forecast(job, o));
    const holding = job !== void 0 && heldBy(job) > 0, marks = steps2.filter((s) => s.what !== "submitted" && s.what !== "started");
    return { id: track.job, user: track.user ?? "", bars, marks, from: steps2[0].at, to: Math.max(steps2[steps2.length - 1].at, ...bars.map((b) => b.to)), rank: holding ? 0 : job ? 1 : 2 };
  }
  function bringUpToDate(steps2, job, o) {
    const last3 = steps2[steps2.length - 1], gpus2 = heldBy(job);
    if (last3.gpus !== gpus2) steps2.push({ at: Math.max(last3.at, job.since ? seconds(job.since) - seconds(o.begun) : o.elapsed), gpus: gpus2, what: gpus2 > last3.gpus ? "started" : "preempted" });
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
    const gpus2 = heldBy(j) || j.min_gpus || 1;
    return [{ from, to, gpus: gpus2, kind: "forecast" }];
  }
  var words2 = { grown: "got more GPUs", shrunk: "gave up GPUs", moved: "moved", preempted: "was preempted", lost: "lost its GPUs to a failure", done: "completed", failed: "failed", cancelled: "was cancelled", ended: "ended" };
  function drawTrack(row3, view2, width2, height2, most2, o) {
    const x = (t) => width2 * (t - view2.from) / (view2.to - view2.from), within = (t) => Math.min(width2, Math.max(0, x(t)));
    const all3 = [];
    for (const b of row3.bars) {
      if (b.to < view2.from || b.from > view2.to) continue;
      const h = b.gpus > 0 ? 6 + (height2 - 10) * Math.min(1, b.gpus / most2) : 2, left2 = within(b.from);
      const box = { x: left2, y: height2 - 2 - h, width: Math.max(1, within(b.to) - left2), height: h };
      const text = `${row3.id}: ${b.gpus > 0 ? counted(b.gpus, "GPU") : "waiting"}, ${b.kind === "forecast" ? "\u2248 " : ""}${moment(o, b.from)} to ${moment(o, b.to)} (${span(b.to - b.from)})`;
      all3.push(svg("rect", { ...box, class: b.gpus > 0 ? `${hue(row3.id)} ${b.kind}` : "waits" }, svg("title", {}, text)));
      if (b.kind === "forecast") all3.push(svg("rect", { ...box, class: "over" }));
    }
    for (const m of row3.marks) if (m.at >= view2.from && m.at <= view2.to) all3.push(mark(m, x(m.at), height2, o));
    if (o.elapsed >= view2.from && o.elapsed <= view2.to) all3.push(svg("line", { x1: x(o.elapsed), x2: x(o.elapsed), y1: 0, y2: height2, class: "now" }));
    return svg("svg", { width: width2, height: height2, "aria-hidden": "true" }, ...all3);
  }
  function mark(m, x, height2, o) {
    const title = svg("title", {}, `${moment(o, m.at)}: ${m.text ?? words2[m.what] ?? m.what}`), y = height2 / 2;
    if (m.what === "failed" || m.what === "lost") return svg("path", { class: "mark fails", d: `M${x - 4} ${y - 4}l8 8m0 -8l-8 8` }, title);
    if (m.what === "grown") return svg("path", { class: "mark", d: `M${x - 4} ${y + 3}l4 -7l4 7z` }, title);
    if (m.what === "shrunk" || m.what === "preempted") return svg("path", { class: "mark", d: `M${x - 4} ${y - 3}l4 7l4 -7z` }, title);
    return svg("circle", { class: "mark", cx: x, cy: y, r: 3 }, title);
  }
  var steps = [1, 2, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2419200, 7776e3];
  function ticksOf(view2, width2, o) {
    const length = view2.to - view2.from, step2 = steps.find((s) => s / length * width2 >= 80) ?? length;
    const zone = o.live ? -60 * new Date(o.at).getTimezoneOffset() : 0, origin = o.live ? Date.parse(o.begun) / 1e3 + zone : 0;
    const all3 = [];
    if (!(length > 0)) return all3;
    const first3 = Math.ceil((view2.from + origin) / step2) * step2 - origin;
    for (let i = 0; first3 + i * step2 <= view2.to && i <= width2; i++) {
      const t = first3 + i * step2;
      const x = width2 * (t - view2.from) / length;
      if (x >= 24 && x <= width2 - 24) all3.push({ x, text: tick(t, step2, o) });
    }
    return all3;
  }
  function drawAxis(view2, width2, o, events2 = []) {
    const x = (t) => width2 * (t - view2.from) / (view2.to - view2.from);
    const all3 = ticksOf(view2, width2, o).flatMap((t) => [svg("line", { x1: t.x, x2: t.x, y1: 18, y2: 24, class: "axis" }), svg("text", { x: t.x, y: 13, class: "middle" }, t.text)]);
    for (const e of events2) if (e.at >= view2.from && e.at <= view2.to) all3.push(svg("path", { class: "mark fails", d: `M${x(e.at) - 4} 16h8l-4 8z` }, svg("title", {}, `${moment(o, e.at)}: ${e.text}`)));
    return svg("svg", { width: width2, height: 24, "aria-hidden": "true" }, ...all3);
  }
  function tick(t, step2, o) {
    if (!o.live) return span(t);
    const d = new Date(Date.parse(o.begun) + 1e3 * t);
    if (step2 >= 86400 || d.getHours() === 0 && d.getMinutes() === 0) return date(d);
    return timeOfDay(d).slice(0, step2 < 60 ? 8 : 5);
  }
  function spoken(row3, o) {
    const changes = row3.marks.length, held = row3.bars.filter((b) => b.kind === "past" && b.gpus > 0).reduce((sum, b) => sum + b.to - b.from, 0);
    return `${row3.id}: since ${moment(o, row3.from)}, ${span(held)} with GPUs, ${counted(changes, "change")}`;
  }
  var figure = (...children) => el("figure", { class: "life-line" }, ...children);

  // web/job.ts
  function showJob(id, page, overview2, log) {
    const m = page.moment?.moment, sentence2 = m?.sentence ?? page.job?.sentence;
    const known = m !== void 0 || page.job !== void 0;
    const facts2 = page.job ? factsOf(page.job, overview2) : [
      ["asked", (page.moment ?? page.life)?.asked],
      ["holds", m && gpus(m.holds)],
      ["before", m?.before && gpus(m.before)],
      ["what helps", m?.unblock],
      ["start", expected(m?.start)],
      ["end", expected(m?.end)],
      ["afterwards", m?.next || void 0],
      ["spent", spent(page.life)]
    ];
    const own = overview2.jobs.find((j) => j.id === id);
    facts2.push(["GPU use", useOf(id, overview2) ?? (own && heldBy(own) > 0 ? overview2.live ? "not measured" : "a journal does not contain it" : void 0)], ["idle", idleOf(id, overview2)], ["output", overview2.no_output]);
    const all3 = [el("h2", { id: "job-title", tabindex: "-1" }, id)];
    if (own?.trouble) all3.push(el("p", { class: "bad" }, own.trouble));
    if (sentence2) all3.push(el("p", { class: "sentence" }, sentence2));
    all3.push(el("dl", {}, ...facts2.flatMap(([k, v]) => v === void 0 ? [] : [el("dt", {}, k), el("dd", {}, v)])));
    const details = [["reason", m?.details], ["weight", m?.weight]];
    if (details.some(([, v]) => v)) all3.push(el("details", {}, el("summary", {}, "Prices and weights"), el("dl", {}, ...details.flatMap(([k, v]) => v ? [el("dt", {}, k), el("dd", {}, v)] : []))));
    if (overview2.asks && known && m?.phase !== "not submitted" && overview2.jobs.some((j) => j.id === id)) all3.push(onJob(id, overview2));
    if (overview2.acts && known && overview2.jobs.some((j) => j.id === id)) all3.push(cancelButton(id, overview2.cancelling));
    if (overview2.retries && overview2.ended?.some((e) => e.id === id && e.outcome === "failed")) all3.push(el("p", {}, retryButton(id)));
    if (page.life?.changes) all3.push(line(id, page, overview2), el("ol", { class: "life" }, ...page.life.changes.map((c) => change(c, { begun: page.begun, live: overview2.live }))));
    for (const note of /* @__PURE__ */ new Set([page.moment?.note, page.life?.note])) if (note) all3.push(el("p", { class: "soft" }, note));
    if (log !== void 0) all3.push(el("h3", {}, "Last lines of its output"), el("pre", { tabindex: "0" }, log));
    fill(byId("job"), ...all3);
  }
  var factsOf = (j, now) => [
    ["ended", j.finished ? `${j.phase} ${clock(seconds(j.finished))}${j.detail ? ": " + j.detail : ""}` : void 0],
    ["user", j.user],
    ["asked", j.asked || j.max_gpus ? asked(j) : void 0],
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
  function line(id, page, o) {
    const changes = page.life.changes, offset = (Date.parse(page.begun) - Date.parse(o.begun)) / 1e3;
    const row3 = rowOf({ job: id, steps: changes.map((c, i) => stepOf(c, changes[i - 1])) }, o.jobs.find((j) => j.id === id), offset, o);
    row3.marks = changes.filter((c) => c.what !== "submitted" && c.what !== "waits").map((c) => ({ at: c.at + offset, what: c.what, text: c.text }));
    const margin = Math.max(1, (row3.to - row3.from) / 50), view2 = { from: row3.from - margin, to: row3.to + margin }, width2 = Math.max(280, byId("job").clientWidth), most2 = Math.max(1, ...row3.bars.map((b) => b.gpus));
    return figure(drawAxis(view2, width2, o), drawTrack(row3, view2, width2, 56, most2, o), el("figcaption", { class: "soft" }, `GPUs over its life, at most ${most2}; ${span(row3.to - row3.from)} in all`));
  }
  var stepOf = (c, before) => ({ at: c.at, gpus: total(c.what === "profiled" ? before?.to : c.to), what: c.what });
  var total = (h) => h ? h.gpus + total(h.also) : 0;

  // web/rows.ts
  var mostPlain = 100;
  var spare = 12;
  var tables = /* @__PURE__ */ new Map();
  function showRows(body, jobs, draw2) {
    const scroller = body.closest(".scroll");
    if (!tables.has(body)) {
      let due2 = false;
      scroller.addEventListener("scroll", () => {
        if (due2) return;
        due2 = true;
        requestAnimationFrame(() => {
          due2 = false;
          drawRows(body, false);
        });
      });
    }
    scroller.classList.toggle("many", jobs.length > mostPlain);
    scroller.hidden = jobs.length === 0;
    tables.set(body, { jobs, draw: draw2, first: -1, height: rowHeight(scroller) });
    drawRows(body, true);
  }
  var rowHeight = (scroller) => parseFloat(getComputedStyle(scroller).getPropertyValue("--row")) || 48;
  function drawRows(body, changed) {
    const t = tables.get(body), scroller = body.closest(".scroll");
    if (t.jobs.length <= mostPlain) {
      if (changed) fill(body, ...t.jobs.map(t.draw));
      return;
    }
    const first3 = Math.max(0, Math.floor(scroller.scrollTop / t.height) - spare), end = Math.min(t.jobs.length, first3 + Math.ceil((scroller.clientHeight || 600) / t.height) + 2 * spare);
    if (!changed && Math.abs(first3 - t.first) < spare / 2) return;
    t.first = first3;
    const rows2 = t.jobs.slice(first3, end).map(t.draw);
    rows2.forEach((r, i) => r.setAttribute("aria-rowindex", String(first3 + i + 2)));
    body.closest("table").setAttribute("aria-rowcount", String(t.jobs.length + 1));
    fill(body, gap(first3 * t.height), ...rows2, gap((t.jobs.length - end) * t.height));
  }
  function gap(height2) {
    const cell3 = el("td", { colspan: "8" }), row3 = el("tr", { class: "gap", "aria-hidden": "true" }, cell3);
    cell3.style.height = `${height2}px`;
    return row3;
  }
  function reveal(body, id) {
    const t = tables.get(body), i = t?.jobs.findIndex((j) => j.id === id) ?? -1, scroller = body.closest(".scroll");
    if (!t || i < 0) return null;
    if (t.jobs.length > mostPlain && (i * t.height < scroller.scrollTop || (i + 2) * t.height > scroller.scrollTop + scroller.clientHeight)) {
      scroller.scrollTop = Math.max(0, (i - 2) * t.height);
      drawRows(body, true);
    }
    return body.querySelector(`a[data-job="${CSS.escape(id)}"]`);
  }
  var listed = (body) => tables.get(body)?.jobs.map((j) => j.id) ?? [];

  // web/keys.ts
  var opening = false;
  function listen() {
    byId("search").addEventListener("beforeinput", (e) => {
      if (opening && e.data === "/") e.preventDefault();
    });
    addEventListener("keyup", () => {
      opening = false;
    });
    addEventListener("keydown", (e) => {
      const typing = e.target instanceof HTMLInputElement && e.target.type !== "range";
      if (e.ctrlKey || e.metaKey || e.altKey || byId("confirm").open || byId("help").open) return;
      if (typing && e.key !== "Escape" && e.key !== "Enter") return;
      if (act(e.key, typing)) e.preventDefault();
    });
    byId("help-open").addEventListener("click", () => byId("help").showModal());
    byId("help-close").addEventListener("click", () => byId("help").close());
  }
  function act(key2, typing) {
    switch (key2) {
      case "/":
        opening = true;
        byId("search").focus();
        return true;
      case "?":
        byId("help").showModal();
        return true;
      case "j":
        step(1);
        return true;
      case "k":
        step(-1);
        return true;
      case "Enter":
        return typing && document.activeElement === byId("search") && first();
      case "Escape":
        return typing ? leave() : close();
    }
    return false;
  }
  function step(by) {
    const bodies = [byId("waiting"), byId("running")], ids = bodies.map(listed), flat = ids.flat();
    if (flat.length === 0) return;
    const focused = document.activeElement, body = focused?.closest("tbody"), id = body && focused instanceof HTMLElement ? focused.dataset.job : void 0;
    const now = id === void 0 ? by > 0 ? -1 : flat.length : flat.indexOf(id), next = Math.min(flat.length - 1, Math.max(0, now + by));
    reveal(next < ids[0].length ? bodies[0] : bodies[1], flat[next])?.focus();
  }
  function first() {
    const body = [byId("waiting"), byId("running")].find((b) => listed(b).length > 0);
    if (!body) return false;
    reveal(body, listed(body)[0])?.click();
    return true;
  }
  function leave() {
    const input = byId("search");
    input.value = "";
    input.dispatchEvent(new Event("input"));
    input.blur();
    return true;
  }
  function close() {
    if (route().kind === "") return false;
    go("#/");
    return true;
  }

  // web/search.ts
  var words3 = [];
  function search(text) {
    words3 = text.toLowerCase().split(/\s+/).filter((w) => w);
  }
  var all = (text) => words3.every((w) => text.toLowerCase().includes(w));
  var matches = (j) => words3.length === 0 || all([j.id, j.name, j.user, j.namespace, j.queue, ...(j.nodes ?? []).map((n) => n.node)].join(" "));
  var nodeMatches = (n) => words3.length === 0 || all([n.name, n.type, n.queue, ...(n.held ?? []).map((h) => h.job)].join(" "));
  var searching = () => words3.length > 0;

  // web/nodes.ts
  var mostNodes = 64;
  var mostNamed = 24;
  var unfolded = false;
  function showNodes(o) {
    const found2 = o.nodes.filter(nodeMatches);
    if (found2.length > mostNodes) found2.sort((a, b) => Number(calm(a)) - Number(calm(b)));
    const shown2 = unfolded ? found2 : found2.slice(0, mostNodes), dense = shown2.length > mostNamed;
    byId("nodes-measured").hidden = !found2.some((n) => n.use?.some((u) => u.job));
    byId("nodes-closed").hidden = !found2.some((n) => n.closed);
    byId("nodes").classList.toggle("dense", dense);
    fill(byId("nodes"), ...shown2.map((n) => nodeOf(n, o, dense)));
    fill(byId("nodes-more"), ...found2.length > mostNodes ? [fold(found2, o)] : []);
  }
  var calm = (n) => !n.closed && !n.use?.some(isIdle);
  function fold(found2, o) {
    const rest = found2.slice(mostNodes), full = rest.filter((n) => n.used >= n.gpus && !n.closed).length, closed = rest.filter((n) => n.closed).length;
    const button = el("button", { type: "button", class: "ask" }, unfolded ? "Show fewer" : "Show all");
    button.addEventListener("click", () => {
      unfolded = !unfolded;
      showNodes(o);
    });
    return el("p", {}, unfolded ? "" : `${counted(rest.length, "more node")}: ${full} full, ${rest.length - full - closed} with free GPUs, ${closed} closed. `, button);
  }
  function nodeOf(n, o, dense = false) {
    const held = n.held ?? [], free = n.gpus - held.reduce((sum, h) => sum + h.gpus, 0);
    const busy = busyOf(n.use ?? []), idle = (n.use ?? []).filter(isIdle).length;
    const name = [dense ? "" : n.type, idle > 0 ? `${idle} left idle` : "", n.closed, free > 0 && !n.closed ? `${free} free` : "", dense || busy === void 0 ? "" : percent(busy) + " utilised", dense ? n.type : ""].filter((s) => s).map((s) => " \xB7 " + s).join("");
    return el(
      "div",
      { class: n.closed ? "node closed" : "node" },
      el("div", { class: "name" }, el("a", { href: nodeHref(n.name, o), title: [n.type, n.closed, n.idle].filter((s) => s).join("; ") }, n.name), name),
      el("div", { class: "gpus" }, ...held.map((h) => block(n, h, o)), ...free > 0 ? [el("span", { class: "cells", title: "free" }, ...cells("gpu free", free))] : []),
      el("div", { class: "who" }, ...held.slice(0, 4).flatMap((h, i) => [i > 0 ? " \xB7 " : "", h.job]), held.length > 4 ? ` \xB7 ${held.length - 4} more` : "")
    );
  }
  var cells = (kind2, n, use = []) => Array.from({ length: n }, (_, i) => cell(kind2, use[i]));
  function cell(kind2, u) {
    if (u?.busy === void 0) return el("i", u ? { class: kind2, title: `${u.job}: ${described(u)}` } : { class: kind2 });
    if (isIdle(u)) kind2 += " wasted";
    const unused = el("i", { class: "unused" });
    unused.style.height = percent(1 - u.busy).replace(" ", "");
    return el("i", { class: kind2, title: `${u.job}: ${described(u)}` }, unused);
  }
  function block(n, h, o) {
    const use = (n.use ?? []).filter((u) => u.job === h.job), busy = busyOf(use), text = busy === void 0 ? "" : `, ${percent(busy)} utilised`;
    return el("a", { class: "cells", href: jobHref(h.job, o), title: h.job + text, "aria-label": `${h.job}: ${counted(h.gpus, "GPU")} on ${n.name}${text}` }, ...cells("gpu " + hue(h.job), h.gpus, use));
  }
  function showNode(name, o) {
    const n = o.nodes.find((n2) => n2.name === name), title = el("h2", { id: "node-title", tabindex: "-1" }, name);
    if (!n) return [title, el("p", {}, "No such node now. It may have left the cluster, or you may not see it.")];
    const held = (n.held ?? []).map((h) => el("li", {}, link(h.job, o), `: ${counted(h.gpus, "GPU")}`));
    return [title, nodeOf(n, o), el("p", {}, [n.closed, n.idle].filter((s) => s).join("; ")), el("ul", {}, ...held.length > 0 ? held : [el("li", {}, "No job has GPUs here.")], ...(n.use ?? []).map((u) => el("li", {}, (u.job ? u.job + ", " : "") + described(u))))];
  }

  // web/attention.ts
  var recent = 24 * 3600;
  var mostKept = 200;
  var all2 = false;
  function showAttention(o) {
    const dismissed = stored(o), items = found(o), open2 = items.filter((i) => all2 || !gone(i, dismissed));
    byId("attention-count").textContent = String(open2.length);
    fill(byId("attention"), ...open2.length > 0 ? open2.map((i) => entry(i, o, dismissed)) : [el("li", { class: "soft" }, "Nothing needs you.")]);
    const hidden = items.length - open2.length;
    fill(byId("attention-more"), ...hidden > 0 || all2 ? [toggle(hidden, o)] : []);
  }
  var gone = (i, dismissed) => i.key !== void 0 && dismissed.includes(i.key);
  function found(o) {
    const items = [];
    if (o.live && document.body.dataset.state === "stale") items.push({ content: [`The scheduler has not answered since ${clock(seconds(o.at))}. This page shows the last known state.`] });
    if (o.silent_since) items.push({ content: [`The scheduler has not answered since ${clock(seconds(o.silent_since))}. Oxgang starts and changes no job until it runs again.`] });
    items.push(...(o.attention ?? []).map((text) => ({ key: text, content: [text] })));
    for (const j of o.jobs) if (j.trouble) items.push({ key: `${j.id} ${j.trouble}`, job: j.id, content: [link(j.id, o), ": " + j.trouble] });
    for (const e of o.ended ?? []) if (e.outcome === "failed" && seconds(o.at) - seconds(e.finished) < recent) items.push(failure(e, o));
    return [...items, ...closedNodes(o)];
  }
  var onPurpose = /^(reservation |in no queue$)/;
  var mostNamed2 = 3;
  function closedNodes(o) {
    const by = /* @__PURE__ */ new Map();
    for (const n of o.nodes) if (n.closed && !onPurpose.test(n.closed)) by.set(n.closed, [...by.get(n.closed) ?? [], n.name]);
    return [...by].map(([why, names]) => {
      const shown2 = names.slice(0, mostNamed2).flatMap((n, i) => [i > 0 ? ", " : "", el("a", { href: nodeHref(n, o) }, n)]), more = names.length - mostNamed2;
      return { key: `${why} ${names.join(" ")}`, content: [...shown2, more > 0 ? ` and ${counted(more, "more node")}` : "", ` ${names.length === 1 ? "starts" : "start"} no jobs: ${why}`] };
    });
  }
  var failure = (e, o) => ({
    key: `${e.id} ${e.finished}`,
    job: e.id,
    failed: true,
    content: [link(e.id, o), ` failed ${o.live ? "" : "at "}${moment(o, seconds(e.finished) - seconds(o.begun))}`, e.detail ? `: ${e.detail}` : ""]
  });
  function entry(i, o, dismissed) {
    const actions = [];
    if (i.job !== void 0 && o.backend === "machine") actions.push(el("a", { href: jobHref(i.job, o), "aria-label": `log of ${i.job}` }, "log"));
    if (i.job !== void 0 && i.failed && o.retries) actions.push(retryButton(i.job));
    if (i.key !== void 0 && !gone(i, dismissed)) actions.push(dismiss(i, i.key, o));
    return el("li", {}, el("span", { class: "bad" }, ...i.content), " ", ...actions.flatMap((a) => [a, " "]));
  }
  function dismiss(i, key2, o) {
    const button = el("button", { type: "button", class: "ask" }, "Dismiss");
    if (i.job !== void 0) button.setAttribute("aria-label", "Dismiss " + i.job);
    button.addEventListener("click", () => {
      store(o, [...stored(o), key2].slice(-mostKept));
      showAttention(o);
      byId("attention-title").focus();
    });
    return button;
  }
  function toggle(hidden, o) {
    const button = el("button", { type: "button", class: "ask" }, all2 ? "Hide dismissed" : `Show ${counted(hidden, "dismissed item")}`);
    button.addEventListener("click", () => {
      all2 = !all2;
      showAttention(o);
    });
    return button;
  }
  var place = (o) => "oxgang-dismissed " + o.title;
  function stored(o) {
    try {
      const kept = JSON.parse(localStorage.getItem(place(o)) ?? "[]");
      return Array.isArray(kept) ? kept.filter((k) => typeof k === "string") : [];
    } catch {
      return [];
    }
  }
  function store(o, keys2) {
    try {
      localStorage.setItem(place(o), JSON.stringify(keys2));
    } catch {
    }
  }

  // web/now.ts
  var waits = (j) => !holds(j);
  function showNow(o) {
    showAttention(o);
    fill(byId("types"), ...types(o));
    showNodes(o);
    const found2 = o.jobs.filter((j) => matches(j));
    const earliestFirst = (a, b) => waited(b, o) - waited(a, o);
    table("waiting", found2.filter(waits).sort(earliestFirst), o);
    table("running", found2.filter((j) => !waits(j)).sort(earliestFirst), o);
    fill(byId("ended"), ...(o.ended ?? []).map((e) => ended(e, o)));
  }
  var ended = (e, o) => el("li", {}, link(e.id, o), ` ${e.phase} ${when(o, seconds(e.finished) - seconds(o.begun))}`, e.detail ? `: ${e.detail}` : void 0);
  function types(o) {
    return o.gpus.map((t) => {
      const free = t.total - t.held - t.unusable, price = priceOf(t, o);
      const parts = [`${t.held} of ${t.total - t.unusable} held`];
      if (t.starting) parts.push(`${t.starting} rented, starting`);
      if (price !== void 0) parts.push(`price ${Number(price.toPrecision(3))}`);
      if (free > 0) parts.push(`${free} free`);
      if (t.unusable > 0) parts.push(`${t.unusable} on closed nodes`);
      const more = o.asks ? ask("One more node?", () => `With one more node of ${t.type}`, () => `nodes=1&type=${encodeURIComponent(t.type)}`, o) : void 0;
      return el("li", {}, el("b", {}, [t.queue, t.type].filter((s) => s).join(", ")), ": " + parts.join("; ") + " ", more);
    });
  }
  var priceOf = (t, o) => o.queues?.find((q) => q.name === (t.queue ?? ""))?.prices?.find((p) => p.type === t.type)?.price;
  function table(id, jobs, o) {
    byId(id + "-count").textContent = String(jobs.length);
    byId(id + "-none").hidden = jobs.length > 0;
    byId(id + "-order").hidden = jobs.length < 2;
    const used2 = (has) => jobs.some(has);
    const lacks = [used2(who) ? "" : "user", used2((j) => j.target && j.progress) ? "" : "done", used2((j) => range(j)) ? "" : "eta"].join(" ");
    byId(id).closest("table").dataset.lacks = lacks;
    showRows(byId(id), jobs, (j) => row2(j, o));
  }
  var range = (j) => waits(j) ? j.start : j.end;
  function row2(j, o) {
    const expected2 = range(j), since = j.since ? seconds(j.since) : NaN, ago = rough(seconds(o.at) - since);
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, waits(j) ? link(j.id, o) : coloured(j.id, o), alias(j)),
      cell2("user", who(j)),
      cell2(waits(j) ? "wants" : "has", waits(j) ? asked(j) : gpus(holds(j))),
      cell2("phase", j.queue ? `${j.phase}, queue ${j.queue}` : j.phase),
      cell2("since", j.since ? o.live ? `${clock(since)} (${ago})` : ago : ""),
      cell2("done", progress(j)),
      el("td", { class: "why", "data-label": "why", title: j.sentence ?? "" }, el("span", {}, j.brief ?? j.sentence ?? "")),
      el("td", { "data-label": waits(j) ? "starts" : "ends", title: expected2?.unknown ?? "" }, soon(expected2, o.at))
    );
  }
  var cell2 = (label, ...content) => el("td", { "data-label": label }, ...content);
  var alias = (j) => j.name && !j.id.endsWith(j.name) ? el("span", { class: "soft" }, " " + j.name) : void 0;
  var who = (j) => j.user ?? j.namespace ?? "";
  function progress(j) {
    if (!j.target || !j.progress) return void 0;
    const done = Math.min(100, Math.floor(100 * j.progress / j.target));
    return el("span", { class: "done" }, el("progress", { max: "100", value: String(done), "aria-label": `${j.id}: ${done} % done` }), `${done} %`);
  }

  // web/over.ts
  function showOver(s, o) {
    const offset = (Date.parse(s.begun) - Date.parse(o.begun)) / 1e3, all3 = (s.at ?? []).map((t) => t + offset);
    if (all3.length < 2) return fill(byId("over"), el("p", { class: "soft" }, "The plots begin with the second state that this page gets."));
    fill(
      byId("over"),
      chart("GPUs", all3, [{ name: "total", values: s.gpus ?? [], kind: "line1" }, { name: "held", values: s.held ?? [], kind: "line0" }], o),
      chart("Jobs", all3, [{ name: "waiting", values: s.waiting ?? [], kind: "line2" }, { name: "running", values: s.running ?? [], kind: "line0" }], o)
    );
  }
  var width = 600;
  var height = 140;
  var left = 40;
  var bottom = 18;
  function chart(title, at2, lines, o) {
    const last3 = at2[at2.length - 1], first3 = at2[0], now = o.live ? void 0 : o.elapsed, length = Math.max(1, last3 - first3);
    const most2 = Math.max(1, ...lines.map((l) => Math.max(0, ...l.values)));
    const x = (t) => left + (width - left - 4) * (t - first3) / length;
    const y = (v) => 6 + (height - bottom - 6) * (1 - v / most2);
    const values = most2 > 1 ? [0, Math.round(most2 / 2), most2] : [0, most2];
    const marks = [
      ...values.flatMap((v) => [svg("text", { x: left - 4, y: y(v) + 4, class: "right" }, String(v)), svg("line", { x1: left, x2: width - 4, y1: y(v), y2: y(v), class: "axis" })]),
      ...ticksOf({ from: first3, to: first3 + length }, width - left - 4, o).map((t) => svg("text", { x: left + t.x, y: height - 3, class: "middle" }, t.text)),
      svg("line", { x1: left, x2: width - 4, y1: y(0), y2: y(0), class: "axis" })
    ];
    if (now !== void 0 && now >= first3 && now <= last3) marks.push(svg("line", { x1: x(now), x2: x(now), y1: y(most2), y2: y(0), class: "now" }));
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

  // web/state.ts
  var Refused = class extends Error {
    constructor(status, text) {
      super(text);
      this.status = status;
    }
    status;
  };
  function showState(overview2, failed2) {
    const why = failed2 ? cause(failed2) : overview2?.stale;
    document.body.dataset.state = kind(overview2, failed2);
    byId("facts").textContent = overview2 ? facts(overview2) : why ? "" : "loading \u2026";
    byId("problem").textContent = why === void 0 ? "" : overview2 ? dead(overview2) + last(overview2) + why : `Nothing to show yet. ${why}`;
    byId("empty").hidden = !overview2 || overview2.jobs.length + overview2.nodes.length > 0;
  }
  function kind(overview2, failed2) {
    if (failed2 instanceof Refused && (failed2.status === 401 || failed2.status === 403)) return "forbidden";
    if (!overview2) return failed2 ? "error" : "loading";
    if (failed2 || overview2.stale) return "stale";
    return overview2.live ? "live" : "recorded";
  }
  function facts(o) {
    const time = o.live ? timeOfDay(new Date(o.at)) : `recorded, ${span(o.elapsed)} of ${span(o.last)}`;
    return `${document.body.dataset.state === "stale" ? "out of date" : o.silent_since ? `scheduler silent since ${clock(seconds(o.silent_since))}` : o.live ? "live" : ""} \xB7 ${time} \xB7 policy ${o.policy}`.replace(/^ \u00b7 /, "");
  }
  var dead = (o) => o.stale && !o.stale.includes("does not answer") ? "The scheduler does not answer. " : "";
  function last(o) {
    if (!o.live) return "Out of date. ";
    return `This is the state of ${clock(seconds(o.at))}, ${span(Date.now() / 1e3 - seconds(o.at))} ago. `;
  }
  function cause(e) {
    if (e instanceof Refused && e.status === 401) return "You have no access: open the printed address again, which contains the token.";
    if (e instanceof Refused) return e.message;
    return "The command that serves this page does not answer. Is it still running?";
  }

  // web/timeline.ts
  var rowHeight2 = 25;
  var spare2 = 6;
  var nameWidth = 170;
  var rows = [];
  var events = [];
  var chosen2;
  var shown;
  var first2 = -1;
  var most = 1;
  function showTimeline(past2, o) {
    shown = o;
    const jobs = new Map(o.jobs.map((j) => [j.id, j])), offset = past2 ? (Date.parse(past2.begun) - Date.parse(o.begun)) / 1e3 : 0;
    const tracks = new Map((past2?.tracks ?? []).map((t) => [t.job, t]));
    for (const j of o.jobs) if (!tracks.has(j.id) && o.live) tracks.set(j.id, { job: j.id, user: j.user, steps: [{ at: (Date.parse(j.submitted ?? j.since ?? o.at) - Date.parse(o.begun)) / 1e3 - offset, gpus: 0, what: "submitted" }] });
    rows = [...tracks.values()].map((t) => rowOf(t, jobs.get(t.job), offset, o));
    if (searching()) rows = rows.filter((r) => matches(jobs.get(r.id) ?? { id: r.id, name: r.id, user: r.user, phase: "", gpus: 0 }));
    rows.sort((a, b) => a.rank - b.rank || (a.rank === 2 ? b.to - a.to : a.from - b.from));
    most = Math.max(1, ...rows.map((r) => Math.max(0, ...r.bars.map((b) => b.gpus))));
    events = (past2?.nodes ?? []).map((n) => ({ at: n.at + offset, what: n.what, text: `${/^node[^a-z]/i.test(n.node) ? "" : "node "}${n.node} ${n.what}` }));
    byId("timeline-omitted").textContent = past2?.omitted ? `${counted(past2.omitted, "job")} that ended earlier ${past2.omitted === 1 ? "is" : "are"} not listed.` : "";
    draw(true);
  }
  function usual(o) {
    const at2 = route().at;
    if (!o.live) return { from: 0, to: Math.max(60, o.last) };
    if (at2 !== void 0) return { from: at2 - 3600, to: at2 + 3600 };
    const active = rows.filter((r) => r.rank < 2), from = Math.min(o.elapsed - 600, ...active.map((r) => r.from)), to = Math.max(o.elapsed + 600, ...active.map((r) => r.to));
    const past2 = Math.min(6 * 3600, o.elapsed - from);
    return { from: o.elapsed - past2, to: Math.min(to, o.elapsed + Math.max(1800, past2)) };
  }
  var view = () => chosen2 ?? usual(shown);
  var inView = (v) => rows.filter((r) => r.to >= v.from && r.from <= v.to);
  function draw(all3) {
    if (!shown) return;
    const o = shown, list = byId("timeline"), v = view(), found2 = inView(v), width2 = Math.max(120, list.clientWidth - nameWidth - 4);
    const at2 = Math.max(0, Math.floor(list.scrollTop / rowHeight2) - spare2), end = Math.min(found2.length, at2 + Math.ceil((list.clientHeight || 400) / rowHeight2) + 2 * spare2);
    if (!all3 && at2 === first2) return;
    first2 = at2;
    fill(byId("timeline-axis"), drawAxis(v, width2, o, events));
    fill(byId("timeline-rows"), space(at2), ...found2.slice(at2, end).map((r) => line2(r, v, width2, o)), space(found2.length - end));
    byId("timeline-none").hidden = found2.length > 0;
    list.hidden = found2.length === 0;
    byId("timeline-span").textContent = `${counted(found2.length, "job")}, ${span(v.to - v.from)}`;
  }
  function space(n) {
    const e = el("li", { "aria-hidden": "true" });
    e.style.height = `${n * rowHeight2}px`;
    return e;
  }
  var line2 = (r, v, width2, o) => el(
    "li",
    { class: "track" },
    el("a", { class: "track-name", href: jobHref(r.id, o), "aria-label": spoken(r, o), title: r.user }, el("i", { class: "key-box " + hue(r.id) }), r.id),
    drawTrack(r, v, width2, rowHeight2 - 1, most, o)
  );
  function choose(v) {
    chosen2 = v && { from: v.from, to: Math.max(v.from + 10, v.to) };
    if (shown?.live) keepMoment(chosen2 && (chosen2.from + chosen2.to) / 2);
    draw(true);
  }
  function follow() {
    if (route().at === void 0) return;
    chosen2 = void 0;
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
  function last2(hours) {
    if (shown) choose({ from: shown.elapsed - 3600 * hours, to: shown.elapsed + 900 * hours });
  }
  var keys = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25), "0": () => choose(void 0) };
  function listenToTimeline() {
    const list = byId("timeline");
    list.addEventListener("keydown", (e) => {
      const act2 = keys[e.key];
      if (!act2 || e.ctrlKey || e.metaKey || e.altKey) return;
      act2();
      e.preventDefault();
    });
    list.addEventListener("scroll", () => requestAnimationFrame(() => draw(false)));
    addEventListener("resize", () => draw(true));
    for (const [id, act2] of Object.entries({ "in": () => zoom(0.5), out: () => zoom(2), left: () => move(-0.25), right: () => move(0.25), hour: () => last2(1), day: () => last2(24), usual: () => choose(void 0) })) byId("timeline-" + id).addEventListener("click", act2);
    drag(list);
  }
  function drag(list) {
    const box = byId("timeline-select");
    let from;
    const place2 = (e) => e.clientX - list.getBoundingClientRect().left - nameWidth;
    list.addEventListener("pointerdown", (e) => {
      if (e.button !== 0 || place2(e) < 0 || e.pointerType === "touch") return;
      from = place2(e);
      list.setPointerCapture(e.pointerId);
    });
    list.addEventListener("pointermove", (e) => {
      if (from === void 0) return;
      const to = Math.max(0, place2(e));
      box.hidden = Math.abs(to - from) < 4;
      box.style.left = `${nameWidth + Math.min(from, to)}px`;
      box.style.width = `${Math.abs(to - from)}px`;
    });
    list.addEventListener("pointerup", (e) => {
      if (from === void 0) return;
      const [a, b] = [from, Math.max(0, place2(e))].sort((x, y) => x - y), v = view(), width2 = list.clientWidth - nameWidth - 4, time = (x) => v.from + (v.to - v.from) * x / width2;
      from = void 0;
      box.hidden = true;
      if (b - a >= 4) choose({ from: time(a), to: time(b) });
      else open(list, e);
    });
  }
  function open(list, e) {
    const row3 = inView(view())[Math.floor((e.clientY - list.getBoundingClientRect().top + list.scrollTop) / rowHeight2)];
    if (row3 && shown) go(jobHref(row3.id, shown));
  }

  // web/main.ts
  var overview;
  var series;
  var past;
  var pastTag = "";
  var at;
  var tag = "";
  var failed;
  async function get(path, headers = {}) {
    const answer2 = await fetch(path, { headers });
    if (!answer2.ok && answer2.status !== 304) throw new Refused(answer2.status, (await answer2.text()).trim());
    return answer2;
  }
  var ask2 = async (path) => await (await get(path)).json();
  var updating = false;
  var due = false;
  async function update() {
    due = true;
    if (updating) return;
    updating = true;
    for (; due; await updateOnce()) due = false;
    updating = false;
  }
  async function updateOnce() {
    try {
      if (overview === void 0) await begin();
      await fetchOverview();
      failed = void 0;
    } catch (e) {
      failed = e;
    }
    showState(overview, failed);
    if (overview) await show2(overview);
  }
  async function begin() {
    const first3 = await ask2("/api/overview");
    if (!first3.live) at = route().at ?? first3.last / 2;
  }
  async function fetchOverview() {
    const answer2 = await get("/api/overview?at=" + (at ?? 0), tag ? { "If-None-Match": tag } : {});
    if (answer2.status !== 304) overview = await answer2.json();
    tag = answer2.headers.get("ETag") ?? "";
    const looked = answer2.headers.get("Oxgang-At");
    if (!overview || !looked) return;
    overview.at = looked;
    overview.elapsed = seconds(looked) - seconds(overview.begun);
  }
  async function show2(o) {
    byId("title").textContent = o.title;
    document.title = o.title + " \xB7 Oxgang";
    byId("notes").textContent = (o.notes ?? []).join(" ");
    slide(o);
    colour(o.jobs);
    showHeader(o);
    showNow(o);
    showTimeline(past, o);
    if (series) showOver(series, o);
    await showRoute(o);
  }
  async function showRoute(now) {
    const r = route();
    byId("job-card").hidden = r.kind !== "job";
    byId("node-card").hidden = r.kind !== "node";
    if (r.kind === "node") fill(byId("node"), ...showNode(r.name, now));
    if (r.kind === "job") await updateJob(r.name, now);
  }
  async function updateJob(id, now) {
    const query2 = `id=${encodeURIComponent(id)}&at=${now.elapsed}`;
    try {
      const page = await ask2("/api/job?" + query2);
      const answer2 = now.live && !now.no_output ? await fetch("/api/log?" + query2) : void 0;
      showJob(id, page, now, answer2?.ok ? await answer2.text() : void 0);
    } catch (e) {
      if (document.getElementById("job-title")?.textContent !== id) fill(byId("job"), e.message);
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
      if (overview) showOver(series, overview);
    } catch (e) {
      if (!series) byId("over").textContent = e.message;
    }
  }
  async function updatePast() {
    try {
      const answer2 = await get("/api/timeline", pastTag ? { "If-None-Match": pastTag } : {});
      if (answer2.status !== 304) past = await answer2.json();
      pastTag = answer2.headers.get("ETag") ?? "";
      if (overview) showTimeline(past, overview);
    } catch {
    }
  }
  byId("time").addEventListener("input", (e) => {
    at = Number(e.target.value);
    keepMoment(at);
    void update();
  });
  addEventListener("hashchange", () => {
    if (!overview) return;
    const r = route(), focus = () => document.getElementById(r.kind + "-title")?.focus();
    if (!overview.live && r.at !== void 0 && r.at !== Math.round(overview.elapsed)) {
      at = r.at;
      void update().then(focus);
      return;
    }
    follow();
    void showRoute(overview).then(focus);
  });
  byId("search").addEventListener("input", (e) => {
    search(e.target.value);
    if (!overview) return;
    showNow(overview);
    showTimeline(past, overview);
  });
  byId("forget").addEventListener("click", () => {
    byId("answer-card").hidden = true;
  });
  for (const id of ["close", "node-close"]) byId(id).addEventListener("click", () => go("#/"));
  var often = 3e4;
  takeToken();
  listen();
  showState(void 0, void 0);
  listenToTimeline();
  void update().then(updateSeries).then(updatePast).then(() => {
    document.body.dataset.ready = "true";
    if (overview && !overview.live) return;
    const changes = new EventSource("/api/changes");
    changes.onmessage = () => void update();
    changes.onerror = () => void update();
    setInterval(() => void update(), often);
    setInterval(() => void updateSeries().then(updatePast), 6e4);
  });
})();
