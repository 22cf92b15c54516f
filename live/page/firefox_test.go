package page

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/firefox"
	"github.com/oxgang/oxgang/scheduler/explain"
)

// Firefox shows the same as Chromium. One browser does it all, as its start takes seconds.
func TestFirefox(t *testing.T) {
	b := firefox.Open(t)
	t.Run("shows a recording", func(t *testing.T) { firefoxShows(t, b) })
	t.Run("follows a live source", func(t *testing.T) { firefoxFollows(t, b) })
	t.Run("pictures", func(t *testing.T) { firefoxPictures(t, b) })
}

// firefoxShows checks a recording with all its jobs, the life of one, an answer, and the question before it is cancelled; and that nothing
// is wider than the window.
func firefoxShows(t *testing.T, b *firefox.Browser) {
	f, s := fullServed(t)
	t.Cleanup(func() { b.Visit("about:blank") }) // else it goes on listening to the server
	last, err := f.File.Last()
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{390, 2560} { // it takes no less than it thinks a window needs
		b.Resize(width, 900)
		b.Visit("about:blank")
		b.Visit(s.URL())
		b.Await(`document.body.dataset.ready === "true"`)
		if address := b.Text("return location.href"); strings.Contains(address, "act") || strings.Contains(address, "token") {
			t.Errorf("the token stands in the address %s", address)
		}
		id := said(t, f.Recorded, last.At/2, b.Text(`return document.querySelector("main").innerText`))
		b.Click(fmt.Sprintf(`main table a[href="#job=%s"]`, id))
		b.Await(`document.querySelector("ol.life")`)
		b.Click("#job .ask")
		b.Await(`document.querySelector("#answer table")`)
		if wide := b.Text(`return document.documentElement.scrollWidth > innerWidth ? document.documentElement.scrollWidth + " of " + innerWidth : ""`); wide != "" {
			t.Errorf("%s px wide", wide)
		}
		b.Click("#job button.bad")
		b.Await(`document.getElementById("confirm").open`)
		b.Click("#confirm-yes")
		b.Await(`!document.getElementById("confirm").open`)
		if got := <-f.cancelled; string(got) != id {
			t.Errorf("cancelled %s, want %s", got, id)
		}
	}
}

// firefoxFollows checks that a live source is followed without being asked.
func firefoxFollows(t *testing.T, b *firefox.Browser) {
	source := &toy{}
	s, _ := served(t, source)
	t.Cleanup(func() { b.Visit("about:blank") })
	go s.Watch(t.Context(), 20*time.Millisecond)
	b.Visit(s.URL())
	for _, text := range []string{"the first reason", "another reason"} {
		source.jobs.Store(&[]explain.OverviewJob{{ID: "a", Phase: "waiting", Sentence: text}})
		b.Await(fmt.Sprintf(`document.getElementById("waiting").innerText.includes(%q)`, text))
	}
}
