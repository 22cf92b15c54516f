package kube

import (
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/kube/view"
)

// What somebody wrote into an object moves no cursor and makes no line.
func TestPlain(t *testing.T) {
	var b strings.Builder
	e := &view.Explanation{Name: "a/b", Kind: "Job", Reason: view.Reason{Reason: "Misconfigured", Message: "x\x1b[2J\r\nstart    now\u202e"}}
	if err := explainText(&b, e); err != nil {
		t.Fatal(err)
	}
	const want = "a/b (Job, queue none) waits\nreason   Misconfigured: x [2J  start    now \n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestKubeETA(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	in := func(d time.Duration) *time.Time { at := now.Add(d); return &at }
	tests := []struct {
		eta  *view.ETA
		want string
	}{
		{nil, "-"},
		{&view.ETA{Start: &view.Range{Earliest: in(time.Hour)}}, "-"},
		{&view.ETA{End: &view.Range{}}, "-"},
		{&view.ETA{End: &view.Range{Earliest: in(time.Hour)}}, ">1h00m"},
		{&view.ETA{End: &view.Range{Latest: in(time.Minute)}}, "<1m"},
		{&view.ETA{End: &view.Range{Earliest: in(-time.Hour), Latest: in(26 * time.Hour)}}, "0s-1d2h"},
	}
	for _, tc := range tests {
		if got := kubeETA(tc.eta, now); got != tc.want {
			t.Errorf("%+v: got %s, want %s", tc.eta, got, tc.want)
		}
	}
}
