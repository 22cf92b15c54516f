package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oxgang/oxgang/internal/browser"
)

// Keys: "/" searches by job and node, Enter opens the first job found, Escape closes it and clears the search, j and k go from job to job, "?" lists the keys.
func TestBrowser_keys(t *testing.T) {
	ctx := browser.Open(t)
	_, s := fullServed(t)
	count := func(what string) (n int) {
		does(ctx, t, chromedp.Evaluate(`document.querySelectorAll("`+what+`").length`, &n))
		return n
	}
	focused := func() (name string) {
		does(ctx, t, chromedp.Evaluate(`document.activeElement.textContent`, &name))
		return name
	}
	does(ctx, t, chromedp.Navigate(s.URL()), chromedp.WaitVisible(ready))
	all := count("tbody tr")
	does(ctx, t, chromedp.KeyEvent("/"), chromedp.Poll(`document.activeElement.id === "search"`, nil), chromedp.KeyEvent("rtx-8-0"))
	if found, nodes := count("tbody tr"), count("#nodes .node"); found == 0 || found >= all || nodes != 1 {
		t.Errorf("%d of %d jobs and %d nodes for a node", found, all, nodes)
	}
	does(ctx, t, chromedp.KeyEvent("\r"), chromedp.WaitVisible("ol.life"), chromedp.KeyEvent("\x1b"), chromedp.WaitNotVisible("#job-card"), chromedp.KeyEvent("/"), chromedp.Poll(`document.activeElement.id === "search"`, nil), chromedp.KeyEvent("\x1b"))
	if found := count("tbody tr"); found != all {
		t.Errorf("%d jobs after Escape, want all %d", found, all)
	}
	does(ctx, t, chromedp.KeyEvent("j"))
	first := focused()
	does(ctx, t, chromedp.KeyEvent("j"))
	second := focused()
	does(ctx, t, chromedp.KeyEvent("k"))
	if back := focused(); back != first || second == first || first == "" {
		t.Errorf("j, j and k lead to %q, %q, %q", first, second, back)
	}
	does(ctx, t, chromedp.KeyEvent("?"), chromedp.WaitVisible("#help"))
	browser.Accessible(ctx, t, "the keys")
	does(ctx, t, chromedp.KeyEvent("\x1b"), chromedp.WaitNotVisible("#help"))
}

// An address leads to a job, a node or a moment of a recording, also the addresses of earlier versions; the slider writes the moment into the address.
func TestBrowser_addresses(t *testing.T) {
	ctx := browser.Open(t)
	_, s := fullServed(t)
	open, _, _ := strings.Cut(s.URL(), "?")
	does(ctx, t, chromedp.Navigate(s.URL()), chromedp.WaitVisible(ready))
	for hash, title := range map[string]string{"#/job/bert-14?at=2400": "job-title", "#job=bert-14": "job-title", "#/node/rtx-8-0?at=2400": "node-title", "#/?at=2400": ""} {
		does(ctx, t, chromedp.Navigate("about:blank"), chromedp.Navigate(open+hash), chromedp.WaitVisible(ready))
		if title != "" {
			does(ctx, t, chromedp.WaitVisible("#"+title))
		}
		var facts, said string
		does(ctx, t, chromedp.Text("#facts", &facts), chromedp.Text("main", &said))
		if strings.Contains(hash, "at=") && !strings.Contains(facts, "recorded, 40 min of") {
			t.Errorf("%s shows the moment %q", hash, facts)
		}
		if title != "" && !strings.Contains(said, "bert-14") {
			t.Errorf("%s: %s", hash, said)
		}
	}
	var address string
	does(ctx, t, chromedp.Evaluate(fmt.Sprintf(`document.getElementById("time").value = %d; document.getElementById("time").dispatchEvent(new Event("input"))`, 1200), nil), chromedp.Location(&address))
	if !strings.HasSuffix(address, "?at=1200") {
		t.Errorf("after a move of the slider the address is %s", address)
	}
	does(ctx, t, chromedp.Navigate("about:blank"), chromedp.Navigate(open+"#/node/nobody%"), chromedp.WaitVisible("#node-title"), chromedp.Text("#node", &address))
	if !strings.Contains(address, "No such node") {
		t.Errorf("an unknown node: %q", address)
	}
}

// What needs somebody can be dismissed; it stays dismissed after a reload, and can be shown again.
func TestBrowser_dismisses(t *testing.T) {
	ctx := browser.Open(t)
	_, s := fullServed(t)
	var before, after, again string
	title := chromedp.Text
	does(ctx, t, chromedp.Navigate(s.URL()), chromedp.WaitVisible(ready), title("#attention-count", &before), chromedp.Click("#attention button", chromedp.ByQuery),
		chromedp.Reload(), chromedp.WaitVisible(ready), title("#attention-count", &after), chromedp.Click("#attention-more button"), title("#attention-count", &again))
	if before != "2" || after != "1" || again != "2" {
		t.Errorf("%s items, then %s, then %s, want 2, 1, 2", before, after, again)
	}
}

// Of ten thousand jobs only those in sight are in the document; all others come by scrolling, by j and k, and by search.
func TestBrowser_ten_thousand_jobs(t *testing.T) {
	ctx := browser.Open(t)
	s, _ := served(t, new(multitude))
	s.feed.look(t.Context())
	for _, width := range []int64{1280, 390} {
		var rows int
		var last, found string
		does(ctx, t, chromedp.EmulateViewport(width, 900), chromedp.Navigate("about:blank"), chromedp.Navigate(s.URL()), chromedp.WaitVisible(ready),
			chromedp.Evaluate(`document.querySelectorAll("tbody tr").length`, &rows),
			chromedp.Evaluate(`document.querySelector("#waiting").closest(".scroll").scrollTop = 1e9`, nil), chromedp.Poll(`document.querySelector("#waiting [data-job=resnet-9999]") !== null`, nil),
			chromedp.Evaluate(`(() => { const s = document.querySelector("#waiting").closest(".scroll"), r = s.querySelector('[data-job="resnet-9999"]').getBoundingClientRect(); return String(r.bottom <= s.getBoundingClientRect().bottom + 1); })()`, &last),
			chromedp.KeyEvent("/"), chromedp.Poll(`document.activeElement.id === "search"`, nil), chromedp.KeyEvent("resnet-7777"), chromedp.Sleep(wait), chromedp.Evaluate(`document.querySelector("#waiting").innerText + document.getElementById("search").value`, &found))
		if rows > 200 || last != "true" || !strings.Contains(found, "resnet-7777") {
			t.Errorf("%d px: %d rows in the document; the last one is in sight: %s; found %q", width, rows, last, found)
		}
		does(ctx, t, chromedp.KeyEvent("\x1b"), chromedp.Evaluate(`document.querySelector("#waiting").closest(".scroll").scrollTop = 0`, nil))
		for range 40 {
			does(ctx, t, chromedp.KeyEvent("j"))
		}
		var at string
		if does(ctx, t, chromedp.Evaluate(`document.activeElement.dataset.job`, &at)); at != "resnet-2039" {
			t.Errorf("%d px: after 40 times j the focus is on %q", width, at)
		}
		browser.Accessible(ctx, t, fmt.Sprintf("ten thousand jobs, %d px", width))
	}
}
